# SPDX-License-Identifier: Apache-2.0


"""A cluster keeps its chart and values; only an upgrade renews them."""

import base64
import dataclasses
import json
import pathlib

import fixtures
from oslo_utils import uuidutils

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from tests.unit.driver import base
from tests.unit.driver import small_world


OLD = charts.Chart('openstack-cluster', 'https://charts.example', '0.26.1')
NEW = dataclasses.replace(OLD, version='0.27.0')
HOME = '0a1b2c3d-3c2d-4899-b017-d2b06c0ccd9f'


class Base(base.TestCase):

    def setUp(self):
        super().setUp()
        self.configure(chart=OLD)

    def overlay(self, text):
        """An overlay that all clusters get; the operator can change it."""
        path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'overlay.yaml'
        path.write_text(text)
        self.configure(value_overlays={'all': str(path)},
                       default_value_overlays=('all',))
        return path

    def applied(self):
        """Chart and values of the last revision."""
        return self.w.helm.charts[-1], self.w.helm.upgrades[-1]


class ResizeTest(Base):

    def test_chart_stays(self):
        self.created()
        self.configure(chart=NEW)
        self.resize(2)
        self.assertEqual(OLD, self.applied()[0])

    def test_overlay_may_be_removed(self):
        path = self.overlay('etcd: {blockDevice: {size: 7}}')
        self.created()
        path.unlink()
        self.configure(value_overlays={}, default_value_overlays=())
        self.resize(2)
        self.assertEqual(7, self.applied()[1]['etcd']['blockDevice']['size'])

    def test_networks_of_the_management_cluster_are_those_of_now(self):
        # Without them Cluster API reaches the cluster no more.
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = {
            'api_master_lb_allowed_cidrs': '192.0.2.0/24'}
        self.created()
        self.configure(management_cidrs=('198.51.100.0/24',))
        self.resize(2)
        self.assertEqual(
            ['192.0.2.0/24', '198.51.100.0/24'],
            self.applied()[1]['apiServer']['allowedCIDRs'])

    def test_default_labels_stay(self):
        self.configure(default_labels={'auto_healing_enabled': 'true'})
        self.created()
        self.configure(default_labels={'auto_healing_enabled': 'false'})
        self.resize(2)
        self.assertTrue(
            self.applied()[1]['controlPlane']['healthCheck']['enabled'])

    def test_autoscaler_of_a_default_label_stays(self):
        self.w.rows.groups[small_world.WORKERS].update(
            min_node_count=1, max_node_count=5)
        self.configure(default_labels={'auto_scaling_enabled': 'true'})
        self.created()
        self.configure(default_labels={})
        self.w.helm.machines(
            small_world.RELEASE, names.node_group(small_world.WORKERS), 3)
        self.add_group()
        self.check_status(2)

        self.assertEqual(('UPDATE_COMPLETE', 3), (
            self.w.cluster.status, self.w.group().node_count))
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_image_whose_properties_change_stays(self):
        self.created()
        self.w.cloud.images['ubuntu-34'] = {'kube_version': 'v1.34.9'}
        self.resize(2)
        self.assertEqual('1.34.2', self.applied()[1]['kubernetesVersion'])

    def test_folder_that_has_another_chart_now_is_not_applied(self):
        folder = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'sandbox-cluster'
        folder.mkdir()
        (folder / 'Chart.yaml').write_text('version: 1.0.0')
        self.configure(chart=charts.Chart(str(folder)))
        self.created()
        (folder / 'Chart.yaml').write_text('version: 1.0.1')
        e = self.assertRaises(failures.Failed, self.resize, 2)
        self.assertIn('has changed since', str(e))
        self.assertEqual(1, len(self.w.helm.upgrades))


