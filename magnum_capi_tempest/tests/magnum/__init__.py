# SPDX-License-Identifier: Apache-2.0

"""Tests of Magnum itself, whatever the driver."""
