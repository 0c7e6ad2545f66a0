# SPDX-License-Identifier: Apache-2.0

import dataclasses
import pathlib

import fixtures
from oslo_config import cfg
import testtools

import magnum_capi
from magnum_capi.driver import config
from magnum_capi import errors


class _Base(testtools.TestCase):

    def of(self, **values):
        """The options of a magnum.conf."""
        path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'magnum.conf'
        path.write_text('[k8s_capi]\n' + ''.join(
            f'{name} = {self.written(value)}\n'
            for name, value in values.items()))
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[str(path)])
        return config.Options.read(conf)

    def written(self, value):
        if isinstance(value, dict):
            return ','.join(f'{key}:{text}' for key, text in value.items())
        if isinstance(value, list):
            return ','.join(value)
        return value

    def refused(self, **values):
        return str(self.assertRaises(errors.UsageError, self.of, **values))


class AnswerTimeoutTest(_Base):

    def test_it_is_below_what_magnum_waits_for(self):
        self.assertEqual(50, self.of().answer_timeout)

    def test_it_follows_what_magnum_waits_for(self):
        conf = cfg.ConfigOpts()
        conf.register_opts([cfg.IntOpt('rpc_response_timeout', default=120)])
        conf([])
        self.assertEqual(100, config.Options.read(conf).answer_timeout)

    def test_option_that_oslo_messaging_has_not_registered_is_read(self):
        # It registers it with its first client; magnum-conductor has none.
        path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'magnum.conf'
        for text, expected in (
                ('rpc_response_timeout = 120', 100),
                ('rpc_response_timeout = 300\n'
                 '[k8s_capi]\nanswer_timeout = 120', 120)):
            path.write_text(f'[DEFAULT]\n{text}\n')
            conf = cfg.ConfigOpts()
            conf([], default_config_files=[str(path)])
            self.assertEqual(expected,
                             config.Options.read(conf).answer_timeout)

    def test_one_that_magnum_does_not_wait_for_is_refused(self):
        for seconds in (60, 61, 600):
            self.assertIn('must be less than [DEFAULT]/rpc_response_timeout',
                          self.refused(answer_timeout=seconds))
        self.assertEqual(59, self.of(answer_timeout=59).answer_timeout)

    def test_part_of_a_second_is_not_lost(self):
        conf = cfg.ConfigOpts()
        conf.register_opts([cfg.IntOpt('rpc_response_timeout', default=9)])
        conf([])
        self.assertEqual(7.5, config.Options.read(conf).answer_timeout)


class DefaultsTest(_Base):

    def test_published_chart_at_an_exact_version(self):
        chart = self.of().chart
        self.assertEqual('openstack-cluster', chart.name)
        self.assertEqual('https://azimuth-cloud.github.io/capi-helm-charts',
                         chart.repository)
        # B.4.9, B.4.10: the driver was made for another chart than that
        # which it asked for.
        self.assertEqual('0.27.0', chart.version)

    def test_charts_in_words(self):
        for chart, text in (
                (config.Chart('/charts/c'), '/charts/c'),
                (config.Chart('oci://r/c', None, '1.0.0'),
                 'oci://r/c 1.0.0'),
                (config.Chart('c', 'https://r', '1.0.0'),
                 'c 1.0.0 of https://r')):
            self.assertEqual(text, str(chart))

    def test_what_threads_share_has_no_lists(self):
        found = self.of(allowed_chart_versions=['0.26.0'])
        self.assertEqual(('0.26.0',), found.allowed_chart_versions)
        self.assertEqual([], [
            field.name for field in dataclasses.fields(found)
            if isinstance(getattr(found, field.name), list)])

    def test_version_is_named_in_one_place(self):
        package = pathlib.Path(magnum_capi.__file__).parent
        found = [path.name for path in package.rglob('*.py')
                 if f"'{config.CHART_VERSION}'" in path.read_text()]
        self.assertEqual(['config.py'], found)

    def test_every_option_has_help(self):
        for option in config.OPTIONS:
            self.assertTrue(option.help, option.name)

    def test_import_registers_nothing(self):
        self.assertNotIn('k8s_capi', cfg.CONF)

    def test_generator_gets_the_same_options(self):
        self.assertEqual([('k8s_capi', list(config.OPTIONS))],
                         config.list_opts())

    def test_read_from_a_file_twice(self):
        path = self.useFixture(fixtures.TempDir()).join('magnum.conf')
        with open(path, 'w') as f:
            f.write('[k8s_capi]\nhelm_timeout = 7\n'
                    'extra_charts = a:/charts/a\n')
        conf = cfg.ConfigOpts()
        conf(['--config-file', path])
        self.assertEqual(7, config.Options.read(conf).helm_timeout)
        found = config.Options.read(conf)
        self.assertEqual({'a': config.Chart('/charts/a')}, found.charts)


