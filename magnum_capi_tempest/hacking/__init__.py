# SPDX-License-Identifier: Apache-2.0

"""The house rules that a program can check; see HACKING.rst."""
