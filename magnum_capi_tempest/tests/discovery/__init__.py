# SPDX-License-Identifier: Apache-2.0

"""Tests of which driver Magnum takes, and of two drivers side by side."""