class UpgradeTest(Base):

    def test_cluster_moves(self):
        self.created()
        self.configure(chart=NEW)
        self.upgrade()
        self.assertEqual(NEW, self.applied()[0])
        self.check_status(2)
        self.configure(chart=OLD)
        self.resize(2)
        self.assertEqual(NEW, self.applied()[0])

    def test_upgrade_to_the_present_template_renews_all(self):
        path = self.overlay('etcd: {blockDevice: {size: 7}}')
        self.created()
        self.change_all(path)
        self.upgrade(template=small_world.TEMPLATE)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        chart, values = self.applied()
        self.assertEqual((NEW, 8, False), (
            chart, values['etcd']['blockDevice']['size'],
            values['controlPlane']['healthCheck']['enabled']))

    def test_one_of_which_magnum_has_no_row_renews_nothing(self):
        # The conductor died after it had recorded the upgrade.
        path = self.overlay('etcd: {blockDevice: {size: 7}}')
        self.created()
        self.change_all(path)
        with fixtures.MockPatchObject(
                self.w.store, 'save', side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.request_upgrade,
                              template=small_world.TEMPLATE)
        before = self.applied()
        self.resize(2)
        self.check_status(2)
        chart, values = self.applied()
        self.assertEqual((OLD, 7, 2), (
            chart, values['etcd']['blockDevice']['size'],
            values['nodeGroups'][0]['machineCount']))
        self.assertEqual(before[1]['controlPlane'], values['controlPlane'])

    def change_all(self, path):
        """Change all that the operator decides.

        :param path: of :meth:`overlay`.
        """
        self.configure(chart=NEW, default_labels={
            'auto_healing_enabled': 'false'})
        path.write_text('etcd: {blockDevice: {size: 8}}')

    def assert_stays(self, before, after):
        # "OpenStackCluster...: spec: Forbidden: cannot be modified"
        self.configure(default_labels=before)
        self.created()
        first = self.fixed()
        self.configure(default_labels=after)
        for change in (self.upgrade, lambda: self.resize(2)):
            change()
            self.check_status(2)
            self.assertEqual(first, self.fixed())

    def fixed(self):
        values = self.applied()[1]
        # Of a StorageClass, Kubernetes allows this alone to change.
        addons = values['addons']['openstack']
        storage = {**addons['csiCinder'].get(
            'defaultStorageClass', {}), 'allowVolumeExpansion': None}
        return (values['apiServer'], values['clusterNetworking'], storage,
                addons.get('csiManila'))

    def test_label_of_what_no_cluster_can_change_does_not_come(self):
        self.assert_stays({}, {'octavia_provider': 'ovn',
                               'fixed_subnet_cidr': '10.1.0.0/24'})

    def test_labels_of_storage_classes_stay(self):
        # "updates to parameters are forbidden": their addon would fail.
        self.w.cloud.types.add('block-storage')
        self.assert_stays({'csi_cinder_reclaim_policy': 'Delete'}, {
            'csi_cinder_reclaim_policy': 'Retain',
            'csi_cinder_availability_zone': 'two', 'csi_cinder_fstype': 'xfs',
            'csi_cinder_volume_binding_mode': 'Immediate',
            'csi_cinder_allow_volume_expansion': 'false'})

    def test_labels_of_the_storage_class_of_shares_stay(self):
        self.w.cloud.types.add('shared-file-system')
        before = {'manila_csi_enabled': 'true', 'manila_csi_share_type': 'a'}
        self.assert_stays(before, {
            **before, 'manila_csi_share_type': 'b',
            'manila_csi_share_protocol': 'CEPHFS',
            'manila_csi_share_network_id': uuidutils.generate_uuid()})

    def test_labels_of_the_new_template_change_no_network(self):
        self.created()
        self.w.rows.templates[small_world.NEWER]['labels'] = {
            'fixed_subnet_cidr': '10.9.0.0/24', 'octavia_provider': 'ovn',
            'service_cluster_ip_range': '10.8.0.0/16'}
        first = self.fixed()
        self.upgrade()
        self.assertEqual(first, self.fixed())
        self.assertNotIn('kubeNetwork', self.applied()[1])

    def test_shares_can_come_later(self):
        self.w.cloud.types.add('shared-file-system')
        self.created()
        self.configure(default_labels={
            'manila_csi_enabled': 'true', 'manila_csi_share_type': 'a'})
        self.upgrade()
        addons = self.applied()[1]['addons']['openstack']
        self.assertEqual({'type': 'a'}, addons['csiManila'][
            'defaultStorageClass']['parameters'])

    def test_label_of_what_no_cluster_can_change_does_not_go(self):
        self.assert_stays({'octavia_provider': 'ovn',
                           'fixed_subnet_cidr': '10.1.0.0/24'}, {})

    def test_upgrade_of_one_node_group_moves_no_cluster(self):
        # Magnum allows it to the present template only. All nodes of the
        # cluster would be replaced, and not in order.
        path = self.overlay('etcd: {blockDevice: {size: 7}}')
        self.w.cloud.images['special'] = {'kube_version': 'v1.34.1'}
        self.w.add_group(image_id='special')
        self.created()
        before = self.applied()[1]
        self.change_all(path)

        self.request_upgrade(small_world.TEMPLATE, small_world.OTHERS)
        self.check_status(4)

        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        chart, values = self.applied()
        self.assertEqual(OLD, chart)
        self.assertEqual(('special', None), tuple(
            self.others(found).get('machineImageId')
            for found in (before, values)))
        for found in (before, values):
            found['nodeGroups'].remove(self.others(found))
        self.assertEqual(before, values)

    def test_group_whose_new_nodes_could_not_join(self):
        # kubeadm joins only the minor release of the control plane; Cluster
        # API would delete a node and make no other.
        self.w.cloud.images['special'] = {'kube_version': 'v1.34.1'}
        self.w.add_group(image_id='special')
        self.created()
        self.configure(chart=NEW)
        self.w.helm.own['0.27.0'] = {'workers': 'two'}
        before = self.w.cluster

        e = self.assertRaises(failures.NotViable, self.upgrade)

        self.assertIn('can only join with the same minor', str(e))
        self.assertEqual((before, 1),
                         (self.w.cluster, len(self.w.helm.upgrades)))
        del self.w.helm.own['0.27.0']
        self.upgrade()
        self.check_status(4)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    @staticmethod
    def others(values):
        name = names.node_group(small_world.OTHERS)
        group, = [group for group in values['nodeGroups']
                  if group['name'] == name]
        return group

    def test_failure_leaves_the_chart(self):
        self.created()
        self.configure(chart=NEW)
        with self.w.helm.refusing():
            self.upgrade()
        self.resize(2)
        self.assertEqual(OLD, self.applied()[0])


