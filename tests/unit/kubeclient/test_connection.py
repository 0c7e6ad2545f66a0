# SPDX-License-Identifier: Apache-2.0


import os
import pathlib
import ssl
import sys
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


class UnusableTest(_Base):

    def refused(self, path):
        return self.assertRaises(
            errors.UsageError, connection.load, path)

    def test_what_the_file_contains_is_not_in_the_error(self):
        for text in ('client-key-data: hunter2', 'users: {hunter2: ]',
                     'hunter2', '', '[]', 'a: [', 'clusters: []'):
            self.assertNotIn('hunter2', str(self.refused(self.write(text))))

    def test_what_is_no_certificate_is_not_in_the_error(self):
        path = self.write(kubeconfig.document(
            'https://192.0.2.1', 'hunter2', 'hunter2', 'hunter2'))

        error = self.refused(path)

        self.assertNotIn('hunter2', str(error))
        self.assertEqual(path, error.where)

    def test_missing_file(self):
        self.assertIn('/nowhere/kubeconfig',
                      str(self.refused('/nowhere/kubeconfig')))

    def test_without_the_library(self):
        with mock.patch.dict(sys.modules, {'kubernetes': None}):
            error = self.assertRaises(
                errors.EnvironmentProblem, connection.load, '/x')

        self.assertIn('pip install kubernetes', str(error))


class TlsTest(_Base):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(tls_server.TlsServer())
        self.document = kubeconfig.document(
            self.server.url, self.server.ca, self.server.certificate,
            self.server.key)

    def test_the_key_of_a_process_that_was_killed(self):
        left = self.temporary / 'magnum-capi-key-left'
        left.mkdir()
        (left / 'key').write_text('PRIVATE KEY')

        connection.load(self.write(self.document))

        self.assertFalse(left.exists())

    def status(self, document=None):
        api = connection.load(self.write(document or self.document))
        with api.rest_client.pool_manager as pool:
            return pool.request('GET', self.server.url, retries=False).status

    def test_no_file_is_left(self):
        before = list(self.temporary.rglob('*'))

        api = connection.load(self.write(self.document))

        self.assertEqual(before, list(self.temporary.rglob('*')))
        with api.rest_client.pool_manager as pool:
            self.assertEqual(200, pool.request(
                'GET', self.server.url, retries=False).status)

    def test_a_second_client_of_the_same_file(self):
        self.assertEqual([200, 200], [self.status(), self.status()])

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
        document = kubeconfig.document(
            other.url, other.ca, other.certificate, other.key)
        path = self.folder / 'pem'
        path.write_text(other.certificate + other.key)

        for api in (connection.load(self.write(document)),
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
        cluster, = self.document['clusters']
        cluster['cluster'] = {'server': self.server.url,
                              'certificate-authority': 'ca'}
        user, = self.document['users']
        user['user'] = {'client-certificate': 'certificate',
                        'client-key': 'key'}

        self.assertEqual(200, self.status())

    def test_another_authority_is_not_trusted(self):
        other = self.useFixture(tls_server.TlsServer())
        document = kubeconfig.document(
            self.server.url, other.ca, self.server.certificate,
            self.server.key)

        self.assertRaises(exceptions.SSLError, self.status, document)

    def test_the_check_can_be_switched_off(self):
        cluster, = self.document['clusters']
        cluster['cluster'] = {'server': self.server.url,
                              'insecure-skip-tls-verify': True}
        self.useFixture(fixtures.WarningsCapture())

        self.assertEqual(200, self.status())

    def test_certificates_of_magnum_lack_what_python_3_13_asks_for(self):
        make = ssl_.create_urllib3_context

        def strict(**kwargs):
            context = make(**kwargs)
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            return context

        with mock.patch.object(ssl_, 'create_urllib3_context', strict):
            api = connection.load(self.write(self.document))

        context = api.rest_client.pool_manager.connection_pool_kw[
            'ssl_context']
        self.assertFalse(context.verify_flags & ssl.VERIFY_X509_STRICT)

    def test_files_are_private_and_there_for_the_block(self):
        path = self.write(self.document)

        with connection.files(path) as api:
            found = api.configuration
            kept = found.key_file, found.cert_file, found.ssl_ca_cert
            for file in kept:
                self.assertEqual(
                    self.temporary, pathlib.Path(file).parent.parent)
                self.assertEqual(0o600, os.stat(file).st_mode & 0o777)

        self.assertEqual([], [f for f in kept if os.path.exists(f)])


class ConfigurationTest(_Base):

    def configuration(self, server, token=None):
        document = kubeconfig.document(server, 'CA', None, None)
        del document['clusters'][0]['cluster']['certificate-authority-data']
        if token:
            document['users'][0]['user']['token'] = token
        return connection.load(self.write(document)).configuration

    def test_a_token_is_sent(self):
        self.assertEqual('Bearer secret', self.configuration(
            'https://192.0.2.1', 'secret').auth_settings()[
                'BearerToken']['value'])

    def test_a_proxy_is_for_other_machines(self):
        for name in ('HTTPS_PROXY', 'https_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(
                name, 'http://192.0.2.9:3128'))

        self.assertIsNone(self.configuration('https://127.0.0.1:1').proxy)
        self.assertEqual('http://192.0.2.9:3128', self.configuration(
            'https://192.0.2.1').proxy)

    def test_a_proxy_of_the_kubeconfig_is_for_this_machine_too(self):
        document = kubeconfig.document('https://127.0.0.1:1', 'CA', None, None)
        document['clusters'][0]['cluster'] = {
            'server': 'https://127.0.0.1:1',
            'proxy-url': 'http://192.0.2.9:3128'}

        found = connection.load(self.write(document)).configuration

        self.assertEqual('http://192.0.2.9:3128', found.proxy)


