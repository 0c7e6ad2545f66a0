# SPDX-License-Identifier: Apache-2.0
"""Access to a Kubernetes API from a conductor: thin, with timeouts.

:mod:`access` reads the kubeconfig, :mod:`rest` sends requests, :mod:`client`
handles objects, :mod:`lease` locks, :mod:`cache` watches, and :mod:`shared`
keeps the clients of a process. No key is written to disk.
"""
