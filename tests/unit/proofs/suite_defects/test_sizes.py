# SPDX-License-Identifier: Apache-2.0

"""Drivers whose defect is of a size or of a deletion."""

from magnum_capi.driver.desired import names
from tests.unit.driver import small_world
from tests.unit.proofs.suite_defects import base
from tests.unit.proofs.suite_defects import stand_in

WORKERS = base.WORKERS
OTHERS = base.OTHERS


class SizesTest(base.Base):

    def test_resize_ignored(self):
        self.created('sizes:ResizeIgnored')
        self.resize(3)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', 3, [1]), (
            self.w.cluster.status, self.w.group().node_count, self.sizes()))

    def test_autoscaled_resize_ignored(self):
        labels = {'auto_scaling_enabled': 'true'}
        group = names.node_group(WORKERS)
        for reference, count in (('sizes:AutoscaledResizeIgnored', 1),
                                 (base.HEALTHY, 3)):
            self.w.store.node_groups[WORKERS].update(
                min_node_count=1, max_node_count=5, labels=labels)
            self.created(reference, labels=labels, status='CREATE_IN_PROGRESS')
            self.resize(3)
            self.assertEqual(count, self.w.helm.replicas(
                small_world.RELEASE, group))
            self.w.helm.machines(small_world.RELEASE, group, 1)

    def test_marks_kept(self):
        failed = stand_in.modules()['credentials'].exception.MagnumException
        for reference, marks in (('sizes:MarksKept', 1), (base.HEALTHY, 0)):
            self.created(reference, status='CREATE_IN_PROGRESS')
            path = self.w.helm.put('machines', {
                'metadata': {'name': 'm1', 'labels': {
                    names.CAPI_CLUSTER_NAME: small_world.RELEASE}},
                'status': {'nodeRef': {'name': 'n1'}}})
            self.assertRaises(failed, self.resize, 0, nodes=('n1', 'no'))
            self.assertEqual(marks, len(self.api.objects[path][
                'metadata'].get('annotations', {})))

    def test_wrong_group(self):
        self.created('sizes:WrongGroup')
        self.add_group()
        self.assertEqual([1, 1], self.sizes())
        self.resize(3, OTHERS)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', [3, 1]),
                         (self.w.cluster.status, self.sizes()))

    def test_one_master(self):
        self.w.store.node_groups[small_world.MASTERS]['node_count'] = 3
        self.created('sizes:OneMaster')
        self.assertEqual(1, self.w.helm.upgrades[-1]['controlPlane'][
            'machineCount'])

    def test_never_empty(self):
        self.created('sizes:NeverEmpty')
        self.resize(0)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', [1]),
                         (self.w.cluster.status, self.sizes()))

    def test_node_count_ignored_and_resize_not(self):
        made = self.created('sizes:NodeCountIgnored')
        group = self.w.store.row(WORKERS)
        group.node_count = 3
        self.w.store.save(group)
        row = self.w.store.row()
        row.default_ng_worker = group
        made.update_cluster(None, row)
        self.set_status('UPDATE_IN_PROGRESS')
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', [1]),
                         (self.w.cluster.status, self.sizes()))
        self.resize(2)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', [2]),
                         (self.w.cluster.status, self.sizes()))

    def test_resize_lost(self):
        self.created('sizes:ResizeLost')
        self.resize(3)
        self.resize(2)
        self.look(3)
        self.assertEqual(('UPDATE_COMPLETE', 2, [3]), (
            self.w.cluster.status, self.w.group().node_count, self.sizes()))
        self.resize(2)
        self.look(3)
        self.assertEqual([2], self.sizes())

    def test_group_unfinished(self):
        self.created('sizes:GroupUnfinished')
        self.resize(3)
        self.look(3)
        self.assertEqual(
            ('UPDATE_COMPLETE', 'UPDATE_IN_PROGRESS'),
            (self.w.cluster.status, self.w.group().status))

    def test_group_kept(self):
        made = self.created('sizes:GroupKept')
        self.add_group(2)
        group = self.w.store.row(OTHERS)
        group.status = 'DELETE_IN_PROGRESS'
        made.delete_nodegroup(None, self.w.store.row(), group)
        self.set_status('UPDATE_IN_PROGRESS')
        self.look(3)
        self.assertNotIn(OTHERS, self.w.store.node_groups)
        self.assertEqual(('UPDATE_COMPLETE', [1, 2]),
                         (self.w.cluster.status, self.sizes()))
        self.delete()
        self.look(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)


class EndTest(base.Base):

    def ended(self, reference, looks=3):
        self.created(reference)
        self.delete()
        self.look(looks)
        return self.w.cluster.status

    def test_credential_left(self):
        self.assertEqual('DELETE_COMPLETE',
                         self.ended('deletion:CredentialLeft'))
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_machines_left(self):
        self.assertEqual('DELETE_COMPLETE',
                         self.ended('deletion:MachinesLeft'))
        self.assertEqual(0, self.w.helm.uninstalls)
        self.assertEqual({}, self.w.cloud.credentials)

    def test_deletes_slowly(self):
        self.patch(stand_in.load('deletion:time'), 'monotonic',
                   lambda: self.w.moment.timestamp())
        self.assertEqual('DELETE_IN_PROGRESS',
                         self.ended('deletion:DeletesSlowly'))
        self.w.later(seconds=71)
        self.look(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_deletion_lost(self):
        self.driver('deletion:DeletionLost')
        self.create()
        self.delete()
        self.look(3)
        self.assertEqual(('DELETE_IN_PROGRESS', 0), (
            self.w.cluster.status, self.w.helm.uninstalls))
        self.delete()
        self.look(3)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
