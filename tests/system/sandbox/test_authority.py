# SPDX-License-Identifier: Apache-2.0

"""The profile "full": TLS under an authority that nothing else trusts.

Needs the packages of bindep's profile "full".
"""

import base64
import contextlib
import pathlib
import socket
import ssl
import subprocess
import sys

import psutil
import requests
import yaml

from magnum_capi import waiting
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import rest
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import pki
from tests.functional import boxes
from tests.functional import cloud

DRIVER = 'k8s_capi_v1'

NEW = ('--image', 'ubuntu-capi', '--flavor', 'm1.small', '--driver', DRIVER)


@boxes.LONG
class AuthorityTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box_ = boxes.shared(cls, '--profile', 'full', '--clash',
                                '--discovery-filter')
        cls.sandbox = cls.box_.sandbox
        cls.layout = cls.sandbox.layout()
        cls.authority = str(cls.layout.authority)
        # It has the same name, and another key.
        pki.make_server(cls.box_.base / 'stranger', cls.layout.address)
        cls.stranger = str(cls.box_.base / 'stranger/ca.crt')
        cls.user = cloud.Cloud(cls.sandbox, DRIVER)

    def test_every_endpoint_is_https(self):
        admin = rest.User(self.layout, self.sandbox.passwords()['admin'],
                          'admin')
        listed = admin.request('identity', 'GET', 'endpoints').json()
        self.assertEqual(
            {self.layout.url(s.type_) for s in catalog.services()},
            {one['url'] for one in listed['endpoints']})
        for service in catalog.services():
            where = self.layout.address, self.layout.port(service.name)
            self.assertTrue(services.answers(
                *where, authority=self.layout.authority)())
            url = 'https://{}:{}/'.format(*where)
            for verify in (True, self.stranger):
                e = self.assertRaises(
                    requests.exceptions.SSLError, requests.get, url,
                    verify=verify, timeout=60)
                self.assertIn('certificate verify failed', str(e))
            self.assertRaises(
                requests.ConnectionError, requests.get,
                url.replace('https', 'http'), timeout=60)

    def test_broker_speaks_tls_only(self):
        where = self.layout.address, self.layout.port('rabbitmq')

        def greet(connection):
            # A broker answers a client of AMQP 0-9-1 with a frame of type 1.
            connection.sendall(b'AMQP\0\0\x09\x01')
            return connection.recv(1)

        def greet_with_tls(cafile):
            with socket.create_connection(where, timeout=60) as connection:
                context = ssl.create_default_context(cafile=cafile)
                with context.wrap_socket(
                        connection, server_hostname=where[0]) as encrypted:
                    return greet(encrypted)

        self.assertEqual(b'\x01', greet_with_tls(self.authority))
        for cafile in (None, self.stranger):
            self.assertRaises(
                ssl.SSLCertVerificationError, greet_with_tls, cafile)
        with socket.create_connection(where, timeout=60) as connection, \
                contextlib.suppress(ConnectionResetError):
            # A TLS alert (RFC 8446, 5.1) or the end, whichever is first.
            self.assertIn(greet(connection), (b'\x15', b''))

    def test_keys_are_private(self):
        self.assertEqual(
            {'ca.crt': 0o600, 'server.crt': 0o600, 'server.key': 0o600},
            {p.name: p.stat().st_mode & 0o777
             for p in self.layout.tls.iterdir()})

    def test_api_has_two_workers_and_the_conductor_is_apart(self):
        pids = self.box_.pids()
        self.assertEqual(2, len(psutil.Process(pids['magnum']).children()))
        self.assertNotIn(pids['magnum'], [
            p.pid for p in psutil.Process(
                pids['magnum-conductor']).parents()])

    def command(self, *words, cacert=None, variable=None):
        """Run magnum-capi as somebody who has a clouds.yaml.

        :param cacert: in clouds.yaml.
        :param variable: OS_CACERT.
        """
        clouds = yaml.safe_load(
            (self.box_.directory / 'clouds.yaml').read_text())
        for one in clouds['clouds'].values():
            one['cacert'] = cacert
        path = self.box_.base / 'tmp' / 'clouds.yaml'
        path.write_text(yaml.safe_dump(clouds))
        ended = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main', *words],
            env={**self.box_.env, 'OS_CLIENT_CONFIG_FILE': str(path),
                 **({'OS_CACERT': variable} if variable else {})},
            cwd=self.box_.directory, text=True, capture_output=True,
            timeout=600)
        return boxes.Ended(ended.returncode, ended.stdout, ended.stderr)

    def test_commands_are_given_it_as_operators_do(self):
        relative = str(pathlib.Path(self.authority).relative_to(
            self.box_.directory))
        for name, given in (('file', {'cacert': self.authority}),
                            ('variable', {'variable': relative})):
            work = str(self.box_.base / 'state' / name)
            self.assert_done(self.command(
                'tempest', 'init', '--cloud', 'sandbox-admin', *NEW, work,
                **given))
            self.assertIn(
                f'ca_certificates_file = {self.authority}\n',
                pathlib.Path(work, 'etc/tempest.conf').read_text())
        # Without either: tempest.conf is enough.
        self.assert_done(self.command(
            'tempest', 'run', work, '--regex', 'test_preflight'))
        self.assert_done(self.command('tempest', 'leaks', work))

    def test_commands_refuse_another_one(self):
        work = str(self.box_.base / 'state' / 'refused')
        for words in (('tempest', 'init', '--cloud', 'sandbox', *NEW, work),
                      ('conformance', 'run', '--cloud', 'sandbox',
                       '--cluster', 'any')):
            for given in ({}, {'cacert': self.stranger},
                          {'variable': self.stranger}):
                ended = self.command(*words, **given)
                self.assert_done(ended, ended.code or -1)
                said = ended.err.splitlines()[-1]
                self.assertIn('TLS to the cloud fails (sandbox); last seen: '
                              'certificate verify failed', said)
                self.assertIn('"cacert" in clouds.yaml, or OS_CACERT', said)

    def test_clusters_get_it(self):
        uuid = self.user.create('given')
        self.user.wait_created(uuid)
        secret, = [s for s in kube.Client(self.layout.kubeconfig).get(
            '/api/v1/secrets')['items'] if s['metadata']['name'].endswith(
                'cloud-credentials')]
        data = {key: base64.b64decode(text).decode()
                for key, text in secret['data'].items()}
        self.assertEqual(pathlib.Path(self.authority).read_text(),
                         data['cacert'])
        self.assertEqual(
            self.layout.auth_url, yaml.safe_load(data['clouds.yaml'])[
                'clouds']['openstack']['auth']['auth_url'])
        self.user.delete(uuid)

    def test_clusters_with_another_one_are_not_created(self):
        self.assert_done(self.box_.call(
            'set', f'drivers.openstack_ca_file={self.stranger}'))
        self.addCleanup(self.box_.call, 'set', 'drivers.openstack_ca_file=')
        uuid = self.user.create('refused')
        found = waiting.wait_for(
            lambda: self.user.observe(uuid), timeout=cloud.PATIENCE,
            done=lambda state: state.status == 'CREATE_FAILED',
            what='the creation to fail', describe=str)
        self.assertIn('[drivers]openstack_ca_file',
                      found.cluster['status_reason'])
        self.user.delete(uuid)
        self.assertEqual(set(), self.user.credentials())

    def test_filter_refuses_another_one(self):
        self.assert_done(self.box_.call(
            'set', f'keystone_auth.cafile={self.stranger}',
            f'glance_client.ca_file={self.stranger}'))
        self.addCleanup(self.box_.call, 'set', 'keystone_auth.cafile=',
                        'glance_client.ca_file=')
        answer = self.user.magnum('POST', 'clustertemplates',
                                  self.user.template_body())
        self.assertEqual(503, answer.status_code, answer.text)
        self.assertIn('[keystone_auth]cafile', answer.text)
