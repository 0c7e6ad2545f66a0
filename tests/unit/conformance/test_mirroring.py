# SPDX-License-Identifier: Apache-2.0

"""The images of a run, and a registry that should have them."""

import base64
import io
import json
import pathlib
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_images as cli
from magnum_capi_tempest.conformance import lists
from magnum_capi_tempest.conformance.mirroring import plan
from magnum_capi_tempest.conformance.mirroring import registry
from magnum_capi_tempest.conformance.mirroring import suite
from magnum_capi_tempest.conformance import model
from tests.unit import loopback
from tests.unit import own_folders

#: In the form of Kubernetes' test/utils/image/manifest.go.
MANIFEST = '''
type RegistryList struct {
\tPromoterE2eRegistry string `yaml:"promoterE2eRegistry"`
\tInvalidRegistry     string `yaml:"invalidRegistry"`
\tGcRegistry          string `yaml:"gcRegistry"`
\tPrivateRegistry     string `yaml:"privateRegistry"`
}
\tinitRegistry = RegistryList{
\t\t// Eliminate PrivateRegistry.
\t\tPromoterE2eRegistry: "registry.k8s.io/e2e-test-images",
\t\tInvalidRegistry:     "invalid.registry.k8s.io/invalid",
\t\tGcRegistry:          "registry.k8s.io",
\t\tPrivateRegistry:     "gcr.io/k8s-authenticated-test",
\t}

\tconfigs[Agnhost] = Config{list.PromoterE2eRegistry, "agnhost", "2.66.1"}
\tconfigs[AgnhostPrivate] = Config{list.PrivateRegistry, "agnhost", "2.6"}
\tconfigs[Bad] = Config{list.InvalidRegistry, "alpine", "3.1"}
\tconfigs[Nfs] = Config{list.PromoterE2eRegistry, "volume/nfs", "1.6.0"}
\tconfigs[Pause] = Config{list.GcRegistry, "pause", "3.10.2"}
\t\tcase Bad,
\t\t\tAgnhostPrivate:
\t\t\t// These images are special and can't be run out of the cloud
'''
IMAGES = ('docker.io/sonobuoy/sonobuoy:v0.57.5',
          'registry.k8s.io/conformance:v1.36.5',
          'registry.k8s.io/e2e-test-images/agnhost:2.66.1',
          'registry.k8s.io/e2e-test-images/volume/nfs:1.6.0',
          'registry.k8s.io/pause:3.10.2')


def parsed():
    return suite.parse(MANIFEST, 'manifest.go')


class TestSuite(testtools.TestCase):

    def test_images_and_registries(self):
        found = parsed()

        self.assertEqual(IMAGES[2:], found.images)
        self.assertEqual(
            {'gcRegistry': 'registry.k8s.io', 'promoterE2eRegistry':
             'registry.k8s.io/e2e-test-images'}, found.registries)
        self.assertEqual(('gcr.io/k8s-authenticated-test/agnhost:2.6',
                          'invalid.registry.k8s.io/invalid/alpine:3.1'),
                         found.special)

    def test_another_form_is_not_taken_for_an_empty_one(self):
        for text in ('', MANIFEST.replace('These images', 'Those images'),
                     MANIFEST.replace('initRegistry', 'registries'),
                     MANIFEST.replace('"gcRegistry"', '""')):
            error = self.assertRaises(errors.EnvironmentProblem, suite.parse,
                                      text, 'manifest.go')
            self.assertIn('--list-images', str(error))


class TestPlan(testtools.TestCase):

    def test_of_sonobuoy(self):
        wanted = plan.needed('v1.36.5', parsed())

        self.assertEqual(IMAGES, wanted.images)
        self.assertIn(
            'docker.io/sonobuoy/systemd-logs:v0.4',
            plan.needed('v1.36.5', parsed(), systemd_logs=True).images)

    def test_of_hydrophone(self):
        wanted = plan.needed('v1.36.5', parsed(), model.HYDROPHONE)

        self.assertEqual(
            'registry.k8s.io/e2e-test-images/busybox:1.36.1-1',
            wanted.tools['busybox'])
        self.assertIn('--backend hydrophone --registry-mirrors f',
                      plan.run(wanted, 'r', 'f'))

    def test_every_image_is_where_the_tests_look_for_it(self):
        found = parsed()
        told = yaml.safe_load(plan.repo_list(found, 'r.example:5000/k8s/'))
        for key, upstream in found.registries.items():
            for image in found.images:
                path, _, name = image.rpartition('/')
                if path == upstream:
                    self.assertEqual(
                        f'{told[key]}/{name}',
                        plan.mirrored(image, 'r.example:5000/k8s/'))

    def test_commands(self):
        wanted = plan.needed('v1.36.5', parsed())
        self.assertEqual(
            'skopeo copy --all docker://registry.k8s.io/pause:3.10.2 '
            'docker://r.example/pause:3.10.2',
            plan.copies(wanted, 'r.example')[-1])
        self.assertEqual(
            'crane copy registry.k8s.io/pause:3.10.2 r.example/pause:3.10.2',
            plan.copies(wanted, 'r.example', 'crane')[-1])
        self.assertEqual(
            'magnum-capi conformance run --sonobuoy-image '
            'r.example/sonobuoy/sonobuoy:v0.57.5 --conformance-image '
            'r.example/conformance:v1.36.5 --registry-mirrors m.yaml',
            plan.run(wanted, 'r.example', 'm.yaml'))


