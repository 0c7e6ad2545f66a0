# SPDX-License-Identifier: Apache-2.0
"""How is the management cluster reached? Thin, and each wait has an end.

:mod:`rest` speaks to its API, :mod:`kube` knows objects, :mod:`look` takes a
snapshot of a cluster, :mod:`lock` keeps others away from it, and :mod:`helm`
makes its objects.
"""
