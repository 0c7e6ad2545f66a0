# SPDX-License-Identifier: Apache-2.0
"""HOW is a cluster made and kept?

A Magnum driver for Cluster API without Heat: Helm makes the objects of a
cluster in a management cluster, the Kubernetes API shows their state
(specification clusterapi-driver of magnum-specs).

:mod:`desired` computes the desired state, :mod:`observed` judges the observed
state; both are pure. :mod:`magnum_capi.kube`, :mod:`helm` and :mod:`cloud` are
thin adapters with timeouts. :mod:`keys` has rules and adapters for a cluster's
secrets. The modules here act: Magnum calls :mod:`driver`; :mod:`operations`
and :mod:`upgrading` record requests, :mod:`loop` carries them out and judges
clusters, :mod:`monitor` reports their health.
:mod:`adoption` takes over clusters of magnum-capi-helm.
"""
