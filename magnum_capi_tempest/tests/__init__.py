# SPDX-License-Identifier: Apache-2.0

"""Tests that run against a cloud: ``tempest run --regex magnum_capi``."""
