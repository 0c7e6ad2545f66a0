# SPDX-License-Identifier: Apache-2.0

"""Resizes and node groups that come and go."""

import dataclasses

import fixtures

from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from tests.unit.driver import base
from tests.unit.driver import small_world


class ChangeTest(base.TestCase):

    def test_image_may_have_gone_from_glance(self):
        # Nodes have it, and the record of the cluster says what it is.
        self.created()
        self.w.cloud.images.clear()
        self.resize(2)
        self.check_status()
        self.assertEqual(
            ('UPDATE_COMPLETE', 2),
            (self.w.cluster.status, self.w.group().node_count))

    def test_cluster_that_is_being_created_still_is(self):
        self.create()
        self.resize(2)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def test_latest_rows_count(self):
        # In-memory facts, fault 4: quick resizes.
        self.created()
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 5
        stale = self.w.row(small_world.WORKERS)
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 2
        self.operations().change(group=stale)
        self.assertEqual(2, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCount'])

    def test_the_last_of_several_resizes_wins(self):
        # Those that wait for the lock get it in any order.
        self.created()
        earlier = self.w.row(small_world.WORKERS)
        earlier.node_count = 1
        self.w.store.save(earlier)

        self.resize(3)
        self.operations().change(group=earlier, resize=True)

        self.assertEqual(3, self.w.group().node_count)
        self.assertEqual(3, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCount'])

    def test_attribute_that_only_creations_refuse_is_in_no_ones_way(self):
        self.created()
        self.w.rows.clusters[small_world.CLUSTER]['docker_volume_size'] = 5
        self.resize(2)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_busy_lock_leaves_it_to_the_status(self):
        self.created()
        reconciler = self.reconciler()
        with reconciler.locked(0):
            self.resize(3)
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(3, self.w.helm.upgrades[-1]['nodeGroups'][0][
            'machineCount'])

    def test_refused_group_is_not_in_the_way_of_others(self):
        self.created()
        self.w.add_group(flavor_id='tiny')
        group = self.w.row(small_world.OTHERS)
        e = self.assertRaises(failures.Failed, self.operations().change,
                              group, group=group)
        self.assertIn('too small', str(e))
        self.w.rows.groups[small_world.OTHERS]['status'] = (
            'CREATE_FAILED')
        self.resize(2)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_removed_group_goes_from_the_chart_and_then_from_magnum(self):
        self.created()
        self.add_group()
        self.check_status()
        self.assertEqual('CREATE_COMPLETE',
                         self.w.group(small_world.OTHERS).status)
        group = self.w.row(small_world.OTHERS)
        group.status = 'DELETE_IN_PROGRESS'
        self.operations().change(group)
        self.assertEqual('DELETE_IN_PROGRESS',
                         self.w.group(small_world.OTHERS).status)
        self.assertEqual(1, len(self.w.helm.upgrades[-1]['nodeGroups']))
        self.check_status()
        self.assertNotIn(small_world.OTHERS, self.w.rows.groups)

    def test_unknown_node_is_refused(self):
        self.created()
        e = self.assertRaises(failures.Failed, self.resize, 0,
                              remove=('nobody',))
        self.assertEqual('node nobody is not in the node group '
                         'default-worker', str(e))
        self.assertEqual(1, len(self.w.helm.upgrades))

    def test_stuck_release_is_repaired(self):
        # B.4.7: "another operation is in progress".
        self.created()
        self.w.helm.record(2, None, 'pending-upgrade')
        self.api.date += 1000
        self.resize(2)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertIn('Repaired', self.logger.output)


class GroupBehindTest(base.TestCase):
    """A node group with its own image keeps it in an upgrade."""

    def setUp(self):
        super().setUp()
        self.w.cloud.images['special'] = {'kube_version': 'v1.34.2'}
        self.w.add_group(image_id='special', node_count=3)
        self.created()
        self.request_upgrade()
        self.check_status(4)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)

    def test_it_can_lose_nodes(self):
        for count in (1, 1, 0):
            self.resize(count, small_world.OTHERS)
            self.check_status()
            self.assertEqual(('UPDATE_COMPLETE', count), (
                self.w.cluster.status, self.w.helm.replicas(
                    small_world.RELEASE,
                    names.node_group(small_world.OTHERS))))

    def test_it_gets_none(self):
        e = self.assertRaises(
            failures.Failed, self.resize, 4, small_world.OTHERS)
        self.assertIn('nodes can only join with the same minor', str(e))


class LockLostTest(base.TestCase):

    def test_who_lost_it_while_helm_ran_writes_nothing(self):
        self.created()
        self.w.add_group()
        group = self.w.row(small_world.OTHERS)
        ours = self.operations()
        secrets = ours._reconciler.secrets

        def other():
            ours._reconciler.lock._lost = 'it is held by another conductor'
            secrets.write_state(dataclasses.replace(
                secrets.state(), marked=('theirs',)))
        self.w.helm.before = other
        ours.change(group, group=group)
        self.assertEqual(('theirs',), secrets.state().marked)
        self.assertIn('Will be tried again', self.w.cluster.status_reason)


class UnknownToHelmTest(base.TestCase):
    """Helm's Secrets are not there, as after "clusterctl move"."""

    def written(self):
        """Kinds that were written by the driver itself."""
        return {path.split('/')[-2] for method, path, *_ in self.api.seen
                if method == 'PATCH' and '/secrets/' not in path}

    def forget(self):
        for path in [path for path in self.api.objects if 'sh.helm' in path]:
            del self.api.objects[path]

    def test_what_helm_takes_for_its_own_is_written_over(self):
        self.created()
        self.assertEqual(set(), self.written())
        self.forget()
        manifest = self.w.helm.manifest
        # With a template that renders nothing.
        self.w.helm.manifest = lambda *args: f'---\n---\n{manifest(*args)}'
        self.resize(2)
        self.assertEqual({'kubeadmcontrolplanes', 'machinedeployments'},
                         self.written())
        self.assertIn('Helm had no record', self.logger.output)
        # Other kinds Helm compares itself.
        self.assertNotIn('addons', self.w.secrets())

    def test_whoever_dies_before_that_is_followed(self):
        self.created()
        self.forget()
        with fixtures.MonkeyPatch(
                'magnum_capi.kube.client.Kube.apply', self.die):
            self.assertRaises(SystemExit, self.resize, 2)
        self.assertEqual(set(), self.written())
        self.resize(2)
        self.assertEqual({'kubeadmcontrolplanes', 'machinedeployments'},
                         self.written())
        self.resize(3)
        # By who died, and by who followed.
        self.assertEqual(2, self.logger.output.count('Helm had no record'))

    @staticmethod
    def die(*_):
        raise SystemExit

    def test_new_cluster_is_helms_alone(self):
        self.created()
        self.resize(2)
        self.assertEqual(set(), self.written())


class HalfDoneTest(base.TestCase):
    """Helm has changed something when it fails or is killed.

    It compares its next manifest with the last one that is deployed, which
    says nothing of that.
    """

    def fail(self):
        self.w.helm.after = self.refused
        return lambda call, *args: self.assertRaises(
            failures.Failed, call, *args)

    def die(self):
        self.w.helm.after = self.killed

        def do(call, *args):
            self.assertRaises(SystemExit, call, *args)
            self.api.date += 1000
        return do

    @staticmethod
    def refused():
        raise helm_errors.HelmFailed('failed', reason='no')

    @staticmethod
    def killed():
        raise SystemExit

    def replicas(self, uuid=small_world.WORKERS):
        return self.w.helm.replicas(
            small_world.RELEASE, names.node_group(uuid))

    def half(self, how, call, *args):
        how()(call, *args)
        self.w.helm.after = lambda: None

    def assert_resized(self, size):
        """Back to a size, which Cluster API then sees to."""
        self.resize(size)
        self.assertEqual(size, self.replicas())
        self.w.helm.machines(small_world.RELEASE, names.node_group(
            small_world.WORKERS), size)
        self.check_status(2)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)

    def test_former_size(self):
        self.created()
        for how in (self.fail, self.die):
            self.half(how, self.resize, 3)
            self.assertEqual(3, self.replicas())
            self.assert_resized(1)

    def test_once_it_is_undone_helm_is_alone_again(self):
        self.created()
        self.half(self.fail, self.resize, 3)
        self.resize(1)
        self.resize(2)
        self.assertEqual(1, self.logger.output.count('Helm had no record'))

    def test_whoever_dies_after_the_repair_is_followed(self):
        self.created()
        self.half(self.die, self.resize, 3)
        self.w.helm.before = self.killed
        self.assertRaises(SystemExit, self.resize, 1)
        self.w.helm.before = lambda: None
        self.assert_resized(1)

    def test_whoever_dies_after_the_next_helm_is_followed(self):
        self.created()
        self.half(self.fail, self.resize, 3)
        with fixtures.MonkeyPatch(
                'magnum_capi.driver.helm_release.HelmRelease._write_over',
                lambda *_: self.killed()):
            self.assertRaises(SystemExit, self.resize, 1)
        self.assert_resized(1)

    def add_group(self, how):
        self.w.add_group(node_count=3)
        group = self.w.row(small_world.OTHERS)
        self.half(how, lambda: self.operations().change(group, group=group))
        self.w.rows.groups[small_world.OTHERS]['status'] = (
            'CREATE_FAILED')
        self.assertEqual(3, self.replicas(small_world.OTHERS))

    def test_node_group_that_is_there_already(self):
        self.created()
        self.add_group(self.fail)
        self.resize(1, small_world.OTHERS)
        self.assertEqual(1, self.replicas(small_world.OTHERS))

    def test_node_group_that_failed_is_not_in_the_way_of_others(self):
        self.created()
        self.add_group(self.fail)
        self.assert_resized(2)
        self.assertIsNone(self.replicas(small_world.OTHERS))

    def delete_group(self):
        group = self.w.row(small_world.OTHERS)
        group.status = 'DELETE_IN_PROGRESS'
        self.operations().change(group)
        return self.replicas(small_world.OTHERS)

    def test_node_group_that_failed_can_be_deleted(self):
        self.created()
        self.add_group(self.die)
        self.assertIsNone(self.delete_group())

    def test_what_helm_has_not_made_stays(self):
        self.created()
        self.add_group(self.fail)
        for path, obj in self.api.objects.items():
            if path.endswith(names.node_group(small_world.OTHERS)):
                del obj['metadata']['annotations']
        self.assertEqual(3, self.delete_group())

    def test_what_helm_is_deleting_stays(self):
        self.created()
        self.add_group(self.fail)
        for path, obj in self.api.objects.items():
            if path.endswith(names.node_group(small_world.OTHERS)):
                obj['metadata']['deletionTimestamp'] = '2026-11-21T15:00:00Z'
        self.assertEqual(3, self.delete_group())

    def test_new_cluster(self):
        self.half(self.fail, self.create)
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='CREATE_FAILED', stack_id=small_world.RELEASE)
        self.assert_resized(2)
