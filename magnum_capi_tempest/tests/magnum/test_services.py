# SPDX-License-Identifier: Apache-2.0

"""Who may list Magnum's own services, and what the list shows."""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base


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