class Scripted(fixtures.Fixture):
    """A registry that has what it is told.

    :param login: what it lets in, ``name:password``; it gives tokens then.
    :param basic: it wants the password itself.
    """

    def __init__(self, has=(), login='', basic=False):
        self.has, self.login, self.basic = set(has), login, basic
        self.asked, self.realm, self.code = [], '', 404

    def _setUp(self):
        outer = self

        class Handler(loopback.Handler):

            def do_HEAD(self):
                outer.asked.append(('HEAD', self.path, self.headers.get(
                    'Authorization', '')))
                if outer.login and self.headers.get('Authorization') != (
                        outer.secret if outer.basic else 'Bearer t0ken'):
                    self.send_response(401)
                    self.send_header(
                        'WWW-Authenticate', 'Basic realm="x"' if outer.basic
                        else f'Bearer realm="{outer.realm}",service="s"')
                else:
                    self.send_response(
                        200 if self.path in outer.has else outer.code)
                self.end_headers()

            def do_GET(self):
                outer.asked.append(('GET', self.path, self.headers.get(
                    'Authorization', '')))
                right = self.headers.get('Authorization') == outer.secret
                self.answer(200, {'token': 't0ken' if right else 'nobody'})

        url = loopback.start(self, Handler)
        self.host = url.removeprefix('http://')
        self.realm = f'{url}/token'
        self.secret = 'Basic ' + base64.b64encode(
            self.login.encode()).decode()


class TestRegistry(testtools.TestCase):

    def registry(self, credentials=None, **kwargs):
        self.server = self.useFixture(Scripted(
            ['/v2/k8s/pause/manifests/3.10.2'], **kwargs))
        return registry.Registry(self.server.host, credentials, plain=True)

    def found(self, asked, name='k8s/pause:3.10.2'):
        return asked.find(f'{self.server.host}/{name}')

    def test_there_or_not(self):
        asked = self.registry()

        self.assertEqual(registry.THERE, self.found(asked).state)
        self.assertEqual(registry.MISSING,
                         self.found(asked, 'k8s/pause:3.9').state)

    def test_a_token_for_one_repository(self):
        asked = self.registry(registry.Login('me', 's3cret'),
                              login='me:s3cret')

        self.assertEqual(registry.THERE, self.found(asked).state)
        method, path, sent = self.server.asked[1]
        self.assertEqual(('GET', self.server.secret), (method, sent))
        self.assertIn('scope=repository%3Ak8s%2Fpause%3Apull', path)
        self.assertIn('service=s', path)

    def test_the_password_itself(self):
        asked = self.registry(registry.Login('me', 's3cret'),
                              login='me:s3cret', basic=True)

        self.assertEqual(registry.THERE, self.found(asked).state)

    def test_refused(self):
        for login, words in ((None, 'requires credentials'),
                             (registry.Login('me', 'wr0ng'),
                              'does not accept these')):
            for basic in False, True:
                found = self.found(self.registry(
                    login, login='me:s3cret', basic=basic))
                self.assertEqual(registry.REFUSED, found.state)
                self.assertIn(words, found.why)

    def test_a_password_is_not_sent_in_the_clear(self):
        server = self.useFixture(Scripted(login='me:s3cret'))
        answers = [mock.Mock(status_code=401, headers={
            'WWW-Authenticate': f'Bearer realm="{server.realm}"'}),
            mock.Mock(status_code=401, headers={})]
        session = mock.Mock()
        session.request.side_effect = answers

        found = registry.Registry(
            'r.example', registry.Login('me', 's3cret'),
            session=session).find('r.example/a:1')

        self.assertEqual(registry.REFUSED, found.state)
        self.assertTrue(session.request.call_args[0][1].startswith('https:'))
        self.assertIsNone(session.get.call_args[1]['headers'])

    def test_no_answer(self):
        asked = self.registry()
        self.server.code = 500
        self.assertEqual((registry.SILENT, 'it answered 500'), (
            (found := self.found(asked, 'x:1')).state, found.why))
        gone = registry.Registry('127.0.0.1:1', plain=True)
        self.assertEqual((registry.SILENT, 'ConnectionError'), (
            (found := gone.find('127.0.0.1:1/a:1')).state, found.why))

    def test_no_message_has_the_password(self):
        self.assertNotIn('s3cret', repr(registry.Login('me', 's3cret')))


