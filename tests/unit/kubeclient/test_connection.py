# SPDX-License-Identifier: Apache-2.0

"""Kubeconfigs whose user a program logs in; see tests.unit.kube for others."""

import json
import pathlib
import stat

import fixtures
import testtools
from urllib3 import exceptions
import yaml

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import connection
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from tests.unit.driver import tls_server
from tests.unit import loopback


class Whoami(loopback.Handler):
    """Answers with the credentials of a request."""

    def do_GET(self):
        self.answer(200, {'you': self.headers.get('Authorization')})


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.server = loopback.start(self, Whoami)

    def write(self, user, ca='CA', server=None):
        document = kubeconfig.document(
            server or self.server, ca, None, None)
        document['users'][0]['user'] = user
        path = self.folder / 'kubeconfig'
        path.write_text(yaml.safe_dump(document))
        return path

    def program(self, **status):
        """A user whose program prints this, and counts how often it ran."""
        path = self.folder / 'login'
        (self.folder / 'status').write_text(json.dumps({
            'kind': 'ExecCredential',
            'apiVersion': 'client.authentication.k8s.io/v1',
            'status': status}))
        path.write_text(f'#!/bin/sh\ncd {self.folder}\n'
                        'echo x >> ran\ncat status\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {'exec': {'apiVersion': 'client.authentication.k8s.io/v1',
                         'command': './login'}}

    @property
    def ran(self):
        return len((self.folder / 'ran').read_text().split())


class LoginTest(_Base):

    def test_a_token_of_a_program(self):
        client = kube.Client(self.write(self.program(token='t')))

        for _ in range(2):
            self.assertEqual({'you': 'Bearer t'}, client.get('/'))
        self.assertEqual(1, self.ran)

    def test_it_is_called_again_when_the_token_has_expired(self):
        client = kube.Client(self.write(self.program(
            token='first', expirationTimestamp='2020-01-01T00:00:00Z')))
        self.program(token='second',
                     expirationTimestamp='2999-01-01T00:00:00Z')

        for _ in range(2):
            self.assertEqual({'you': 'Bearer second'}, client.get('/'))
        self.assertEqual(2, self.ran)

    def test_a_login_that_fails_meanwhile_is_no_answer(self):
        client = kube.Client(self.write(self.program(
            token='first', expirationTimestamp='2020-01-01T00:00:00Z')))
        (self.folder / 'login').unlink()

        error = self.assertRaises(kube.KubeError, client.get, '/')

        self.assertFalse(error.is_final)

    def test_a_certificate_of_a_program(self):
        server = self.useFixture(tls_server.TlsServer())
        user = self.program(clientCertificateData=server.certificate,
                            clientKeyData=server.key)

        self.assertEqual({}, kube.Client(self.write(
            user, server.ca, server.url)).ask('GET', '/'))

    def test_one_that_does_not_log_in(self):
        """Neither its output nor the kubeconfig is quoted."""
        for status in ({'token': 'hunter2\nhunter2'},
                       {'clientCertificateData': 'hunter2'}):
            error = self.assertRaises(errors.UsageError, connection.load,
                                      self.write(self.program(**status)))
            self.assertNotIn('hunter2', str(error))
        self.program()
        (self.folder / 'login').write_text('#!/bin/sh\necho hunter2 >&2\n'
                                           'echo hunter2\nexit 1\n')
        for program in ({'command': './login'}, {}, {'command': './nope'}):
            error = self.assertRaises(
                errors.UsageError, connection.load, self.write({'exec': {
                    'apiVersion': 'client.authentication.k8s.io/v1',
                    'env': [{'name': 'A', 'value': 'hunter2'}], **program}}))
            self.assertNotIn('hunter2', str(error))
            self.assertIn('kubectl', str(error))

    def test_other_ways_to_log_in_are_refused(self):
        """Kubernetes itself has dropped them, or never had them here."""
        for user in ({'username': 'hunter2', 'password': 'hunter2'},
                     {'auth-provider': {'name': 'gcp'}}, {'as': 'admin'},
                     {**self.program(token='t'), 'as': 'admin'}):
            error = self.assertRaises(
                errors.UsageError, connection.load, self.write(user))
            self.assertNotIn('hunter2', str(error))


class RenewalTest(_Base):

    def test_a_token_file_that_is_just_being_replaced(self):
        """Tokens of service accounts are renewed before an hour has passed."""
        path = self.folder / 'token'
        path.write_text('first\n')
        client = kube.Client(self.write({'tokenFile': 'token'}))

        self.assertEqual({'you': 'Bearer first'}, client.get('/'))
        path.unlink()
        error = self.assertRaises(kube.KubeError, client.get, '/')
        self.assertFalse(error.is_final)
        path.write_text('second')
        self.assertEqual({'you': 'Bearer second'}, client.get('/'))


class EndpointTest(_Base):

    def test_the_name_in_the_certificate_counts(self):
        other = self.useFixture(tls_server.TlsServer(name='example.org'))
        path = self.folder / 'pem'
        path.write_text(other.certificate + other.key)

        error = self.assertRaises(kube.KubeError, kube.Endpoint(
            other.url, other.ca, (path,)).get, '/')

        self.assertIsInstance(error.__cause__, exceptions.SSLError)
        self.assertIn('127.0.0.1', str(error))
