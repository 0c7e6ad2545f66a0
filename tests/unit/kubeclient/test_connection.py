# SPDX-License-Identifier: Apache-2.0


import os
import pathlib
import ssl
from unittest import mock

import fixtures
from kubernetes.config import kube_config
import testtools
from urllib3 import exceptions
from urllib3.util import ssl_
import yaml

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import connection
from magnum_capi_tempest import kubeconfig
from tests.unit.driver import tls_server


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.temporary = self.folder / 'tmp'
        self.temporary.mkdir()
        self.useFixture(fixtures.MonkeyPatch(
            'tempfile.tempdir', str(self.temporary)))

    def write(self, document):
        path = self.folder / 'kubeconfig'
        path.write_text(document if isinstance(document, str)
                        else yaml.safe_dump(document))
        return path

    def document(self, user=None, cluster=None,
                 server='http://192.0.2.1'):
        """A kubeconfig of one user and one cluster."""
        document = kubeconfig.document(server, 'CA', None, None)
        document['users'][0]['user'] = user or {}
        document['clusters'][0]['cluster'] = {
            'server': server, **(cluster or {})}
        return document

    def refused(self, document):
        """The error of a kubeconfig, which never quotes it."""
        error = self.assertRaises(
            errors.UsageError, connection.load, self.write(document))
        self.assertNotIn('hunter2', str(error))
        return str(error)

    def configuration(self, *args, **kwargs):
        return connection.load(self.write(
            self.document(*args, **kwargs))).configuration

    def sent(self, *args, **kwargs):
        """The credentials in the header of a request."""
        return self.configuration(*args, **kwargs).auth_settings()[
            'BearerToken']['value']


class UnusableTest(_Base):

    def test_what_is_no_kubeconfig(self):
        another = self.document()
        another['users'][0]['name'] = 'another'
        for document in (
                'client-key-data: hunter2', 'users: {hunter2: ]', 'hunter2',
                '', '[]', 'a: [', 'clusters: []', another):
            self.refused(document)

    def test_what_is_no_certificate(self):
        self.assertIn(str(self.folder / 'kubeconfig'), self.refused(
            kubeconfig.document('https://192.0.2.1', 'hunter2', 'hunter2',
                                'hunter2')))

    def test_keys_that_the_library_leaves_out_without_a_word(self):
        for user, cluster in (
                ({'as': 'admin'}, {}), ({'as-uid': '7'}, {}),
                ({'as-groups': ['system:masters']}, {}),
                ({'as-user-extra': {'scope': ['all']}}, {}),
                # one of two that belong together
                ({'username': 'hunter2'}, {}), ({'password': 'hunter2'}, {}),
                ({'auth-provider': {'name': 'openstack'}}, {}),
                # invented later
                ({'sign-with': 'hunter2'}, {}),
                ({}, {'by-way-of': 'hunter2'})):
            name, = (*user, *cluster)
            self.assertIn(f'"{name}"', self.refused(
                self.document(user, cluster)))

    def test_a_token_that_http_would_refuse_and_quote(self):
        (self.folder / 'token').write_text('hunter2\nhunter2')
        for user in ({'token': 'hunter2\n'}, {'tokenFile': 'token'}):
            self.refused(self.document(user))

    def test_a_file_that_is_missing_or_hidden_by_empty_data(self):
        for exists in (False, True):
            if exists:
                (self.folder / 'hunter2').write_text('x')
            for section, name in (('cluster', 'certificate-authority'),
                                  ('user', 'client-certificate'),
                                  ('user', 'client-key')):
                document = self.document(
                    {'token': 't', 'client-certificate-data': 'aGk=',
                     'client-key-data': 'aGk='},
                    {'certificate-authority-data': 'aGk='},
                    server='https://192.0.2.1')
                found = document[f'{section}s'][0][section]
                found[name] = 'hunter2'
                if exists:
                    found[f'{name}-data'] = ''
                else:
                    del found[f'{name}-data']
                self.assertIn(f'"{name}"', self.refused(document))


