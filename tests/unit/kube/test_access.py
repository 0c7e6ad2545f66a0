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

HTTPS = {'server': 'https://k.example'}
AUTHORITY = 'certificate-authority-data'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def load(self, cluster=None, user=None):
        path = self.folder / 'kubeconfig'
        path.write_text(yaml.safe_dump({
            'clusters': [{'name': 'c', 'cluster': {
                'server': 'http://k.example:6443/', **(cluster or {})}}],
            'users': [{'name': 'u', 'user': user}],
            'contexts': [
                {'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'current-context': 'x'}))
        return access.load(path, environ={})

    def refused(self, cluster=None, user=None):
        return str(self.assertRaises(
            errors.UsageError, self.load, cluster, user))


class KubeconfigTest(_Base):

    def test_server_and_token(self):
        found = self.load(user={'token': 'secret'})
        self.assertEqual('http://k.example:6443', found.server)
        self.assertEqual({'Authorization': 'Bearer secret'}, found.headers())
        self.assertNotIn('secret', repr(found))
        self.assertEqual({}, self.load().headers())

    def test_token_file_is_beside_the_kubeconfig(self):
        (self.folder / 'token').write_text('t\n')
        found = self.load(user={'tokenFile': 'token', 'token': 'old'})
        self.assertEqual({'Authorization': 'Bearer t'}, found.headers())

    def test_token_file_without_a_token(self):
        # An empty one must not make a request anonymous, and http.client
        # quotes a header that it refuses.
        found = self.load(user={'tokenFile': 'token'})
        for content, why in (
                (None, 'No such file'), (b'', 'contains no token'),
                (b'secret\nsecret', 'contains no token'),
                (b'\xffsecret', 'not UTF-8')):
            if content is not None:
                (self.folder / 'token').write_bytes(content)
            e = self.assertRaises(errors.EnvironmentProblem, found.headers)
            self.assertIn(why, str(e))
            self.assertNotIn('secret', str(e))

    def test_what_is_not_supported_is_refused_by_name(self):
        for key in ('exec', 'auth-provider', 'username', 'password', 'as',
                    'as-uid', 'as-groups', 'as-user-extra', 'sign-with'):
            said = self.refused(user={key: {'command': 'rm'}})
            self.assertIn('client certificate or a token', said)
            self.assertIn(f'"{key}"', said)
        self.assertIn('"by-way-of"', self.refused({'by-way-of': 'x'}))

    def test_no_error_quotes_a_key(self):
        server = self.useFixture(tls_server.TlsServer())
        broken = server.key.replace('PRIVATE', 'SECRET')
        for user in (
                {'client-certificate-data': tls_server.data(
                    server.certificate),
                 'client-key-data': tls_server.data(broken)},
                {'client-key-data': 'SECRET!'},
                # In the place of its file.
                {'client-certificate-data': tls_server.data(
                    server.certificate), 'client-key': 'SECRET'}):
            self.assertNotIn('SECRET', self.refused(HTTPS, user))

    def test_key_without_a_certificate_is_not_used(self):
        # As in client-go.
        key = self.useFixture(tls_server.TlsServer()).key
        self.load(HTTPS, {'client-key-data': tls_server.data(key)})

    def test_missing_files_are_named(self):
        self.assertIn('ca.crt', self.refused(
            {**HTTPS, 'certificate-authority': 'ca.crt'}))
        e = self.assertRaises(errors.UsageError, access.load,
                              self.folder / 'none')
        self.assertIn('No such file', str(e))

    def test_files_that_change_are_noticed(self):
        server = self.useFixture(tls_server.TlsServer())
        (self.folder / 'ca').write_text(server.ca)
        found = self.load({**HTTPS, 'certificate-authority': 'ca'})
        self.assertTrue(found.is_current())
        for name in ('kubeconfig', 'ca'):
            path = self.folder / name
            before = path.read_text()
            path.write_text(before + '\n')
            self.assertFalse(found.is_current())
            path.unlink()
            self.assertFalse(found.is_current())
            path.write_text(before)


class TlsTest(_Base):

    def setUp(self):
        super().setUp()
        self.use(tls_server.TlsServer())

    def use(self, server):
        self.server = self.useFixture(server)
        self.ca = {AUTHORITY: tls_server.data(self.server.ca)}
        self.user = {
            'client-certificate-data': tls_server.data(
                self.server.certificate),
            'client-key-data': tls_server.data(self.server.key)}

    def get(self, cluster, user):
        found = self.load({'server': self.server.url, **cluster}, user)
        # Refusals are tried again: without waiting.
        return rest.Rest(found, rest.Limits(60, 60, 60),
                         fake_clock.FakeClock()).request('GET', '/')

    def test_certificates_as_data_and_as_files(self):
        self.assertEqual({}, self.get(self.ca, self.user))
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

        self.use(tls_server.TlsServer(signed=True))
        self.useFixture(fixtures.MonkeyPatch(
            'ssl.create_default_context', strict))
        self.assertEqual({}, self.get(self.ca, self.user))

    def test_no_key_is_left_in_any_file(self):
        # B.4.19: one file with a private key a client and tick.
        temporary = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', temporary))
        self.load({'server': self.server.url}, self.user)
        self.assertEqual([], os.listdir(tempfile.gettempdir()))
        self.assertEqual(['kubeconfig'], os.listdir(self.folder))

    def test_who_is_not_trusted(self):
        e = self.assertRaises(rest.Unreachable, self.get, {}, self.user)
        self.assertIn('is not trusted', str(e))
        # The server wants a certificate.
        self.assertRaises(rest.Unreachable, self.get, self.ca, {})

    def test_check_can_be_switched_off(self):
        # B.4.19 and the facts: insecure-skip-tls-verify was ignored.
        self.useFixture(fixtures.WarningsFilter([{
            'action': 'ignore', 'category': exceptions.SecurityWarning}]))
        self.assertEqual({}, self.get(
            {'insecure-skip-tls-verify': True}, self.user))

    def test_other_name_in_the_certificate(self):
        self.use(tls_server.TlsServer('api.internal'))
        self.user['client-certificate-data'] = self.ca[AUTHORITY]
        e = self.assertRaises(rest.Unreachable, self.get, self.ca, self.user)
        self.assertIn('is not trusted', str(e))
        self.assertEqual({}, self.get(
            {**self.ca, 'tls-server-name': 'api.internal'}, self.user))


class ProxyTest(_Base):

    def setUp(self):
        super().setUp()
        for name in ('http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'):
            for spelled in (name, name.upper()):
                self.useFixture(fixtures.EnvironmentVariable(spelled))
        self.set(HTTPS_PROXY='http://p.example:3128')

    def set(self, **variables):
        for name, value in variables.items():
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def test_of_the_environment(self):
        for host in ('management.example', '192.0.2.1', 'localhost.example',
                     '[2001:db8::1]'):
            self.assertEqual('http://p.example:3128',
                             access.proxy_of(f'https://{host}:6443'))
        for given, proxy in (
                ('p.example:3128', 'http://p.example:3128'),
                ('192.0.2.9:80', 'http://192.0.2.9:80'),
                ('socks5://p.example:1080', 'socks5://p.example:1080')):
            self.set(HTTPS_PROXY=given)
            self.assertEqual(proxy, access.proxy_of('https://k.example'))
        # Helm reads no other variable, nor one for this machine.
        self.set(ALL_PROXY='http://all.example')
        for url in ('http://k.example:6443', 'https://127.0.0.1:6443',
                    'https://127.0.0.2', 'https://[::1]:6443',
                    'https://localhost'):
            self.assertIsNone(access.proxy_of(url))
        # That of the kubeconfig wins.
        found = self.load({**HTTPS, 'proxy-url': 'http://q.example'})
        self.assertEqual('http://q.example', found.proxy)

    def test_not_for_what_no_proxy_names(self):
        self.set(no_proxy='.example,192.0.2.0/24,2001:db8::1,198.51.100.7/24')
        for host, through in (
                ('k.example', False), ('management.test', True),
                ('192.0.2.1', False), ('192.0.3.1', True),
                ('[2001:db8::1]', False), ('[2001:db8::2]', True),
                ('198.51.100.9', False)):
            with self.subTest(host):
                self.assertEqual(through, bool(
                    access.proxy_of(f'https://{host}:6443')))


class FindTest(_Base):

    def test_order(self):
        self.useFixture(fixtures.EnvironmentVariable('HOME', '/home/m'))
        for option, environ, found in (
                ('/a', {'KUBECONFIG': '/b'}, '/a'),
                ('', {'KUBECONFIG': '/b'}, '/b'),
                ('', {}, '/home/m/.kube/config')):
            self.assertEqual(pathlib.Path(found), access.find(
                option, environ, self.folder))

    def test_several_files_are_refused(self):
        self.assertRaises(errors.UsageError, access.find, '',
                          {'KUBECONFIG': '/b:/c'})

    def test_pod(self):
        environ = {'KUBERNETES_SERVICE_HOST': 'fd00::1',
                   'KUBERNETES_SERVICE_PORT': '6443'}
        (self.folder / 'token').write_text('t')
        self.assertIsNone(access.find('', environ, self.folder))
        # A token alone, or a pod without one, is no way in.
        for one, folder in (({}, self.folder), (environ, self.folder / 'x')):
            self.assertEqual('config', access.find('', one, folder).name)
        e = self.assertRaises(errors.UsageError, access.load, None, environ,
                              self.folder)
        self.assertIn('ca.crt', str(e))
        server = self.useFixture(tls_server.TlsServer())
        (self.folder / 'ca.crt').write_text(server.ca)
        found = access.load(None, environ, self.folder)
        self.assertEqual('https://[fd00::1]:6443', found.server)
        self.assertEqual({'Authorization': 'Bearer t'}, found.headers())
        self.assertIsNone(found.kubeconfig)
