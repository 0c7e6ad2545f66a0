# SPDX-License-Identifier: Apache-2.0

"""Adoption of clusters that magnum-capi-helm created.

The cluster itself does not change: this driver records the names of its
objects, its application credential, its chart and values, and Magnum records
its new driver. All of that can be undone until the cluster is changed.
"""
