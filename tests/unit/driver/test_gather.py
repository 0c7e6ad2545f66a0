# SPDX-License-Identifier: Apache-2.0


import dataclasses
import pathlib

import fixtures
from oslo_config import cfg
from oslo_config import fixture as config_fixture
import testtools

from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import kept
from magnum_capi.driver.desired import rows
from magnum_capi.driver.desired import spec
from magnum_capi.driver import gather
from magnum_capi import errors
from tests.unit.driver import small_world


class Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = small_world.Cloud()
        self.store = small_world.Store(self.cloud)
        self.options = {'chart_name': '/charts/sandbox-cluster'}

    def labels(self, **labels):
        """Labels of the template, which Magnum copies into the cluster."""
        self.store.templates[small_world.TEMPLATE]['labels'] = labels
        self.store.clusters[small_world.CLUSTER]['labels'] = labels

    def plan(self, **kwargs):
        conf = cfg.ConfigOpts()
        conf.register_opts(config.OPTIONS, group='k8s_capi')
        self.useFixture(config_fixture.Config(conf)).config(
            group='k8s_capi', **self.options)
        cluster = self.store.row()
        return gather.plan(
            rows.Rows(cluster, self.store.groups(cluster),
                      self.store.template(small_world.TEMPLATE)),
            self.cloud, config.Options.read(conf), **kwargs)


