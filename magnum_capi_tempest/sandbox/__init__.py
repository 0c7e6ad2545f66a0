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
"""A WHOLE CLOUD on loopback, in under a minute.

Real Keystone, Glance, Nova API, Neutron API, Cinder API and Magnum, with a
real Cluster API management cluster (whose OpenStack machines are in memory),
for everybody who wants to test a Magnum driver without devstack. ::

    box = sandbox.Sandbox()
    box.up(sandbox.Wish(profile='embedded'), progress.Progress())
    box.down(progress.Progress())
"""

from magnum_capi_tempest.sandbox.life import Sandbox
from magnum_capi_tempest.sandbox.wishes import Wish

__all__ = ['Sandbox', 'Wish']