class TestLogin(testtools.TestCase):

    def login(self, document, host='r.example:5000'):
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'c')
        file.write_text(document if isinstance(document, str)
                        else json.dumps(document))
        return registry.login(file, host)

    def test_forms(self):
        both = base64.b64encode(b'me:a:b').decode()
        for name in 'r.example:5000', 'https://r.example:5000/v2/':
            self.assertEqual(registry.Login('me', 'a:b'), self.login(
                {'auths': {'x': {}, name: {'auth': both}}}))
        self.assertEqual(registry.Login('me', 'p'), self.login({'auths': {
            'r.example:5000': {'username': 'me', 'password': 'p'}}}))
        for auths in {}, {'r.example': {'auth': both}}, {
                'r.example:5000': {'auth': '!'}}, [], {'r.example:5000': 1}:
            self.assertIsNone(self.login({'auths': auths}))

    def test_a_file_that_is_none_is_not_quoted(self):
        for text in 's3cret', '["s3cret"]':
            error = self.assertRaises(errors.UsageError, self.login, text)
            self.assertNotIn('s3cret', str(error))


class TestCommand(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        file = self.base / suite.SOURCE
        file.parent.mkdir(parents=True)
        file.write_text(MANIFEST)
        self.useFixture(fixtures.MockPatchObject(
            lists, 'source', lambda *_: self.base))
        self.useFixture(fixtures.EnvironmentVariable(
            'DOCKER_CONFIG', str(self.base)))
        self.err = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))

    def call(self, *argv):
        app = mock.Mock(stdout=io.StringIO(), options=mock.Mock(debug=False))
        made = cli.Images(app, None)
        code = made.run(made.get_parser('x').parse_args(
            ['--kubernetes', 'v1.36.5', *argv]))
        return code, app.stdout.getvalue()

    def test_names(self):
        code, out = self.call()

        self.assertEqual((0, list(IMAGES)), (code, out.splitlines()[:5]))
        self.assertEqual(2, out.count('# Do not mirror'))

    def test_commands_and_configuration(self):
        file = self.base / 'mirrors.yaml'
        code, out = self.call('--mirror', 'r.example/k8s', '--repo-list',
                              str(file))

        self.assertEqual(0, code)
        self.assertEqual(5, out.count('skopeo copy'))
        self.assertIn(f'--registry-mirrors {file}', out)
        self.assertEqual({
            'gcRegistry': 'r.example/k8s', 'promoterE2eRegistry':
            'r.example/k8s/e2e-test-images'}, yaml.safe_load(
                file.read_text()))

    def test_check(self):
        server = self.useFixture(Scripted(
            [f'/v2/{image.partition("/")[2].replace(":", "/manifests/")}'
             for image in IMAGES], 'me:s3cret'))
        check = ('--mirror', server.host, '--check', '--plain-http')
        code, out = self.call(*check)
        self.assertEqual(3, code, out)
        (self.base / 'config.json').write_text(json.dumps({'auths': {
            server.host: {'auth': server.secret.partition(' ')[2]}}}))

        code, out = self.call(*check)
        self.assertEqual(0, code, out)
        self.assertIn('has 5 of 5', out)
        server.has.pop()
        code, out = self.call(*check)
        self.assertEqual((1, 1), (code, out.count('missing: ')))
        self.assertNotIn('s3cret', out)

    def test_document(self):
        found = json.loads(self.call('--json', '--mirror', 'r.example')[1])

        self.assertEqual('r.example/pause:3.10.2',
                         found['mirror']['registry.k8s.io/pause:3.10.2'])

    def test_a_mirror_with_a_password_is_refused_unquoted(self):
        for mirror in ('me:s3cret@r.example', 'https://r.example', 'r/A B'):
            self.assertEqual(2, self.call('--mirror', mirror)[0])
        self.assertEqual(2, self.call('--check')[0])
        self.assertNotIn('s3cret', self.err.getvalue())
        self.assertIn('registry.example.org', self.err.getvalue())