class ResumedTest(Base):
    """A request that was lost is resumed without its user's token."""

    def setUp(self):
        super().setUp()
        self.networks(HOME)
        self.w.rows.clusters[small_world.CLUSTER][
            'fixed_network'] = 'private'
        self.created()

    def networks(self, *ids):
        """Networks of one name."""
        self.w.cloud.types.add('network')
        self.w.cloud.answers['GET', '/networks'] = 200, {'networks': [
            {'id': made, 'name': 'private', 'router:external': False}
            for made in ids]}
        self.w.cloud.answers['GET', '/subnets'] = 200, {
            'subnets': [{'id': 'one', 'ip_version': 4}]}

    def test_ids_are_those_that_the_user_saw(self):
        def slow():
            raise helm_errors.HelmDisturbed('too slow', reason='timeout')
        self.w.helm.before = slow
        self.resize(2)
        self.w.helm.before = lambda: None
        # Magnum's own user sees the networks of all projects.
        self.networks(HOME, HOME.replace('0a1b2c3d', 'ffffffff'))
        self.check_status(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual({'id': HOME}, self.applied()[1][
            'clusterNetworking']['internalNetwork']['networkFilter'])


class LostMemoryTest(Base):
    """Its Secret has been lost, or does not say what it was made of."""

    def test_chart_is_the_one_of_its_helm_release(self):
        self.created()
        self.forget_values()
        self.w.helm.record(1, None, chart=OLD, values=self.applied()[1])
        self.configure(chart=NEW)
        self.resize(2)
        self.assertEqual(OLD, self.applied()[0])

    def test_resumed_request_that_fails_keeps_what_it_wrote(self):
        self.created()
        self.forget_values()
        self.fail_at('busy', 'GET /image')
        self.resize(2)
        self.w.doors.clear()

        def refuse():
            raise helm_errors.HelmFailed('helm failed', reason='refused')
        self.w.helm.before = refuse
        self.check_status(2)

        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assertIsNotNone(self.state()['kept'])

    def state(self):
        data = self.api.objects[
            f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
            f'{small_world.RELEASE}-magnum']['data']
        return json.loads(base64.b64decode(data['state.json']))

    def forget_values(self):
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{small_world.RELEASE}-magnum')
        data = self.api.objects[path]['data']
        state = json.loads(base64.b64decode(data['state.json']))
        state['kept'] = None
        data['state.json'] = base64.b64encode(
            json.dumps(state).encode()).decode()
