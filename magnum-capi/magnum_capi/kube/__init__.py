# SPDX-License-Identifier: Apache-2.0
"""How is a Kubernetes API reached from a conductor? Thin, with time-outs.

:mod:`access` reads the kubeconfig, :mod:`rest` speaks to the API, :mod:`kube`
knows objects, :mod:`lock` takes a Lease, and :mod:`shared` keeps one client
for a whole process. No key is written to a disk.
"""
