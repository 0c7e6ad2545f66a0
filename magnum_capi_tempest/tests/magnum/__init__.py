# SPDX-License-Identifier: Apache-2.0

"""Tests that check the Magnum API with single requests, without clusters."""
