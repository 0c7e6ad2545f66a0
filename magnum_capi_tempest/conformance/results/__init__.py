# SPDX-License-Identifier: Apache-2.0

"""What a run left, read without trusting it: an archive, or two files."""
