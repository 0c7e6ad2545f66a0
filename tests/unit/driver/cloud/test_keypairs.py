# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from tests.lib import openstack_api
from tests.unit.driver import in_cloud

OWNER, OTHER = 'u1', 'u2'


class HandOnTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(in_cloud.Cloud())
        self.cloud = self.fake.cloud
        self.cloud.users[OTHER] = {in_cloud.PROJECT: ('member',)}
        self.cloud.keypairs[OWNER, 'key'] = 'ssh-ed25519 A'

    def copy(self):
        keypairs.copy('key', OWNER, self.fake.services(OTHER),
                      lambda: self.fake.services(openstack_api.ADMIN))

    def made(self):
        return [body['keypair'] for *_, body in self.fake.asked('POST')]

    def test_user_gets_the_key_of_the_owner(self):
        self.copy()
        self.assertEqual([{'name': 'key', 'public_key': 'ssh-ed25519 A',
                           'type': 'ssh'}], self.made())
        self.assertEqual({(user, 'key'): 'ssh-ed25519 A'
                          for user in (OWNER, OTHER)}, self.cloud.keypairs)

    def test_users_own_key_of_the_name_stays(self):
        self.cloud.keypairs[OTHER, 'key'] = 'ssh-ed25519 B'
        self.copy()
        # Nobody asks for the other's.
        self.assertEqual([('GET', '/os-keypairs/key', {}, None)],
                         self.cloud.seen)
        self.assertEqual('ssh-ed25519 B', self.cloud.keypairs[OTHER, 'key'])

    def test_key_that_the_owner_has_deleted(self):
        self.cloud.keypairs.clear()
        e = self.assertRaises(services.CloudError, self.copy)
        self.assertIn('the keypair key', str(e))

    def test_cloud_without_nova(self):
        self.cloud.types = ('identity',)
        self.copy()
        self.assertEqual([], self.cloud.seen)
