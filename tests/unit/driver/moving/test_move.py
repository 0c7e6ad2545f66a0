# SPDX-License-Identifier: Apache-2.0

"""An operator moves a cluster, and nobody else does."""

import dataclasses

from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import rotation
from magnum_capi.driver.moving import move
from magnum_capi import errors
from magnum_capi.kube import lock
from tests.unit.driver.operations import test_pins
from tests.unit.driver import small_world


OLD, NEW = test_pins.OLD, test_pins.NEW
WORKERS = names.node_group(small_world.WORKERS)


class Base(test_pins.Base):

    def setUp(self):
        super().setUp()
        self.configure(allowed_chart_versions=('0.26.1', '0.27.0'))
        self.created()
        self.configure(chart=NEW)
        self.shown = []

    def move(self, version=None):
        # Magnum itself: no user's token.
        self.w.store.user = rotation.User()
        return move.Move(self.w.runtime, self.w.store, self.w.store.row(),
                         version)

    def run_it(self, version=None):
        return self.move(version).run(self.shown.append)

    def state(self):
        return self.operations()._reconciler.vault.state()

    def remembered(self):
        return self.state().pins.chart.version

    def fails(self, error):
        def fail():
            raise error
        self.w.helm.before = fail

    def assert_unchanged(self):
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual('0.26.1', self.remembered())


class PreviewTest(Base):

    def test_changes_nothing(self):
        before = (dict(self.api.objects), self.w.cluster)
        self.assertIsNotNone(self.move().preview())
        self.assertEqual(before, (self.api.objects, self.w.cluster))
        self.assert_unchanged()

    def test_of_what_is_as_the_options_say(self):
        self.configure(chart=OLD)
        self.assertIsNone(self.move().preview())
        self.assertFalse(self.run_it())
        self.assertEqual((0, 'CREATE_COMPLETE'), (
            self.w.helm.previews, self.w.cluster.status))

    def test_difference(self):
        found = self.move().preview().difference
        plane = f'KubeadmControlPlane/{small_world.RELEASE}-control-plane'
        self.assertIn(f'--- {plane}\n+++ {plane}\n', found)
        self.assertIn('-    chart: 0.26.1\n+    chart: 0.27.0', found)

    def test_secrets_are_not_shown(self):
        found = self.move().preview().difference
        self.assertNotIn('geheim', found)
        self.assertIn('-  values: <hidden, as now>', found)
        self.assertIn('+  values: <hidden, another one>', found)

    def test_nobody_is_replaced_by_another_label(self):
        found = self.move().preview().rollouts
        self.assertEqual(
            {'control plane': False, 'node group default-worker': False},
            {name: one.replaced for name, one in found.items()})

    def test_who_is_replaced_and_why(self):
        self.w.helm.own['0.27.0'] = {'plane': '/etc/two'}
        found = self.move().preview().rollouts
        self.assertEqual((True, ('kubeadmConfigSpec.files',)), (
            found['control plane'].replaced, found['control plane'].reasons))
        self.assertFalse(found['node group default-worker'].replaced)

    def test_operation_that_is_going_on(self):
        for status, why in (('UPDATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS'),
                            ('CREATE_FAILED', 'creation failed'),
                            ('DELETE_FAILED', 'deleted')):
            self.w.store.clusters[small_world.CLUSTER]['status'] = status
            for call in (self.move().preview, self.run_it):
                self.assertIn(why, str(self.assertRaises(
                    move.Refused, call)))
            self.assertEqual(status, self.w.cluster.status)
        self.assert_unchanged()

    def test_deletion_whose_status_was_written_over(self):
        # See rows.is_deletion_requested.
        self.w.store.node_groups[small_world.MASTERS][
            'status'] = 'DELETE_IN_PROGRESS'
        self.assertRaises(move.Refused, self.run_it)

    def test_cluster_of_another_driver(self):
        self.w.store.clusters[small_world.CLUSTER]['stack_id'] = 'heat'
        for call in (self.move().preview, self.run_it):
            self.assertIn('Another driver', str(
                self.assertRaises(errors.UsageError, call)))

    def test_version_that_is_not_allowed(self):
        e = self.assertRaises(errors.UsageError,
                              self.move('0.28.0').preview)
        self.assertIn('0.28.0', str(e))
        self.assertIn('Allowed: 0.27.0, 0.26.1', str(e))

    def test_template_that_names_a_version(self):
        self.w.store.templates[small_world.TEMPLATE]['labels'] = {
            'capi_helm_chart_version': '0.26.1'}
        self.assertIsNone(self.move().preview())
        self.assertEqual('0.27.0', self.move(
            '0.27.0').preview().plan.chart.version)


