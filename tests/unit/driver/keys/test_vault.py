# SPDX-License-Identifier: Apache-2.0

"""What is in a cluster's Secrets, written and read."""

import base64

from cryptography.hazmat.primitives import serialization
import testtools
import yaml

from magnum_capi.driver.keys import vault


def secret(text):
    return {vault.CLOUDS: base64.b64encode(text.encode()).decode()}


class CloudsTest(testtools.TestCase):

    def clouds(self, **kwargs):
        return vault.clouds('an-id', 'a-secret', **{
            'auth_url': 'https://keystone/v3', 'region': None,
            'interface': 'internal', 'verify': False, **kwargs})

    def test_all_that_clients_of_openstack_need(self):
        expected = {
            'auth_type': 'v3applicationcredential',
            'auth': {'auth_url': 'https://keystone/v3',
                     'application_credential_id': 'an-id',
                     'application_credential_secret': 'a-secret'},
            'identity_api_version': 3, 'interface': 'internal',
            'verify': False}
        self.assertEqual({'clouds': {'openstack': expected}}, self.clouds())
        self.assertEqual(
            {'clouds': {'openstack': {**expected, 'region_name': 'one'}}},
            self.clouds(region='one'))

    def test_what_was_written_is_read(self):
        self.assertEqual('an-id', vault.applied_id(
            secret(yaml.safe_dump(self.clouds()))))

    def test_what_cannot_be_read_is_no_credential(self):
        for data in ({}, {vault.CLOUDS: None}, {vault.CLOUDS: 'a'},
                     secret('clouds: ['), secret('[]'), secret('a: b'),
                     secret('clouds: {openstack: {auth: 7}}')):
            self.assertEqual(({}, None), (
                vault.auth(data), vault.applied_id(data)), data)


class KeyPairTest(testtools.TestCase):

    def test_as_cluster_api_makes_it(self):
        public, private = (text.encode() for text in vault.key_pair())
        key = serialization.load_pem_private_key(private, None)
        self.assertEqual((2048, 65537), (
            key.key_size, key.public_key().public_numbers().e))
        self.assertTrue(private.startswith(b'-----BEGIN RSA PRIVATE KEY'))
        self.assertEqual(
            key.public_key(), serialization.load_pem_public_key(public))
