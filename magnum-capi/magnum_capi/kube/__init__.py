# SPDX-License-Identifier: Apache-2.0
"""Access to a Kubernetes API from a conductor: thin, with timeouts.

:mod:`access` reads the kubeconfig, :mod:`rest` sends requests, :mod:`kube`
handles objects, :mod:`lock` takes a Lease, and :mod:`shared` keeps one client
per process. No key is written to disk.
"""