class HonouredTest(_Base):
    """The keys that one reader or another refuses, and this one does not."""

    def configuration(self, user=None, **cluster):
        document = kubeconfig.document(
            'http://192.0.2.1', 'CA', None, None)
        document['users'][0]['user'] = user or {}
        document['clusters'][0]['cluster'] = {
            'server': 'http://192.0.2.1', **cluster}
        return connection.load(self.write(document)).configuration

    def sent(self, user):
        return self.configuration(user).auth_settings()[
            'BearerToken']['value']

    def test_user_name_and_password(self):
        self.assertEqual('Basic bWU6aHVudGVyMg==', self.sent(
            {'username': 'me', 'password': 'hunter2'}))

    def test_token_file(self):
        # As client-go does, for files that end as those of an editor.
        for text in 't', 't\n', ' t \n\n':
            (self.folder / 'token').write_text(text)
            with self.subTest(text):
                self.assertEqual('Bearer t',
                                 self.sent({'tokenFile': 'token'}))

    def test_token_file_is_read_again(self):
        """Tokens of service accounts are renewed before an hour has passed."""
        (self.folder / 'token').write_text('first\n')
        configuration = self.configuration({'tokenFile': 'token'})

        # A file that is just being replaced changes nothing.
        for text, token in (('second\n', 'second'), ('', 'second'),
                            ('third\nhunter2', 'second'), (None, 'second'),
                            ('fourth', 'fourth')):
            path = self.folder / 'token'
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
            self.assertEqual(f'Bearer {token}', configuration.auth_settings()[
                'BearerToken']['value'])

    def test_program_to_log_in(self):
        status = ('{"kind": "ExecCredential", "apiVersion": '
                  '"client.authentication.k8s.io/v1", '
                  '"status": {"token": "t"}}')

        self.assertEqual('Bearer t', self.sent({'exec': {
            'apiVersion': 'client.authentication.k8s.io/v1',
            'command': 'echo', 'args': [status]}}))

    def test_name_of_the_server(self):
        self.assertEqual('k.example', self.configuration(
            **{'tls-server-name': 'k.example'}).tls_server_name)

    def test_proxy(self):
        self.assertEqual('http://192.0.2.9:3128', self.configuration(
            **{'proxy-url': 'http://192.0.2.9:3128'}).proxy)