class MoveTest(Base):

    def test_cluster_moves(self):
        self.assertTrue(self.run_it())
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual([NEW], self.w.helm.charts[1:])
        self.assertEqual('0.27.0', self.shown[0].plan.chart.version)
        self.look(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual(2, len(self.w.helm.upgrades))
        self.assertEqual(('0.27.0', None), (
            self.remembered(), self.state().before))

    def test_group_whose_new_nodes_could_not_join(self):
        # kubeadm joins only the minor release of the control plane; Cluster
        # API would delete a node and make no other.
        self.configure(chart=OLD)
        self.w.cloud.images['special'] = ('v1.34.1', 'ubuntu')
        self.w.store.add_group(image_id='special')
        self.operations().change(group=self.w.store.row(small_world.OTHERS))
        self.look(2)
        self.upgrade()
        self.look(4)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        before = len(self.w.helm.upgrades)
        self.configure(chart=NEW)
        self.w.helm.own['0.27.0'] = {'workers': 'two'}
        for look in (self.move().preview, self.run_it):
            e = self.assertRaises(move.Refused, look)
            self.assertIn('can only join with the same minor', str(e))
        self.assertEqual((before, 'UPDATE_COMPLETE'), (
            len(self.w.helm.upgrades), self.w.cluster.status))
        del self.w.helm.own['0.27.0']
        self.assertTrue(self.run_it())

    def test_what_comes_after_keeps_to_it(self):
        self.run_it()
        self.look(2)
        self.configure(chart=OLD)
        self.resize(2)
        self.assertEqual(NEW, self.applied()[0])

    def test_and_back(self):
        self.run_it()
        self.look(2)
        self.run_it('0.26.1')
        self.assertEqual(OLD, self.applied()[0])

    def test_second_move_has_nothing_to_do(self):
        self.run_it()
        self.look(2)
        self.assertFalse(self.run_it())
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_overlays_and_default_labels_move(self):
        self.overlay('etcd: {blockDevice: {size: 7}}')
        self.configure(default_labels={'auto_healing_enabled': 'false'})
        self.run_it()
        values = self.applied()[1]
        self.assertEqual(7, values['etcd']['blockDevice']['size'])
        self.assertFalse(values['controlPlane']['healthCheck']['enabled'])

    def test_default_labels_of_what_cannot_change_do_not_move(self):
        self.configure(chart=OLD, default_labels={
            'octavia_provider': 'ovn'})
        self.assertIsNone(self.move().preview())
        self.configure(chart=NEW)
        self.run_it()
        self.assertEqual('amphora', self.applied()[1]['apiServer'][
            'loadBalancerProvider'])
        self.look(2)
        self.assertFalse(self.run_it())

    def test_overlay_alone_moves(self):
        self.configure(chart=OLD)
        self.overlay('etcd: {blockDevice: {size: 7}}')
        self.assertTrue(self.run_it())
        self.assertEqual(OLD, self.applied()[0])

    def test_kubernetes_stays(self):
        self.w.cloud.images['ubuntu-34'] = ('v1.34.9', 'ubuntu')
        self.run_it()
        self.assertEqual('1.34.2', self.applied()[1]['kubernetesVersion'])

    def test_credential_stays(self):
        self.run_it()
        self.look(2)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_nodes_that_are_replaced_go_in_order(self):
        self.w.helm.own['0.27.0'] = {'plane': '/etc/two', 'workers': 'two'}
        self.run_it()
        first = self.applied()[1]['nodeGroups'][0]
        self.assertEqual({'type': 'OnDelete'}, first['rolloutStrategy'])
        self.assertEqual('ubuntu-34', first['machineImageId'])

        self.look(4)

        self.assertEqual(3, len(self.w.helm.upgrades))
        last = self.applied()[1]['nodeGroups'][0]
        self.assertNotEqual({'type': 'OnDelete'},
                            last.get('rolloutStrategy'))
        self.assertNotIn('machineImageId', last)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_nodes_that_stay_wait_for_nobody(self):
        self.w.helm.own['0.27.0'] = {'plane': '/etc/two'}
        self.run_it()
        self.assertNotIn('machineImageId',
                         self.applied()[1]['nodeGroups'][0])

    def test_cluster_that_failed_can_be_moved(self):
        self.w.store.clusters[small_world.CLUSTER][
            'status'] = 'UPDATE_FAILED'
        self.assertTrue(self.run_it())

    def test_older_cluster_is_remembered_from_now_on(self):
        self.forget_pins()
        self.configure(chart=OLD)
        self.assertTrue(self.run_it())
        self.assertEqual('0.26.1', self.remembered())

    def forget_pins(self):
        vault = self.operations()._reconciler.vault
        vault.write_state(dataclasses.replace(vault.state(), pins=None))


class AmongOthersTest(Base):

    def test_lock_of_somebody_else(self):
        reconciler = self.operations()._reconciler
        with reconciler.held(0):
            self.assertRaises(lock.LockBusy, self.run_it)
        self.assert_unchanged()

    def test_request_that_came_first(self):
        one = self.move()
        self.resize(2)
        self.assertRaises(move.Refused, one.run, self.shown.append)
        self.assertEqual(OLD, self.applied()[0])

    def test_request_that_comes_after_goes_on_with_the_new_chart(self):
        self.run_it()
        self.resize(2)
        self.look(2)
        self.assertEqual((NEW, 2), (
            self.applied()[0],
            self.applied()[1]['nodeGroups'][0]['machineCount']))

    def test_deletion_meanwhile(self):
        one = self.move()

        def delete(preview):
            self.w.store.clusters[small_world.CLUSTER][
                'status'] = 'DELETE_IN_PROGRESS'
        self.assertRaises(failures.ClusterGone, one.run, delete)
        self.assert_unchanged()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)