class TlsTest(_Base):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(tls_server.TlsServer())
        self.used = self.of(self.server, self.server.ca)

    def of(self, server, ca):
        return kubeconfig.document(
            server.url, ca, server.certificate, server.key)

    def status(self, document=None):
        api = connection.load(self.write(document or self.used))
        with api.rest_client.pool_manager as pool:
            return pool.request('GET', self.server.url, retries=False).status

    def test_no_file_is_left_even_of_a_process_that_was_killed(self):
        before = set(self.temporary.rglob('*'))
        left = self.temporary / 'magnum-capi-key-left'
        left.mkdir()
        (left / 'key').write_text('PRIVATE KEY')

        self.assertEqual(200, self.status())

        self.assertEqual(before, set(self.temporary.rglob('*')))

    def test_a_second_client_of_an_old_library(self):
        """Before 35.0, it names files that are gone (kube_config.py)."""
        create = kube_config._create_temp_file_with_content

        def cached(content, temp_file_path=None, force_recreate=False):
            return create(content, temp_file_path)

        self.useFixture(fixtures.MonkeyPatch(
            'kubernetes.config.kube_config._create_temp_file_with_content',
            cached))

        self.assertEqual([200, 200], [self.status(), self.status()])

    def test_urllib3_checks_the_name(self):
        """1.26 names no address to ssl, which then refuses to connect."""
        other = self.useFixture(tls_server.TlsServer(name='example.org'))
        path = self.folder / 'pem'
        path.write_text(other.certificate + other.key)

        for api in (connection.load(self.write(self.of(other, other.ca))),
                    connection.client_for(other.url, other.ca, (path,))):
            with api.rest_client.pool_manager as pool:
                context = pool.connection_pool_kw['ssl_context']
                self.assertFalse(context.check_hostname)
                error = self.assertRaises(
                    exceptions.SSLError, pool.request, 'GET', other.url,
                    retries=False)
                self.assertIn('127.0.0.1', str(error))

    def test_certificates_in_files_beside_the_kubeconfig(self):
        for name in ('ca', 'certificate', 'key'):
            (self.folder / name).write_text(getattr(self.server, name))

        self.assertEqual(200, self.status(self.document(
            {'client-certificate': 'certificate', 'client-key': 'key'},
            {'certificate-authority': 'ca'}, self.server.url)))

    def test_another_authority_is_not_trusted_unless_asked_for(self):
        other = self.useFixture(tls_server.TlsServer())
        document = self.of(self.server, other.ca)

        self.assertRaises(exceptions.SSLError, self.status, document)
        document['clusters'][0]['cluster'] = {
            'server': self.server.url, 'insecure-skip-tls-verify': True}
        self.useFixture(fixtures.WarningsCapture())
        self.assertEqual(200, self.status(document))

    def test_certificates_of_magnum_lack_what_python_3_13_asks_for(self):
        make = ssl_.create_urllib3_context

        def strict(**kwargs):
            context = make(**kwargs)
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            return context

        with mock.patch.object(ssl_, 'create_urllib3_context', strict):
            api = connection.load(self.write(self.used))

        context = api.rest_client.pool_manager.connection_pool_kw[
            'ssl_context']
        self.assertFalse(context.verify_flags & ssl.VERIFY_X509_STRICT)

    def test_files_are_private_and_there_for_the_block(self):
        with connection.files(self.write(self.used)) as api:
            found = api.configuration
            kept = found.key_file, found.cert_file, found.ssl_ca_cert
            for file in kept:
                self.assertEqual(
                    self.temporary, pathlib.Path(file).parent.parent)
                self.assertEqual(0o600, os.stat(file).st_mode & 0o777)

        self.assertEqual([], [f for f in kept if os.path.exists(f)])


class HonouredTest(_Base):
    """The keys that one reader or another refuses, and this one does not."""

    def test_credentials(self):
        # As client-go does, for files that end as those of an editor.
        for text in 't', 't\n', ' t \n\n':
            (self.folder / 'token').write_text(text)
            self.assertEqual('Bearer t', self.sent({'tokenFile': 'token'}))
        status = ('{"kind": "ExecCredential", "apiVersion": '
                  '"client.authentication.k8s.io/v1", '
                  '"status": {"token": "t"}}')
        for user, header in (
                ({'token': 'secret'}, 'Bearer secret'),
                ({'username': 'me', 'password': 'hunter2'},
                 'Basic bWU6aHVudGVyMg=='),
                ({'exec': {
                    'apiVersion': 'client.authentication.k8s.io/v1',
                    'command': 'echo', 'args': [status]}}, 'Bearer t')):
            self.assertEqual(header, self.sent(user))

    def test_token_file_is_read_again(self):
        """Tokens of service accounts are renewed before an hour has passed."""
        path = self.folder / 'token'
        path.write_text('first\n')
        configuration = self.configuration({'tokenFile': 'token'})

        # A file that is just being replaced changes nothing.
        for text, token in (('second\n', 'second'), ('', 'second'),
                            ('third\nhunter2', 'second'), (None, 'second'),
                            ('fourth', 'fourth')):
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
            self.assertEqual(f'Bearer {token}', configuration.auth_settings()[
                'BearerToken']['value'])

    def test_proxies(self):
        """That of the environment is for other machines."""
        proxy, own = 'http://192.0.2.9:3128', 'http://192.0.2.8:3128'
        for name in ('HTTPS_PROXY', 'https_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(name, proxy))

        for server, cluster, used in (
                ('https://127.0.0.1:1', {}, None),
                ('https://192.0.2.1', {}, proxy),
                ('https://127.0.0.1:1', {'proxy-url': own}, own),
                ('https://192.0.2.1', {'proxy-url': own}, own)):
            self.assertEqual(used, self.configuration(
                cluster=cluster, server=server).proxy)
