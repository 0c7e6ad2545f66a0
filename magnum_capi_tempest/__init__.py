# SPDX-License-Identifier: Apache-2.0

"""Test any OpenStack Magnum with any Cluster API driver."""
