# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi``: a command parses its arguments and calls one function."""
