# SPDX-License-Identifier: Apache-2.0

"""Options of the driver: what they take, and what they do not."""

import dataclasses
import pathlib

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.driver import config
from magnum_capi.driver.desired import charts
from magnum_capi import errors

#: Options by the least that they take, and a little less than it.
LEAST = {
    'minimum_flavor_ram': (0, -1), 'minimum_flavor_vcpus': (0, -1),
    'connect_timeout': (0.1, 0.09), 'read_timeout': (0.1, 0.09),
    'retry_time': (0, -0.1), 'openstack_timeout': (1, 0.9),
    'helm_timeout': (5, 4), 'answer_timeout': (1, 0.9),
    'helm_history': (2, 1), 'helm_processes': (1, 0),
    'lock_duration': (6, 5), 'lock_timeout': (0, -1),
    'credential_settle': (0, -1), 'credential_bound': (0, -1),
    'credential_check_interval': (0, -1), 'failure_patience': (0, -1),
    'progress_timeout': (0, -1), 'lost_after': (1, 0)}

#: What an operator has who sets nothing, and relies on with an update.
AS_DELIVERED = {
    'kubeconfig_file': '', 'namespace_prefix': 'magnum',
    'management_cidrs': (),
    'chart_name': 'openstack-cluster', 'chart_repository':
        'https://azimuth-cloud.github.io/capi-helm-charts',
    # B.4.9, B.4.10: the driver was made for another chart than that which it
    # asked for.
    'chart_version': '0.27.0',
    'allowed_chart_versions': (), 'value_overlays': {},
    'default_value_overlays': (), 'extra_os_distros': (),
    'minimum_flavor_ram': 2048, 'minimum_flavor_vcpus': 2,
    'credential_roles': ('member', 'reader', 'load-balancer_member',
                         'creator'),
    'credential_interface': 'public', 'delete_load_balancers': True,
    'delete_volumes': True,
    'connect_timeout': 5, 'read_timeout': 30, 'retry_time': 30,
    'openstack_timeout': 60, 'helm_binary': 'helm', 'helm_timeout': 120,
    'answer_timeout': 50, 'helm_history': 10, 'helm_processes': 4,
    'helm_registry_config': None,
    'chart_cache': None, 'lock_duration': 30, 'lock_timeout': 60,
    'credential_settle': 30, 'credential_bound': 900,
    'credential_check_interval': 300, 'failure_patience': 300,
    'progress_timeout': 60, 'lost_after': 60, 'default_labels': {},
    'ignored_labels': (), 'scale_from_zero': False,
    'csi_cinder_default_volume_type': None,
    'csi_cinder_allowed_topologies': ()}


class _Base(testtools.TestCase):

    def conf(self, text):
        """The configuration of a magnum.conf."""
        path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'magnum.conf'
        path.write_text(text)
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[str(path)])
        return conf

    def of(self, **values):
        """The options of a magnum.conf."""
        return config.Options.read(self.conf('[k8s_capi]\n' + ''.join(
            f'{name} = {self.written(value)}\n'
            for name, value in values.items())))

    def written(self, value):
        if isinstance(value, dict):
            return ','.join(f'{key}:{text}' for key, text in value.items())
        if isinstance(value, list):
            return ','.join(value)
        return value

    def refused(self, **values):
        return str(self.assertRaises(errors.UsageError, self.of, **values))


class DefaultsTest(_Base):

    def test_as_delivered(self):
        self.assertEqual(AS_DELIVERED, dataclasses.asdict(self.of()))

    def test_what_threads_share_has_no_lists(self):
        found = self.of(allowed_chart_versions=['0.26.0'])
        self.assertEqual(('0.26.0',), found.allowed_chart_versions)
        self.assertEqual([], [
            field.name for field in dataclasses.fields(found)
            if isinstance(getattr(found, field.name), list)])

    def test_every_option_has_help(self):
        for option in config.OPTIONS:
            self.assertTrue(option.help, option.name)

    def test_import_registers_nothing(self):
        self.assertNotIn('k8s_capi', cfg.CONF)

    def test_generator_gets_the_same_options(self):
        self.assertEqual([('k8s_capi', list(config.OPTIONS))],
                         config.list_opts())

    def test_read_twice(self):
        conf = self.conf('[k8s_capi]\nhelm_timeout = 7\n')
        for _time in range(2):
            self.assertEqual(7, config.Options.read(conf).helm_timeout)