class ChartTest(_Base):

    def test_path_has_no_repository_and_no_version(self):
        chart = self.of(chart_name='/charts/sandbox-cluster').chart
        self.assertEqual(config.Chart('/charts/sandbox-cluster'), chart)
        self.assertTrue(chart.is_path)

    def test_oci_has_no_repository(self):
        chart = self.of(chart_name='oci://r.example/c').chart
        self.assertEqual(
            config.Chart('oci://r.example/c', None, '0.27.0'), chart)

    def test_extra_charts(self):
        found = self.of(extra_charts={
            'a': '/charts/a', 'b': 'oci://r.example:5000/b@1.2.3',
            'c': 'openstack-cluster@0.26.1'})
        self.assertEqual(config.Chart('/charts/a'), found.chart_of('a'))
        self.assertEqual(
            config.Chart('oci://r.example:5000/b', None, '1.2.3'),
            found.chart_of('b'))
        self.assertEqual('0.26.1', found.chart_of('c').version)
        self.assertEqual(found.chart, found.chart_of(None))

    def test_template_can_choose_an_allowed_version(self):
        found = self.of(chart_version='1.2.3',
                        allowed_chart_versions=['1.2.2', '1.2.4-rc.1'])
        for version in ('1.2.2', '1.2.3', '1.2.4-rc.1'):
            self.assertEqual(dataclasses.replace(
                found.chart, version=version), found.chart_of(None, version))
        self.assertEqual('1.2.3', found.chart_of(None).version)
        e = self.assertRaises(errors.UsageError, found.chart_of, None,
                              '1.2.4')
        self.assertIn('version 1.2.4 ', str(e))
        self.assertIn('Allowed: 1.2.3, 1.2.2, 1.2.4-rc.1', str(e))

    def test_allowed_versions_are_not_those_of_other_charts(self):
        found = self.of(allowed_chart_versions=['1.2.3'], extra_charts={
            'a': 'oci://r.example/a@2.0.0'})
        self.assertEqual('2.0.0', found.chart_of('a', '2.0.0').version)
        e = self.assertRaises(errors.UsageError, found.chart_of, 'a',
                              '1.2.3')
        self.assertIn('Allowed: 2.0.0', str(e))

    def test_template_cannot_choose_another_chart(self):
        found = self.of(extra_charts={'a': '/charts/a'})
        e = self.assertRaises(errors.UsageError, found.chart_of,
                              '/etc/passwd')
        self.assertIn('Allowed: a', str(e))

    def test_template_cannot_choose_another_overlay(self):
        found = self.of(value_overlays={'gpu': '/o/gpu.yaml',
                                        'base': '/o/base.yaml'},
                        default_value_overlays=['base'])
        self.assertEqual(['/o/base.yaml', '/o/gpu.yaml'],
                         found.overlays_of(['gpu']))
        e = self.assertRaises(errors.UsageError, found.overlays_of,
                              ['../x'])
        self.assertIn('Allowed: base, gpu', str(e))


class WrongTest(_Base):

    def test_folder_of_the_working_directory_is_no_chart(self):
        # B.1: helm takes ./openstack-cluster for the chart of that name.
        for name in ('charts/openstack-cluster', './c', '.', ''):
            with self.subTest(name):
                self.assertIn('chart_name', self.refused(chart_name=name))

    def test_version_has_to_be_exact(self):
        for version in ('>=0.1', '', '0.27', 'latest', '0.27.x'):
            with self.subTest(version):
                self.assertIn('chart_version',
                              self.refused(chart_version=version))

    def test_allowed_version_has_to_be_exact_and_as_in_a_label(self):
        for version in ('>=0.1', '*', '0.27', 'latest', 'v0.27.0'):
            with self.subTest(version):
                self.assertIn('allowed_chart_versions', self.refused(
                    allowed_chart_versions=['0.26.0', version]))

    def test_extra_chart_has_to_have_a_version(self):
        for text in ('oci://r/b', 'name', '@1.2.3', 'a/b@1.2.3',
                     'oci://r/b@latest', 'name@0.27', 'name@', '@', 'oci://@',
                     '@latest'):
            with self.subTest(text):
                self.assertIn('extra_charts',
                              self.refused(extra_charts={'a': text}))

    def test_namespace_prefix(self):
        for prefix in ('', 'A', '1a', 'a-', 'a' * 31, 'a_b'):
            with self.subTest(prefix):
                self.assertIn('namespace_prefix',
                              self.refused(namespace_prefix=prefix))
        self.of(namespace_prefix='a' * 30)

    def test_networks_of_the_management_cluster(self):
        self.assertEqual(
            ('192.0.2.0/24', '2001:db8::/64'),
            self.of(management_cidrs=['192.0.2.0/24', '2001:db8::/64'])
            .management_cidrs)
        for text in ('192.0.2.7/24', '192.0.2.7', 'here'):
            self.assertIn('management_cidrs', self.refused(
                management_cidrs=[text]))

    def test_admin_is_no_role_of_a_credential(self):
        for role in ('admin', 'Admin'):
            self.assertIn('admin', self.refused(
                credential_roles=['member', role]))
        self.assertIn('empty', self.refused(credential_roles=[]))

    def test_paths_are_absolute(self):
        for option in ('chart_cache', 'helm_registry_config'):
            self.assertIn(f'{option}: "a/b" is not an absolute path',
                          self.refused(**{option: 'a/b'}))
            self.assertEqual('/a/b', getattr(
                self.of(**{option: '/a/b'}), option))
        self.assertIn('value_overlays: "gpu.yaml" is not an absolute path',
                      self.refused(value_overlays={'gpu': 'gpu.yaml'}))
        # The name of a chart says nothing of its folder.
        for name in ('not/absolute', 'a b'):
            self.assertIn('is not a name', self.refused(
                extra_charts={'a': f'{name}@1.0.0'}))

    def test_all_problems_at_once(self):
        text = self.refused(namespace_prefix='A', chart_version='x',
                            default_value_overlays=['none'])
        for option in ('namespace_prefix', 'chart_version',
                       'default_value_overlays'):
            self.assertIn(option, text)

    def test_value_of_a_wrong_type(self):
        path = self.useFixture(fixtures.TempDir()).join('magnum.conf')
        with open(path, 'w') as f:
            f.write('[k8s_capi]\nlock_duration = 1\n')
        conf = cfg.ConfigOpts()
        conf(['--config-file', path])
        e = self.assertRaises(errors.UsageError, config.Options.read, conf)
        self.assertIn('lock_duration', str(e))