class FailureTest(Base):

    def test_helm_refuses(self):
        self.fails(helm_errors.ChartRefused('bad', reason='no such value'))
        e = self.assertRaises(failures.Failed, self.run_it)
        self.assertIn('no such value', str(e))
        self.assertEqual(('UPDATE_FAILED', 'no such value'), (
            self.w.cluster.status, self.w.cluster.status_reason))
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)
        self.assert_unchanged()
        self.w.helm.before = lambda: None
        self.resize(2)
        self.assertEqual(OLD, self.applied()[0])

    def test_what_passes_is_tried_again_by_a_conductor(self):
        self.fails(helm_errors.HelmTimeout('slow', reason='timeout'))
        self.assertRaises(move.Pending, self.run_it)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.w.helm.before = lambda: None
        self.look(3)
        self.assertEqual([NEW], self.w.helm.charts[1:])
        self.assertEqual(('UPDATE_COMPLETE', '0.27.0', None), (
            self.w.cluster.status, self.remembered(), self.state().before))

    def test_process_that_dies_before_helm(self):
        self.fails(KeyboardInterrupt())
        self.assertRaises(KeyboardInterrupt, self.run_it)
        self.w.helm.before = lambda: None
        self.assertEqual('0.26.1', self.move().standing().version)
        self.look(3)
        self.assertEqual([NEW], self.w.helm.charts[1:])
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual('0.27.0', self.move().standing().version)

    def test_process_that_dies_before_anything_is_remembered(self):
        def die(*args):
            raise KeyboardInterrupt()
        one = self.move()
        one._reconciler.vault.write_state = die
        self.assertRaises(KeyboardInterrupt, one.run, self.shown.append)
        self.look(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assert_unchanged()

    def test_process_that_dies_after_helm(self):
        one = self.move()

        def die(state):
            raise KeyboardInterrupt()
        one._reconciler.record_move_applied = die
        self.assertRaises(KeyboardInterrupt, one.run, self.shown.append)
        self.look(2)
        self.assertEqual(('UPDATE_COMPLETE', '0.27.0', None), (
            self.w.cluster.status, self.remembered(), self.state().before))
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_resumed_move_that_helm_refuses(self):
        self.fails(helm_errors.HelmTimeout('slow', reason='timeout'))
        self.assertRaises(move.Pending, self.run_it)
        self.fails(helm_errors.ChartRefused('bad', reason='no such value'))
        self.look(3)
        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assert_unchanged()

    def test_request_of_a_user_that_helm_refuses_meanwhile(self):
        self.fails(helm_errors.HelmTimeout('slow', reason='timeout'))
        self.assertRaises(move.Pending, self.run_it)
        self.fails(helm_errors.ChartRefused('bad', reason='no such value'))
        self.assertRaises(failures.Failed, self.resize, 2)
        self.assert_unchanged()