class PlanTest(Base):

    def overlay(self, text):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'o'
        path.write_text(text)
        self.options['value_overlays'] = {'small': str(path)}

    def test_masters_are_no_node_group(self):
        values = self.plan().values
        self.assertEqual(1, len(values['nodeGroups']))
        self.assertEqual(1, values['controlPlane']['machineCount'])

    def test_networks_of_the_management_cluster(self):
        self.options['management_cidrs'] = ['198.51.100.0/24']
        self.labels(api_master_lb_allowed_cidrs='192.0.2.0/24')
        self.assertEqual(
            ['192.0.2.0/24', '198.51.100.0/24'],
            self.plan().values['apiServer']['allowedCIDRs'])

    def test_shares_in_a_cloud_without_manila(self):
        self.options['chart_name'] = '/charts/openstack-cluster'
        self.labels(manila_csi_enabled='true', manila_csi_share_type='a')
        e = self.assertRaises(spec.InvalidSpec, self.plan)
        self.assertIn('no Manila', str(e))
        self.cloud.has = lambda service: service in (
            'identity', 'shared-file-system')
        self.assertTrue(self.plan().values['addons']['openstack'][
            'csiManila']['enabled'])

    def test_overlay_that_the_template_chose(self):
        self.overlay('etcd: {blockDevice: {size: 7}}')
        self.labels(capi_helm_values='small')
        self.assertEqual(7, self.plan().values['etcd']['blockDevice']['size'])

    def test_overlay_of_the_operator_for_all(self):
        self.overlay('addons: {enabled: false}')
        self.options['default_value_overlays'] = ['small']
        self.assertFalse(kept.has_addons(self.plan().values))

    def test_overlay_that_nobody_allowed(self):
        self.labels(capi_helm_values='other')
        e = self.assertRaises(errors.UsageError, self.plan)
        self.assertIn('no value overlay "other"', str(e))

    def test_overlay_that_cannot_be_read_is_told_without_its_path(self):
        self.overlay('a: [')
        self.labels(capi_helm_values='small')
        e = self.assertRaises(errors.UsageError, self.plan)
        self.assertEqual('The value overlay "small" of the operator cannot '
                         'be read', str(e))

    def test_version_of_a_chart_that_is_a_folder(self):
        self.labels(capi_helm_chart_version='0.27.0')
        self.assertIn('is a folder', str(
            self.assertRaises(spec.InvalidSpec, self.plan)))

    def test_version_of_the_template(self):
        self.options = {'allowed_chart_versions': ['0.25.1', '0.26.0']}
        self.labels(capi_helm_chart_version='0.26.0')
        chart = self.plan().chart
        self.assertEqual(('openstack-cluster', '0.26.0'),
                         (chart.name, chart.version))
        self.labels()
        self.assertEqual('0.27.0', self.plan().chart.version)

    def test_version_that_the_operator_does_not_allow(self):
        # The public repository has builds of pull requests.
        self.options = {}
        for version in ('0.26.0', '0.28.0', '0.27.0-dev.0.main.1',
                        '0.27.0+1'):
            with self.subTest(version):
                self.labels(capi_helm_chart_version=version)
                e = self.assertRaises(errors.UsageError, self.plan)
                self.assertIn(f'version {version} ', str(e))
                self.assertIn('Allowed: 0.27.0', str(e))

    def test_version_that_the_operator_pinned_for_another_chart(self):
        self.options = {'extra_charts': {
            'old': config.Chart('openstack-cluster', version='0.26.1')}}
        self.labels(capi_helm_chart_name='old',
                    capi_helm_chart_version='0.27.0')
        self.assertIn('Allowed: 0.26.1', str(
            self.assertRaises(errors.UsageError, self.plan)))

    def test_version_that_is_the_operators_own(self):
        self.options = {'extra_charts': {
            'old': config.Chart('openstack-cluster', version='0.26.1')}}
        self.labels(capi_helm_chart_version='0.27.0')
        self.assertEqual('0.27.0', self.plan().chart.version)
        self.labels(capi_helm_chart_name='old',
                    capi_helm_chart_version='0.26.1')
        self.assertEqual('0.26.1', self.plan().chart.version)

    def test_version_that_does_not_fit_the_image(self):
        self.options = {'chart_version': '0.14.1'}
        e = self.assertRaises(spec.InvalidSpec, self.plan)
        self.assertIn('Kubernetes 1.34', str(e))

    def test_chart_of_a_running_cluster_is_not_judged(self):
        made = self.plan().kept
        self.options = {'chart_version': '0.14.1'}
        self.plan(kept=dataclasses.replace(made, chart=kept.ChartPin(
            'openstack-cluster', 'https://example.org', '0.14.1')))

    def test_label_kube_tag_that_differs_from_the_image(self):
        # E6
        self.labels(kube_tag='v1.33.0')
        e = self.assertRaises(spec.InvalidSpec, self.plan)
        self.assertIn('v1.33.0', str(e))
        self.assertIn('v1.34.2', str(e))

    def test_image_that_is_gone(self):
        # B.4.16
        self.cloud.images.clear()
        self.assertRaises(services.NotThere, self.plan)

    def test_node_without_a_flavor_is_told(self):
        self.store.node_groups[small_world.WORKERS]['flavor_id'] = None
        e = self.assertRaises(services.NotUsable, self.plan)
        self.assertEqual('There is no flavor for the nodes', str(e))

    def test_flavor_of_masters_is_that_of_their_group_else_the_clusters(self):
        self.store.clusters[small_world.CLUSTER]['master_flavor_id'] = 'm2'
        for flavor, expected in (('m3', 'm3'), (None, 'm2')):
            self.store.node_groups[small_world.MASTERS]['flavor_id'] = flavor
            self.assertEqual(expected, self.plan().spec.master_flavor)

    def test_name_servers_are_separated_by_commas(self):
        for text, expected in (('192.0.2.1', ('192.0.2.1',)), (None, ()),
                               ('192.0.2.1, 192.0.2.2,',
                                ('192.0.2.1', '192.0.2.2'))):
            self.store.templates[small_world.TEMPLATE][
                'dns_nameserver'] = text
            self.assertEqual(expected, self.plan().spec.dns_nameservers)

    def test_cloud_is_asked_once_for_each_thing(self):
        self.store.add_group()
        asked, flavor = [], self.cloud.usable_flavor

        def noted(reference, **kwargs):
            asked.append(reference)
            return flavor(reference, **kwargs)
        self.cloud.usable_flavor = noted
        self.plan()
        self.assertEqual(['m1'], asked)

    def test_floating_ip_of_the_cluster(self):
        # B.4.11
        self.assertTrue(self.plan().values['apiServer'][
            'associateFloatingIP'])
        self.store.clusters[small_world.CLUSTER].update(
            floating_ip_enabled=False)
        self.assertFalse(self.plan().values['apiServer'][
            'associateFloatingIP'])

    def test_image_of_a_node_group(self):
        self.cloud.images['special'] = ('v1.34.1', 'ubuntu')
        self.store.node_groups[small_world.WORKERS]['image_id'] = 'special'
        group = self.plan().values['nodeGroups'][0]
        self.assertEqual('special', group['machineImageId'])

    def test_group_that_goes_is_left_out(self):
        self.store.node_groups[small_world.WORKERS]['status'] = (
            'DELETE_IN_PROGRESS')
        self.assertEqual([], self.plan().values['nodeGroups'])

    def test_no_block_storage(self):
        # B.4.18
        self.assertEqual({'enabled': False}, self.plan().values['addons'][
            'openstack']['csiCinder'])

    def test_defaults_of_the_operator(self):
        self.options['default_labels'] = {'monitoring_enabled': 'true'}
        self.assertTrue(self.plan().values['addons']['monitoring']['enabled'])
