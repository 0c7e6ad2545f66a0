# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""WHERE does Cluster API run?

A management cluster without containers: etcd, kube-apiserver,
kube-controller-manager and one program with Cluster API's controllers, all
on a loopback address of their own. ::

    layout = management.Layout(directory, address='127.77.0.1')
    plane = management.Processes(layout, programs={'etcd': path, ...})
    plane.up(supervisor, progress)
    plane.kubeconfig
"""

from magnum_capi_tempest.management.layout import Layout
from magnum_capi_tempest.management.local import Processes

__all__ = ['Layout', 'Processes']
