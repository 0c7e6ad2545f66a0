# SPDX-License-Identifier: Apache-2.0

"""WHERE does Cluster API run?

A management cluster without containers: etcd, kube-apiserver and one program
with all controllers, on a loopback address of their own. ::

    layout = management.Layout(directory, address='127.77.0.1')
    plane = management.Processes(layout, programs={'etcd': path, ...})
    plane.up(supervisor, progress)
    plane.kubeconfig

:class:`.pods.Pods` is the same in minikube, for a sandbox.
"""

from magnum_capi_tempest.management.layout import Layout
from magnum_capi_tempest.management.local import Processes

__all__ = ['Layout', 'Processes']
