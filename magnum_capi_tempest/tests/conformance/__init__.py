# SPDX-License-Identifier: Apache-2.0

"""Tests that run the conformance suite of Kubernetes in new clusters."""