class ChartTest(_Base):

    def test_charts_in_words(self):
        for chart, text in (
                (charts.Chart('/charts/c'), '/charts/c'),
                (charts.Chart('oci://r/c', None, '1.0.0'),
                 'oci://r/c 1.0.0'),
                (charts.Chart('c', 'https://r', '1.0.0'),
                 'c 1.0.0 of https://r')):
            self.assertEqual(text, str(chart))

    def test_only_names_have_a_repository(self):
        for name, expected in (
                ('/charts/c', charts.Chart('/charts/c')),
                ('oci://r.example/c',
                 charts.Chart('oci://r.example/c', None, '0.27.0')),
                ('c', charts.Chart('c', config.CHART_REPOSITORY, '0.27.0'))):
            self.assertEqual(expected, self.of(chart_name=name).chart)

    def test_template_can_choose_an_allowed_version(self):
        found = self.of(chart_version='1.2.3',
                        allowed_chart_versions=['1.2.2', '1.2.4-rc.1'])
        for version in ('1.2.2', '1.2.3', '1.2.4-rc.1'):
            self.assertEqual(dataclasses.replace(
                found.chart, version=version), found.chart_of(version))
        self.assertEqual('1.2.3', found.chart_of(None).version)

    def test_template_can_choose_nothing_else(self):
        found = self.of(chart_version='1.2.3',
                        allowed_chart_versions=['1.2.2', '1.2.4-rc.1'],
                        value_overlays={'gpu': '/o/gpu.yaml',
                                        'base': '/o/base.yaml'},
                        default_value_overlays=['base'])
        for choose, *given, allowed in (
                (found.chart_of, '1.2.4', '1.2.3, 1.2.2, 1.2.4-rc.1'),
                (found.overlays_of, ['../x'], 'base, gpu')):
            e = self.assertRaises(errors.UsageError, choose, *given)
            self.assertIn(f'Allowed: {allowed}', str(e))
        self.assertEqual(['/o/base.yaml', '/o/gpu.yaml'],
                         found.overlays_of(['gpu']))


class WrongTest(_Base):

    #: Options, and values that each refuses by its name.
    REFUSED = {
        # B.1: helm takes ./openstack-cluster for the chart of that name.
        'chart_name': ('charts/openstack-cluster', './c', '.', ''),
        'chart_version': ('>=0.1', '', '0.27', 'latest', '0.27.x'),
        # As in a label.
        'allowed_chart_versions': tuple(
            ['0.26.0', version]
            for version in ('>=0.1', '*', '0.27', 'latest', 'v0.27.0')),
        'namespace_prefix': ('', 'A', '1a', 'a-', 'a' * 31, 'a_b'),
        # Octavia refuses networks of IPv6 for an address of IPv4.
        'management_cidrs': ('192.0.2.7/24', '192.0.2.7', 'here',
                             '2001:db8::/64'),
        'credential_roles': (['member', 'admin'], 'Admin', ''),
        'credential_interface': ('publicURL',),
        'chart_cache': ('a/b',), 'helm_registry_config': ('a/b',),
        'value_overlays': ({'gpu': 'gpu.yaml'},)}

    def test_values_that_are_refused(self):
        for option, values in self.REFUSED.items():
            for value in values:
                with self.subTest(option, value=value):
                    self.assertIn(option,
                                  self.refused(**{option: value}))

    def test_the_least_and_less(self):
        for name, (least, less) in LEAST.items():
            self.assertEqual(
                least, getattr(self.of(**{name: least}), name))
            self.assertIn(name, self.refused(**{name: less}))

    def test_values_that_are_taken(self):
        for option, value in (
                ('namespace_prefix', 'a' * 30), ('chart_cache', '/a/b'),
                ('helm_registry_config', '/a/b'),
                ('management_cidrs', ['192.0.2.0/24', '198.51.100.0/24']),
                *(('credential_interface', interface)
                  for interface in ('public', 'internal', 'admin'))):
            found = getattr(self.of(**{option: value}), option)
            self.assertEqual(tuple(value), tuple(found))

    def test_all_problems_at_once(self):
        text = self.refused(namespace_prefix='A', chart_version='x',
                            default_value_overlays=['none'])
        for option in ('namespace_prefix', 'chart_version',
                       'default_value_overlays'):
            self.assertIn(option, text)
