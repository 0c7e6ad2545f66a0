# SPDX-License-Identifier: Apache-2.0

"""One question to the Magnum API a test; no cluster is created."""
