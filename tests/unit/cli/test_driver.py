# SPDX-License-Identifier: Apache-2.0

import io
import json
import pathlib
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi.cli import driver as cli
from tests.unit.driver.gitops import test_rendering
from tests.unit.driver import small_world


class RenderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.err = self.useFixture(fixtures.StringStream('err')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))
        self.useFixture(fixtures.EnvironmentVariable('OS_CLOUD'))
        # No magnum.conf of this machine.
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg.find_config_files', lambda *args, **kw: []))
        self.useFixture(fixtures.MonkeyPatch(
            'oslo_config.cfg.find_config_dirs', lambda *args, **kw: []))

    def file(self, text, name='cluster.yaml'):
        path = self.folder / name
        path.write_text(text)
        return path

    def described(self, **sections):
        return self.file(json.dumps(test_rendering.described(**sections)))

    def call(self, *argv):
        """Exit code and standard output."""
        app = mock.Mock(stdout=io.StringIO(), options=mock.Mock(debug=False))
        made = cli.Render(app, None)
        arguments = made.get_parser('x').parse_args([*map(str, argv)])
        return made.run(arguments), app.stdout.getvalue()

    def assert_refused(self, code, text, *argv):
        self.assertEqual((code, ''), self.call(*argv))
        self.err.seek(0)
        said = self.err.read()
        self.assertRegex(said, r'\Amagnum-capi: [^\n]+\n\Z')
        self.assertIn(text, said)

    def test_values_as_yaml_say_what_they_are_for(self):
        code, out = self.call(self.described())

        self.assertEqual(0, code)
        self.assertEqual('1.34.2', yaml.safe_load(out)['kubernetesVersion'])
        self.assertIn(f'# Release {small_world.RELEASE} in the namespace '
                      f'{small_world.NAMESPACE}', out)
        self.assertIn('openstack-cluster', out)

    def test_password_of_a_proxy_is_not_printed_but_where_it_belongs(self):
        out = self.call(self.described(template={
            'http_proxy': 'http://squid:S3cret@proxy:3128'}))[1]

        self.assertNotIn('S3cret', out)
        self.assertRegex(out, rf'# The Secret {small_world.RELEASE}-proxies-'
                              r'[0-9a-f]{10} with 50-proxy\.conf is not in')

    def test_values_as_json_are_the_same(self):
        path = self.described()
        self.assertEqual(yaml.safe_load(self.call(path)[1]),
                         json.loads(self.call(path, '-f', 'json')[1]))

    def test_manifests(self):
        template = self.useFixture(fixtures.MockPatch(
            'magnum_capi.driver.helm.helm.Helm.template',
            return_value='kind: Cluster\n')).mock

        self.assertEqual((0, 'kind: Cluster\n'),
                         self.call(self.described(), '--manifests'))
        release, _chart, _values, namespace = template.call_args.args
        self.assertEqual((small_world.RELEASE, small_world.NAMESPACE),
                         (release, namespace))

    def test_options_of_the_driver_count(self):
        conf = self.file('[k8s_capi]\nnamespace_prefix = other\n'
                         'chart_name = /charts/sandbox-cluster\n', 'm.conf')
        out = self.call(self.described(), '--config-file', conf)[1]

        self.assertIn('in the namespace other-', out)
        self.assertIn('# Chart /charts/sandbox-cluster', out)

    def test_mistakes_are_one_line_and_2(self):
        for content, text in (
                ('a: [', 'neither YAML nor JSON'),
                ('[]', 'a description is a mapping'),
                ('\x00', 'neither YAML nor JSON')):
            self.err.seek(0)
            self.err.truncate()
            self.assert_refused(2, text, self.file(content))

    def test_no_such_description_is_2(self):
        self.assert_refused(2, 'cannot be read', self.folder / 'nope')

    def test_no_such_configuration_is_2(self):
        self.assert_refused(2, 'configuration of Magnum cannot be read',
                            self.described(), '--config-file', '/nope')

    def test_wrong_option_is_2(self):
        conf = self.file('[k8s_capi]\nchart_version = latest\n', 'm.conf')
        self.assert_refused(2, 'chart_version', self.described(),
                            '--config-file', conf)

    def test_no_helm_is_3(self):
        conf = self.file('[k8s_capi]\nhelm_binary = /nope/helm\n', 'm.conf')
        self.assert_refused(3, 'helm is not installed', self.described(),
                            '--config-file', conf, '--manifests')
