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

"""Who may see Magnum's own services, and what they show."""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests import base


class ServicesTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    required_options = ()

    @decorators.idempotent_id('eb1dc3cf-0f92-49e2-8a55-b71f5d70905c')
    @decorators.attr(type='smoke')
    def test_admin_sees_a_conductor_that_is_up(self):
        services = self.admin_magnum.mservices.list_mservices()['mservices']

        states = [s['state'] for s in services
                  if s['binary'] == 'magnum-conductor']
        self.assertIn('up', states)

    @decorators.idempotent_id('435c6147-65b1-4a96-8863-d172f28abeec')
    @decorators.attr(type=['smoke', 'negative'])
    def test_member_does_not_see_services(self):
        self.assertRaises(lib_exc.Forbidden,
                          self.magnum.mservices.list_mservices)
