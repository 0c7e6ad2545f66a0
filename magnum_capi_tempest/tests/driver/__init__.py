# SPDX-License-Identifier: Apache-2.0

"""Tests of what drivers promise: clusters, from creation to deletion."""
