# SPDX-License-Identifier: Apache-2.0

"""Tests of complete user stories, with real clusters."""
