# SPDX-License-Identifier: Apache-2.0

import base64
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.tests.common import disclosure

KEY = '''-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEAabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV
qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq
-----END RSA PRIVATE KEY-----
'''

CLOUDS = '''
clouds:
  openstack:
    auth:
      auth_url: https://keystone.example.com
      application_credential_id: 0123456789abcdef0123456789abcdef
      application_credential_secret: one-that-nobody-may-read
'''


def secret(name, **data):
    return {'metadata': {'name': name}, 'data': {
        key: base64.b64encode(value if isinstance(value, bytes)
                              else value.encode()).decode()
        for key, value in data.items()}}


class SecretsTest(testtools.TestCase):

    def test_credentials_and_keys_are_found(self):
        found = disclosure.secrets([
            secret('c-cloud', clouds=CLOUDS), secret('c-ca', key=KEY)])

        self.assertEqual(
            {'one-that-nobody-may-read': 'clouds of Secret c-cloud',
             'q' * 60: 'key of Secret c-ca'}, found)

    def test_what_is_none(self):
        self.assertEqual({}, disclosure.secrets([
            {'metadata': {'name': 'empty'}},
            secret('release', release=b'\xff\xfe'),
            secret('short', clouds='password: x'),
            secret('public', crt=KEY.replace('PRIVATE', 'PUBLIC'))]))


class ToldTest(testtools.TestCase):

    SECRETS = {'one-that-nobody-may-read': 'there'}

    def test_a_text_without(self):
        self.assertEqual([], disclosure.find_secrets('nothing', self.SECRETS))

    def test_a_text_with_one(self):
        self.assertEqual(['there'], disclosure.find_secrets(
            'its secret is "one-that-nobody-may-read"', self.SECRETS))

    def test_one_that_is_encoded(self):
        for before in ('', 'x', 'xy', 'xyz'):
            text = f'{before}{CLOUDS}'.encode()
            self.assertEqual(['there'], disclosure.find_secrets(
                base64.b64encode(text).decode(), self.SECRETS))


class LogsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'magnum.log'
        self.path.write_text('old\n')
        self.logs = disclosure.Logs([f'{self.folder}/*.log'])

    def test_only_what_came_since(self):
        with self.path.open('a') as file:
            file.write('new\n')
        other = self.folder / 'other.log'
        other.write_text('other\n')

        self.assertEqual({str(self.path): 'new\n', str(other): 'other\n'},
                         self.logs.new())

    def test_a_file_that_began_anew(self):
        self.path.write_text('x')

        self.assertEqual({str(self.path): 'x'}, self.logs.new())

    def test_a_file_that_was_full(self):
        logs = disclosure.Logs([f'{self.folder}/*.log*'])
        with self.path.open('a') as file:
            file.write('before\n')
        full = self.path.rename(f'{self.path}.1')
        self.path.write_text('longer than the first one\n')

        self.assertEqual({str(full): 'before\n',
                          str(self.path): 'longer than the first one\n'},
                         logs.new())
