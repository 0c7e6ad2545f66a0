# SPDX-License-Identifier: Apache-2.0
"""HOW is a cluster made and kept?

A Magnum driver for Cluster API without Heat: Helm makes the objects of a
cluster in a management cluster, the Kubernetes API tells how they are
(specification clusterapi-driver of magnum-specs).

:mod:`desired` says what a cluster should be, :mod:`observed` what is there and
what that means; both are pure. :mod:`kubernetes` and :mod:`cloud` are thin,
with timeouts. :mod:`keys` has both for a cluster's secrets. What acts is here:
Magnum calls :mod:`driver`, a user's request is in :mod:`operations` and
:mod:`upgrading`, what nobody asks for in :mod:`watch` and :mod:`monitor`, and
all of them end in :mod:`reconcile`. :mod:`gitops` is for those who apply
without Magnum, :mod:`moving` for the operator who changes charts.
"""