class UnsupportedTest(_Base):
    """What the library leaves out without a word."""

    def refused(self, user=None, cluster=None):
        document = kubeconfig.document(
            'http://192.0.2.1', 'CA', None, None)
        document['users'][0]['user'] = user or {}
        document['clusters'][0]['cluster'] = {
            'server': 'http://192.0.2.1', **(cluster or {})}
        error = self.assertRaises(
            errors.UsageError, connection.load,
            self.write(document))
        for key in (*(user or {}), *(cluster or {})):
            self.assertIn(f'"{key}"', str(error))
        self.assertNotIn('hunter2', str(error))

    def test_as(self):
        self.refused({'as': 'admin'})

    def test_as_uid(self):
        self.refused({'as-uid': '7'})

    def test_as_groups(self):
        self.refused({'as-groups': ['system:masters']})

    def test_as_user_extra(self):
        self.refused({'as-user-extra': {'scope': ['all']}})

    def test_username_alone(self):
        self.refused({'username': 'hunter2'})

    def test_password_alone(self):
        self.refused({'password': 'hunter2'})

    def test_auth_provider_that_the_library_does_not_know(self):
        self.refused({'auth-provider': {'name': 'openstack'}})

    def test_keys_that_are_invented_later(self):
        self.refused({'sign-with': 'hunter2'})
        self.refused(cluster={'by-way-of': 'hunter2'})

    def test_a_token_that_http_would_refuse_and_quote(self):
        (self.folder / 'token').write_text('hunter2\nhunter2')
        for user in ({'token': 'hunter2\n'}, {'tokenFile': 'token'}):
            document = kubeconfig.document(
                'http://192.0.2.1', 'CA', None, None)
            document['users'][0]['user'] = user
            error = self.assertRaises(
                errors.UsageError, connection.load,
                self.write(document))
            self.assertNotIn('hunter2', str(error))

    def refused_file(self, section, name, **more):
        document = kubeconfig.document('https://192.0.2.1', 'CA', None, None)
        document['users'][0]['user'] = {
            'token': 't', 'client-certificate-data': 'aGk=',
            'client-key-data': 'aGk='}
        found = document[f'{section}s'][0][section]
        del found[f'{name}-data']
        found.update({name: 'hunter2', **more})
        error = str(self.assertRaises(
            errors.UsageError, connection.load, self.write(document)))
        self.assertIn(f'"{name}"', error)
        self.assertNotIn('hunter2', error)

    def test_a_missing_file_is_not_quoted(self):
        self.refused_file('cluster', 'certificate-authority')
        self.refused_file('user', 'client-certificate')
        self.refused_file('user', 'client-key')

    def test_empty_data_do_not_hide_a_file(self):
        for section, name in (('cluster', 'certificate-authority'),
                              ('user', 'client-certificate'),
                              ('user', 'client-key')):
            (self.folder / 'hunter2').write_text('x')
            self.refused_file(section, name, **{f'{name}-data': ''})

    def test_a_context_whose_user_is_missing(self):
        document = kubeconfig.document('http://192.0.2.1', 'CA', None, None)
        document['users'][0]['name'] = 'another'

        self.assertRaises(errors.UsageError, connection.load,
                          self.write(document))


class IsHereTest(testtools.TestCase):

    def test_loopback(self):
        for url in ('https://127.0.0.1:6443', 'https://127.77.3.2:6443',
                    'https://[::1]:6443', 'https://localhost'):
            self.assertTrue(connection.is_here(url), url)

    def test_elsewhere(self):
        for url in ('https://192.0.2.1:6443', 'https://example.org',
                    'https://[2001:db8::1]:6443'):
            self.assertFalse(connection.is_here(url), url)
