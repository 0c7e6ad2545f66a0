# SPDX-License-Identifier: Apache-2.0


import dataclasses
import pathlib
import tarfile

import fixtures
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import merging
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows
from magnum_capi.driver.desired import spec
from magnum_capi.driver import gather
from magnum_capi import errors
from tests.unit.driver import small_world


class Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.options = {'chart_name': '/charts/sandbox-cluster'}
        self.setUpWorld()

    def setUpWorld(self):
        self.w = self.useFixture(small_world.Magnum())
        self.cloud = self.w.cloud

    def labels(self, **labels):
        """Labels of the template, which Magnum copies into the cluster."""
        self.w.rows.templates[small_world.TEMPLATE]['labels'] = labels
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = labels

    def plan(self, **kwargs):
        conf = cfg.ConfigOpts()
        conf.register_opts(config.OPTIONS, group='k8s_capi')
        self.useFixture(config_fixture.Config(conf)).config(
            group='k8s_capi', **self.options)
        cluster = self.w.row()
        return gather.Planner(
            rows.Rows(cluster, self.w.store.groups(cluster),
                      self.w.store.template(small_world.TEMPLATE),
                      names.Naming(small_world.RELEASE)),
            self.w.store.cloud, config.Options.read(conf), **kwargs).plan()


class PlanTest(Base):

    def overlay(self, text):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'o'
        path.write_text(text)
        self.options['value_overlays'] = {'small': str(path)}

    def test_networks_of_the_management_cluster(self):
        self.options['management_cidrs'] = ['198.51.100.0/24']
        self.labels(api_master_lb_allowed_cidrs='192.0.2.0/24')
        self.assertEqual(
            ['192.0.2.0/24', '198.51.100.0/24'],
            self.plan().values['apiServer']['allowedCIDRs'])

    def chart(self, version, name='openstack-cluster', packed=False):
        """Have a chart on this machine be that of the driver."""
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder = top / 'openstack-cluster'
        folder.mkdir()
        (folder / 'Chart.yaml').write_text(
            f'name: {name}\nversion: {version}\n')
        if packed:
            folder = top / 'openstack-cluster.tgz'
            with tarfile.open(folder, 'w:gz') as package:
                package.add(top / 'openstack-cluster', 'openstack-cluster')
        self.options['chart_name'] = str(folder)

    def test_keys_of_a_chart_here_are_those_of_its_version(self):
        # With a schema, a chart refuses a key that it does not know.
        self.labels(api_master_lb_allowed_cidrs='192.0.2.0/24')
        both = {'allowedCidrs', 'allowedCIDRs'}
        for version, options, keys in (
                ('0.27.0', {}, {'allowedCIDRs'}),
                ('0.27.0', {'packed': True}, {'allowedCIDRs'}),
                ('0.23.0', {'packed': True}, {'allowedCidrs'}),
                # That of a checkout says nothing, nor that of another chart.
                ('0.1.0', {}, both), ('main', {}, both),
                ('0.27.0', {'name': 'my-cluster'}, both)):
            self.chart(version, **options)
            self.assertEqual(
                keys, both & self.plan().values['apiServer'].keys())

    def test_chart_here_that_cannot_be_read(self):
        self.labels(api_master_lb_allowed_cidrs='192.0.2.0/24')
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'a.tgz'
        path.write_text('no package')
        for name in (path, '/nowhere/openstack-cluster'):
            self.options['chart_name'] = str(name)
            self.assertEqual(['192.0.2.0/24'], self.plan().values[
                'apiServer']['allowedCidrs'])

    def test_shares_in_a_cloud_without_manila(self):
        self.options['chart_name'] = '/charts/openstack-cluster'
        self.labels(manila_csi_enabled='true', manila_csi_share_type='a')
        e = self.assertRaises(spec.InvalidSpec, self.plan)
        self.assertIn('no Manila', str(e))
        self.cloud.types.add('shared-file-system')
        self.assertTrue(self.plan().values['addons']['openstack'][
            'csiManila']['enabled'])

    def test_overlay_that_the_template_chose(self):
        self.overlay('etcd: {blockDevice: {size: 7}}')
        self.labels(capi_helm_values='small')
        self.assertEqual(7, self.plan().values['etcd']['blockDevice']['size'])

    def test_overlay_of_the_operator_for_all(self):
        self.overlay('addons: {enabled: false}')
        self.options['default_value_overlays'] = ['small']
        self.assertFalse(desired_values.has_addons(self.plan().values))

    def test_overlay_that_nobody_allowed(self):
        self.labels(capi_helm_values='other')
        e = self.assertRaises(errors.UsageError, self.plan)
        self.assertIn('no value overlay "other"', str(e))

    def test_overlay_that_cannot_be_read_is_reported_without_its_path(self):
        self.overlay('a: [')
        self.labels(capi_helm_values='small')
        e = self.assertRaises(errors.UsageError, self.plan)
        self.assertEqual('The value overlay "small" of the operator cannot '
                         'be read', str(e))

    def test_chart_of_a_running_cluster_is_not_judged(self):
        made = self.plan().desired
        self.options = {'chart_version': '0.14.1'}
        self.plan(current=dataclasses.replace(made, chart=charts.Chart(
            'openstack-cluster', 'https://example.org', '0.14.1')))

    def test_flavor_of_masters_is_that_of_their_group_else_the_clusters(self):
        self.w.rows.clusters[small_world.CLUSTER]['master_flavor_id'] = 'm2'
        for flavor, expected in (('m3', 'm3'), (None, 'm2')):
            self.w.rows.groups[small_world.MASTERS]['flavor_id'] = flavor
            self.assertEqual(expected, self.plan().spec.master_flavor)

    def test_name_servers_are_separated_by_commas(self):
        for text, expected in (('192.0.2.1', ('192.0.2.1',)), (None, ()),
                               ('192.0.2.1, 192.0.2.2,',
                                ('192.0.2.1', '192.0.2.2'))):
            self.w.rows.templates[small_world.TEMPLATE][
                'dns_nameserver'] = text
            self.assertEqual(expected, self.plan().spec.dns_nameservers)

    def test_cloud_is_asked_once_for_each_thing(self):
        self.w.add_group()
        self.plan()
        self.assertEqual(1, [path for _, path, *_ in self.cloud.seen].count(
            '/flavors/m1'))

    def test_what_rows_and_options_say_is_in_the_values(self):
        tables = {'cluster': self.w.rows.clusters[small_world.CLUSTER],
                  'workers': self.w.rows.groups[small_world.WORKERS]}
        self.cloud.images['special'] = {'kube_version': 'v1.34.1'}
        for where, field, value, path, expected in (
                (None, None, None, 'controlPlane.machineCount', 1),
                # B.4.18
                (None, None, None, 'addons.openstack.csiCinder',
                 {'enabled': False}),
                # B.4.11
                (None, None, None, 'apiServer.associateFloatingIP', True),
                ('cluster', 'floating_ip_enabled', False,
                 'apiServer.associateFloatingIP', False),
                ('options', 'default_labels', {'monitoring_enabled': 'true'},
                 'addons.monitoring.enabled', True),
                ('workers', 'image_id', 'special', 'group.machineImageId',
                 'special'),
                ('workers', 'status', 'DELETE_IN_PROGRESS', 'group', {})):
            with self.subTest(path, value=value):
                if where:
                    {**tables, 'options': self.options}[where][field] = value
                values = self.plan().values
                # Masters are no node group.
                group, = values['nodeGroups'] or [{}]
                self.assertEqual(expected, merging.get(
                    {**values, 'group': group}, path))

    def test_version_of_the_template(self):
        for options, labels, version in (
                ({'allowed_chart_versions': ['0.25.1', '0.26.0']},
                 {'version': '0.26.0'}, '0.26.0'),
                ({}, {}, '0.27.0'), ({}, {'version': '0.27.0'}, '0.27.0')):
            with self.subTest(labels):
                self.options = options
                self.labels(**{f'capi_helm_chart_{key}': text
                               for key, text in labels.items()})
                chart = self.plan().chart
                self.assertEqual(('openstack-cluster', version),
                                 (chart.name, chart.version))

    def test_version_that_cannot_be_used(self):
        for options, labels, text in (
                # The public repository has builds of pull requests.
                *(({}, {'version': version}, 'Allowed: 0.27.0')
                  for version in ('0.26.0', '0.28.0', '0.27.0-dev.0.main.1',
                                  '0.27.0+1')),
                # One that is too old for a new cluster.
                ({'chart_version': '0.14.1'}, {}, 'can only be kept'),
                (self.options, {'version': '0.27.0'}, 'is a folder')):
            with self.subTest(labels):
                self.options = options
                self.labels(**{f'capi_helm_chart_{key}': text
                               for key, text in labels.items()})
                self.assertIn(text, str(self.assertRaises(
                    errors.UsageError, self.plan)))

    def test_what_the_cloud_does_not_have(self):
        self.w.rows.groups[small_world.WORKERS]['flavor_id'] = None
        e = self.assertRaises(services.NotUsable, self.plan)
        self.assertIn('no flavor', str(e))
        # B.4.16
        self.cloud.images.clear()
        self.assertRaises(services.NotThere, self.plan)
