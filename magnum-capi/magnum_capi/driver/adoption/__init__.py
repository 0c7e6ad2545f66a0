# SPDX-License-Identifier: Apache-2.0

"""Clusters that magnum-capi-helm has made, and operators who hand them over.

Nothing of a cluster is changed by it: this driver learns the names that its
objects have, its application credential, its chart and the values of it, and
Magnum learns whose the cluster is. Until somebody changes the cluster all of
that can be undone.
"""
