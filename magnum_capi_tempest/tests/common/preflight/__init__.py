# SPDX-License-Identifier: Apache-2.0

"""Finds mistakes in tempest.conf before they make tests fail."""
