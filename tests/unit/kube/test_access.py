# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import ssl
import tempfile

import fixtures
import testtools
from urllib3 import exceptions
import yaml

from magnum_capi import errors
from magnum_capi.kube import access
from magnum_capi.kube import rest
from tests.unit.driver import tls_server
from tests.unit import fake_clock


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def kubeconfig(self, cluster=None, user=None):
        path = self.folder / 'kubeconfig'
        path.write_text(yaml.safe_dump({
            'clusters': [
                {'name': 'other', 'cluster': {'server': 'https://other'}},
                {'name': 'c', 'cluster': {
                    'server': 'http://k.example:6443/', **(cluster or {})}}],
            'users': [{'name': 'u', 'user': user}],
            'contexts': [
                {'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'current-context': 'x'}))
        return path

    def load(self, cluster=None, user=None):
        return access.load(self.kubeconfig(cluster, user), environ={})

    def refused(self, cluster=None, user=None):
        return self.assertRaises(
            errors.UsageError, self.load, cluster, user)


class KubeconfigTest(_Base):

    def test_current_context_counts(self):
        found = self.load()
        self.assertEqual('http://k.example:6443', found.server)
        self.assertEqual({}, found.headers())

    def test_token(self):
        found = self.load(user={'token': 't'})
        self.assertEqual({'Authorization': 'Bearer t'}, found.headers())
        self.assertNotIn("'t'", repr(found))

    def test_token_file_is_beside_the_kubeconfig(self):
        (self.folder / 'token').write_text('t\n')
        found = self.load(user={'tokenFile': 'token', 'token': 'old'})
        self.assertEqual({'Authorization': 'Bearer t'}, found.headers())

    def test_missing_token_file(self):
        found = self.load(user={'tokenFile': 'token'})
        e = self.assertRaises(errors.EnvironmentProblem, found.headers)
        self.assertIn('token', str(e))

    def test_programs_and_impersonation_are_refused(self):
        for key in ('exec', 'auth-provider', 'username', 'password', 'as',
                    'as-uid', 'as-groups', 'as-user-extra'):
            e = self.refused(user={key: {'command': 'rm'}})
            self.assertIn('client certificate or a token', str(e))
            self.assertIn(f'"{key}"', str(e))

    def test_keys_that_are_invented_later_are_refused(self):
        self.assertIn('"sign-with"', str(
            self.refused(user={'sign-with': 'x'})))
        self.assertIn('"by-way-of"', str(
            self.refused(cluster={'by-way-of': 'x'})))

    def test_what_changes_nothing_is_no_matter(self):
        found = self.load(
            {'disable-compression': True, 'extensions': [{'name': 'e'}]},
            {'extensions': [{'name': 'e'}], 'as': '', 'exec': None})
        self.assertEqual('http://k.example:6443', found.server)

    def test_unusable_files(self):
        path = self.folder / 'kubeconfig'
        for text in ('', '[]', 'a: [', 'clusters: []\ncurrent-context: x',
                     '\x00'):
            with self.subTest(text):
                path.write_text(text)
                self.assertRaises(errors.UsageError, access.load, path)

    def test_missing_file(self):
        e = self.assertRaises(errors.UsageError, access.load,
                              self.folder / 'none')
        self.assertIn('No such file', str(e))

    def test_no_error_quotes_a_key(self):
        server = self.useFixture(tls_server.TlsServer())
        broken = server.key.replace('PRIVATE', 'GEHEIM')
        e = self.refused({'server': 'https://k.example'}, {
            'client-certificate-data': tls_server.data(server.certificate),
            'client-key-data': tls_server.data(broken)})
        self.assertNotIn('GEHEIM', str(e))
        e = self.refused({'server': 'https://k.example'},
                         {'client-key-data': 'GEHEIM!'})
        self.assertNotIn('GEHEIM', str(e))

    def test_key_without_a_certificate_is_not_used(self):
        # As in client-go.
        key = self.useFixture(tls_server.TlsServer()).key
        self.assertEqual('https://k.example', self.load(
            {'server': 'https://k.example'},
            {'client-key-data': tls_server.data(key)}).server)

    def test_missing_certificate_file_is_named(self):
        e = self.refused({'server': 'https://k.example',
                          'certificate-authority': 'ca.crt'})
        self.assertIn('ca.crt', str(e))


class TlsTest(_Base):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(tls_server.TlsServer())
        self.user = {
            'client-certificate-data': tls_server.data(
                self.server.certificate),
            'client-key-data': tls_server.data(self.server.key)}

    def get(self, cluster, user):
        found = self.load({'server': self.server.url, **cluster}, user)
        # Refusals are tried again: without waiting.
        return rest.Rest(found, rest.Limits(60, 60, 60),
                         fake_clock.FakeClock()).request('GET', '/')

    def test_certificates_as_data(self):
        ca = {'certificate-authority-data': tls_server.data(self.server.ca)}
        self.assertEqual({}, self.get(ca, self.user))

    def test_certificates_as_files(self):
        for name, text in (('ca', self.server.ca), ('key', self.server.key),
                           ('crt', self.server.certificate)):
            (self.folder / name).write_text(text)
        self.assertEqual({}, self.get(
            {'certificate-authority': 'ca'},
            {'client-certificate': 'crt',
             'client-key': str(self.folder / 'key')}))

    def test_authorities_that_only_python_3_13_refuses(self):
        make = ssl.create_default_context

        def strict(*args, **kwargs):
            context = make(*args, **kwargs)
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            return context

        self.server = self.useFixture(tls_server.TlsServer(signed=True))
        self.user['client-certificate-data'] = tls_server.data(
            self.server.certificate)
        self.user['client-key-data'] = tls_server.data(self.server.key)
        self.useFixture(fixtures.MonkeyPatch(
            'ssl.create_default_context', strict))
        ca = {'certificate-authority-data': tls_server.data(self.server.ca)}
        self.assertEqual({}, self.get(ca, self.user))

    def test_no_key_is_left_in_any_file(self):
        # B.4.19: one file with a private key a client and tick.
        temporary = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', temporary))
        self.load({'server': self.server.url}, self.user)
        self.assertEqual([], os.listdir(tempfile.gettempdir()))
        self.assertEqual(['kubeconfig'], os.listdir(self.folder))

    def test_unknown_authority_is_not_trusted(self):
        e = self.assertRaises(rest.Unreachable, self.get, {}, self.user)
        self.assertIn('is not trusted', str(e))

    def test_check_can_be_switched_off(self):
        # B.4.19 and the facts: insecure-skip-tls-verify was ignored.
        self.useFixture(fixtures.WarningsFilter([{
            'action': 'ignore', 'category': exceptions.SecurityWarning}]))
        self.assertEqual({}, self.get(
            {'insecure-skip-tls-verify': True}, self.user))

    def test_other_name_in_the_certificate(self):
        self.server = self.useFixture(tls_server.TlsServer('api.internal'))
        user = {'client-certificate-data': tls_server.data(self.server.ca),
                'client-key-data': tls_server.data(self.server.key)}
        ca = {'certificate-authority-data': tls_server.data(self.server.ca)}
        self.assertRaises(rest.Unreachable, self.get, ca, user)
        self.assertEqual({}, self.get(
            {**ca, 'tls-server-name': 'api.internal'}, user))

    def test_server_that_wants_a_certificate_refuses_who_has_none(self):
        ca = {'certificate-authority-data': tls_server.data(self.server.ca)}
        self.assertRaises(rest.Unreachable, self.get, ca, {})


class ProxyTest(_Base):

    def setUp(self):
        super().setUp()
        for name in ('http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'):
            for name in (name, name.upper()):
                self.useFixture(fixtures.EnvironmentVariable(name))
        self.useFixture(fixtures.EnvironmentVariable(
            'HTTPS_PROXY', 'http://p.example:3128'))

    def test_of_the_environment(self):
        self.assertEqual('http://p.example:3128',
                         access.proxy_of('https://k.example:6443'))
        self.assertIsNone(access.proxy_of('http://k.example:6443'))

    def test_names_that_are_no_address_of_this_machine(self):
        for host in ('management.example', 'a.example', '192.0.2.1',
                     'localhost.example', '[2001:db8::1]'):
            self.assertEqual('http://p.example:3128',
                             access.proxy_of(f'https://{host}:6443'))

    def test_of_the_kubeconfig_wins(self):
        found = self.load({'server': 'https://k.example',
                           'proxy-url': 'http://q.example'})
        self.assertEqual('http://q.example', found.proxy)

    def test_not_for_this_machine(self):
        for server in ('https://127.0.0.1:6443', 'https://[::1]:6443',
                       'https://localhost'):
            self.assertIsNone(access.proxy_of(server))

    def test_no_proxy(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'NO_PROXY', '.example'))
        self.assertIsNone(access.proxy_of('https://k.example:6443'))

    def test_no_proxy_with_addresses_and_networks(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'no_proxy', '.example, 192.0.2.0/24,2001:db8::1,198.51.100.7/24'))
        for host, through in (
                ('192.0.2.1', False), ('192.0.3.1', True),
                ('[2001:db8::1]', False), ('[2001:db8::2]', True),
                ('198.51.100.9', False), ('management.test', True)):
            with self.subTest(host):
                self.assertEqual(through, bool(
                    access.proxy_of(f'https://{host}:6443')))


class FindTest(_Base):

    def test_option_wins(self):
        self.assertEqual(pathlib.Path('/a'), access.find(
            '/a', {'KUBECONFIG': '/b'}))

    def test_variable(self):
        self.assertEqual(pathlib.Path('/b'), access.find(
            '', {'KUBECONFIG': '/b'}))

    def test_several_files_are_refused(self):
        self.assertRaises(errors.UsageError, access.find, '',
                          {'KUBECONFIG': '/b:/c'})

    def test_home(self):
        self.useFixture(fixtures.EnvironmentVariable('HOME', '/home/m'))
        self.assertEqual(pathlib.Path('/home/m/.kube/config'),
                         access.find('', {}, self.folder))

    def test_pod(self):
        environ = {'KUBERNETES_SERVICE_HOST': 'fd00::1',
                   'KUBERNETES_SERVICE_PORT': '6443'}
        server = self.useFixture(tls_server.TlsServer())
        (self.folder / 'token').write_text('t')
        (self.folder / 'ca.crt').write_text(server.ca)
        self.assertIsNone(access.find('', environ, self.folder))
        # A token alone, or a pod without one, is no way in.
        for one, folder in (({}, self.folder), (environ, self.folder / 'x')):
            self.assertEqual('config', access.find('', one, folder).name)
        found = access.load(None, environ, self.folder)
        self.assertEqual('https://[fd00::1]:6443', found.server)
        self.assertEqual({'Authorization': 'Bearer t'}, found.headers())
        self.assertIsNone(found.kubeconfig)
