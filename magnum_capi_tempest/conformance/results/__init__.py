# SPDX-License-Identifier: Apache-2.0

"""Reads the record of a run without trusting it: an archive, or two files."""
