# SPDX-License-Identifier: Apache-2.0

"""House rules that are checked automatically; see HACKING.rst."""
