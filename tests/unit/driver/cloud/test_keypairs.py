# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from tests.unit.driver import fake_cloud

PATH = '/os-keypairs'


class HandOnTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.users, self.admins = (
            self.useFixture(fake_cloud.FakeCloud()) for _ in range(2))
        self.users.answers['POST', PATH] = 200, {'keypair': {'name': 'key'}}
        self.admins.answers['GET', f'{PATH}/key'] = 200, {'keypair': {
            'name': 'key', 'public_key': 'ssh-ed25519 A', 'type': 'ssh'}}

    def hand_on(self):
        keypairs.hand_on('key', 'u1', self.users.services(),
                         self.admins.services)

    def made(self):
        return [body['keypair'] for method, _, _, body in self.users.seen
                if method == 'POST']

    def test_user_gets_the_key_of_the_owner(self):
        self.hand_on()
        self.assertEqual([{'name': 'key', 'public_key': 'ssh-ed25519 A',
                           'type': 'ssh'}], self.made())
        (_, _, query, _), = self.admins.seen
        self.assertEqual('u1', query['user_id'])

    def test_users_own_key_of_the_name_stays(self):
        self.users.answers['GET', f'{PATH}/key'] = 200, {
            'keypair': {'name': 'key', 'public_key': 'ssh-ed25519 B'}}
        self.hand_on()
        self.assertEqual(([], []), (self.made(), self.admins.seen))

    def test_key_that_the_owner_has_deleted(self):
        del self.admins.answers['GET', f'{PATH}/key']
        e = self.assertRaises(services.CloudError, self.hand_on)
        self.assertIn('the keypair key', str(e))

    def test_cloud_without_nova(self):
        self.users.types = ('identity',)
        self.hand_on()
        self.assertEqual([], self.users.seen)
