# SPDX-License-Identifier: Apache-2.0


import dataclasses
import types

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import state
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import removal
from tests.unit.driver import objects
from tests.unit.driver import small_world


class StateTest(testtools.TestCase):

    def test_comes_back_as_it_was(self):
        entry = credentials.Entry('n', 'u', credentials.APPLIED, 'i',
                                  objects.NOW, True)
        desired = desired_values.DesiredValues(
            {'a': [1], 'nodeGroups': [{'name': 'g'}]},
            charts.Chart('c', None, '1.0.0'), 't', {'l': 'true'},
            {'u': spec.Image('i', 'v1.34.2', 'ubuntu')}, 'd')
        written = state.State(
            'UPDATE', objects.NOW, frozenset(('g',)), (entry,),
            {'n': 'secret'}, 2, desired, {'machines/m': objects.NOW},
            goal.Progress(objects.NOW, objects.ago(hours=1),
                          {'groups/g': ('7', 3)}), 'because',
            ('m1',), {'g': 3}, {'g': ('image', '1.34.2')})
        found = state.load(state.dump(written))
        self.assertEqual(written, found)

    def test_fields_of_another_version_are_left_out(self):
        text = ('{"record": [{"name": "n", "user_id": "u", "colour": "red"}],'
                ' "size": 1, "before": {"chart": {"name": "c"}}}')
        self.assertEqual((credentials.Entry('n', 'u'),),
                         state.load(text).record)

    def test_secret_is_not_shown(self):
        self.assertNotIn('geheim', repr(state.State(secrets={'n': 'geheim'})))

    def test_secret_goes_with_its_entry(self):
        kept = state.State(record=(credentials.Entry('n', 'u'),),
                           secrets={'n': 'secret'})
        self.assertEqual({}, state.with_record(kept, ()).secrets)


class RowsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.w = self.useFixture(small_world.Magnum())

    def rows(self, status=None):
        cluster = self.w.row()
        cluster.status = status or cluster.status
        return rows.Rows(cluster, self.w.store.groups(cluster),
                         self.w.store.template(small_world.TEMPLATE),
                         names.Naming(small_world.RELEASE))

    def changed(self, table, uuid, autoscaled=(), **fields):
        """Whether another digest is made of rows with these fields."""
        before = self.rows().digest(autoscaled=autoscaled)
        table[uuid].update(fields)
        return before != self.rows().digest(autoscaled=autoscaled)

    def test_deletion_is_known_by_the_control_planes_row(self):
        deleting = {'status': 'DELETE_IN_PROGRESS'}
        self.w.rows.groups[small_world.WORKERS].update(deleting)
        self.assertEqual('UPDATE', self.rows('UPDATE_IN_PROGRESS').operation)
        self.w.rows.groups[small_world.MASTERS].update(deleting)
        found = self.rows('UPDATE_IN_PROGRESS')
        self.assertEqual('DELETE', found.operation)
        self.assertEqual('DELETE_IN_PROGRESS',
                         found.desired(state.State()).status)
        # One that failed stays so.
        self.assertEqual('DELETE_FAILED', self.rows('DELETE_FAILED').desired(
            state.State()).status)

    def test_digest_is_of_what_is_asked_for(self):
        autoscaled = {names.node_group(small_world.WORKERS)}
        for counts, is_autoscaled, fields in (
                (True, (), {'node_count': 5}), (True, (), {'flavor_id': 'm'}),
                (True, (), {'node_labels': {'a': 'b'}}),
                (False, (), {'status': 'X'}),
                # The size is the autoscaler's, its bounds are not.
                (False, autoscaled, {'node_count': 4}),
                (True, autoscaled, {'max_node_count': 6}),
                (True, (), {'status': 'DELETE_IN_PROGRESS'})):
            self.assertEqual(counts, self.changed(
                self.w.rows.groups, small_world.WORKERS, is_autoscaled,
                **fields), fields)
        self.assertFalse(self.changed(
            self.w.rows.clusters, small_world.CLUSTER, status='X',
            api_address='https://x', status_reason='because'))

    def test_group_that_waits_for_its_turn_is_another_request(self):
        deferred = {small_world.WORKERS: ('image', '1.34.2')}
        digests = {self.rows().digest(deferred=one) for one in (
            {}, deferred, {small_world.WORKERS: ('image', '1.34.3')})}
        self.assertEqual(3, len(digests))
        # A group that is gone is none.
        self.assertEqual(self.rows().digest(),
                         self.rows().digest(deferred={'gone': ('i', 'v')}))
        self.assertEqual([False, True], [
            group.deferred for group in self.rows().desired(
                state.State(deferred=deferred)).groups])

    def test_desired_values_are_those_that_were_recorded_for_the_rows(self):
        desired = desired_values.DesiredValues(
            {'nodeGroups': []}, rows=self.rows().digest())
        recorded = state.State(desired=desired)
        self.assertEqual(desired.digest, self.rows().desired(recorded).digest)
        for lost in (state.State(), state.State(
                desired=dataclasses.replace(desired, rows='other'))):
            self.assertNotEqual(
                desired.digest, self.rows().desired(lost).digest)
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 7
        self.assertNotEqual(
            desired.digest, self.rows().desired(recorded).digest)

    def test_group_whose_creation_failed_never_was(self):
        for status, default, applied, there in (
                ('CREATE_FAILED', True, (), True),
                ('UPDATE_FAILED', False, (), True),
                ('CREATE_COMPLETE', False, (), True),
                ('CREATE_IN_PROGRESS', False, (), True),
                ('CREATE_FAILED', False, (small_world.OTHERS,), True),
                ('CREATE_FAILED', False, (), False)):
            self.w.add_group(status=status)
            self.w.rows.groups[small_world.OTHERS][
                'is_default'] = default
            applied = frozenset(applied)
            for found in (self.rows().live(applied), self.rows().desired(
                    state.State(applied=applied)).groups):
                self.assertEqual(3 if there else 2, len(found), status)

    def test_control_plane_is_known_by_its_role(self):
        for role in ('worker', 'gpu'):
            self.w.rows.groups[small_world.WORKERS]['role'] = role
            for reverse in (False, True):
                found = self.rows()
                found = dataclasses.replace(found, groups=tuple(sorted(
                    found.groups, key=lambda one: one.uuid,
                    reverse=reverse)))
                self.assertEqual(small_world.MASTERS, found.masters().uuid)
        self.assertIsNone(dataclasses.replace(found, groups=()).masters())

    def test_what_is_known_of_another_operation_does_not_count(self):
        # Nor does the time of a creation by the clock of its row.
        self.assertIsNone(self.rows().desired(state.State()).since)
        for operation, counts in (('CREATE', False), ('UPDATE', True)):
            kept = state.State(
                objects.as_read(operation), objects.NOW, failed='so',
                failing={'machines/m': objects.NOW},
                progress=goal.Progress(objects.NOW, objects.NOW, {}))
            found = self.rows('UPDATE_IN_PROGRESS').desired(kept)
            self.assertEqual(
                (kept.since, kept.failing, kept.progress) if counts
                else (None, {}, None),
                (found.since, found.failing, found.progress))
            for later in (state.begun(kept, 'UPDATE', objects.NOW),
                          state.ended(kept)):
                self.assertEqual((None, '', {}), (
                    later.progress, later.failed, later.failing))

    def test_each_operation_has_its_own_end(self):
        for status, expected in (
                ('CREATE_IN_PROGRESS', (60, 0)),
                ('UPDATE_IN_PROGRESS', (None, 7)),
                ('DELETE_IN_PROGRESS', (None, 0))):
            found = self.rows(status)
            desired = found.desired(state.State(), limit=7)
            self.assertEqual(expected, (desired.timeout, desired.limit))
            # A poll that names no limits ends nothing.
            desired = found.desired(state.State())
            self.assertEqual((0, 0), (desired.limit, desired.patience))


class RemovalTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.group = types.SimpleNamespace(
            uuid=small_world.WORKERS, name='workers', role='worker',
            node_count=1)
        self.found = [self.machine('m1'), self.machine('m2')]

    def machine(self, name, labels=None):
        group = names.node_group(small_world.WORKERS)
        labels = labels or {machines.DEPLOYMENT: f'c1-{group}'}
        return {'metadata': {'name': name, 'labels': labels},
                'spec': {'providerID': f'openstack://one/server-{name}'},
                'status': {'nodeRef': {'name': f'node-{name}'}}}

    def chosen(self, *nodes, earlier=()):
        return removal.machines(self.found, nodes, names.Naming('c1'),
                                self.group, earlier)

    def refused(self, *nodes):
        return self.assertRaises(spec.InvalidSpec, self.chosen, *nodes)

    def test_all_names_of_a_node(self):
        for node in ('m2', 'node-m2', 'server-m2',
                     'openstack://one/server-m2'):
            self.assertEqual(['m2'], self.chosen(node), node)
        self.assertEqual(['m2'], self.chosen('m2', 'server-m2'))

    def test_nodes_that_are_not_in_the_group_are_refused(self):
        self.found.append(self.machine('m3', {machines.CONTROL_PLANE: ''}))
        e = self.refused('m3', 'm1', 'x')
        self.assertEqual(
            ('node m3 is not in the node group workers',
             'node x is not in the node group workers'), e.problems)
        self.group.role, self.group.node_count = 'master', 0
        self.assertEqual(['m3'], self.chosen('m3'))

    def test_more_than_the_group_loses_is_refused(self):
        self.assertIn('loses 1 when it is resized from 2 to 1',
                      str(self.refused('m1', 'm2')))
        self.group.node_count = 5
        self.assertIn('loses 0 when it is resized from 2 to 5',
                      str(self.refused('m1')))

    def test_those_that_go_already_are_not_counted(self):
        self.found.append(self.machine('m3'))
        self.found[0]['metadata']['deletionTimestamp'] = '2026-11-21'
        text = str(self.refused('m2', 'm3'))
        self.assertIn('2 nodes to remove are named', text)
        self.assertIn('loses 1 when it is resized from 2 to 1', text)

    def test_earlier_ones_go_too_while_the_group_loses_as_many(self):
        self.found += [self.machine('m3'), self.machine('m4')]
        for count, nodes, expected in (
                (1, ['m4'], ['m1', 'm2', 'm4']), (2, ['m4'], ['m4']),
                (2, ['m2'], ['m1', 'm2']), (3, ['m2'], ['m2']),
                (2, [], ['m1', 'm2']), (3, [], []), (4, [], [])):
            self.group.node_count = count
            self.assertEqual(
                expected, self.chosen(*nodes, earlier=('m1', 'm2')),
                (count, nodes))
        # Those of other groups go all the same.
        self.assertEqual(['other'], self.chosen(earlier=('other', 'm1')))


class KeyPairTest(testtools.TestCase):

    def test_two_are_never_the_same(self):
        self.assertNotEqual(
            cluster_secrets.key_pair(), cluster_secrets.key_pair())


class NodeGroupTest(testtools.TestCase):

    def test_labels_and_taints_of_a_node_group(self):
        taint = {'key': 'gpu', 'effect': 'NoSchedule'}
        world = self.useFixture(small_world.Magnum())
        world.add_group(node_labels={'disk': 'fast'}, node_taints=[taint])

        found = rows.node_group(world.row(small_world.OTHERS))

        self.assertEqual(({'disk': 'fast'}, (taint,)),
                         (found.node_labels, found.node_taints))
        self.assertEqual(0, rows.node_group(types.SimpleNamespace(
            **{**world.rows.groups[small_world.OTHERS],
               'min_node_count': None})).min)


class FollowsTest(testtools.TestCase):

    def test_image_of_the_template(self):
        template = types.SimpleNamespace(image_id='a')
        for image, follows in (('a', True), (None, True), ('b', False),
                               ('A', False)):
            self.assertEqual(follows, rows.follows(
                types.SimpleNamespace(image_id=objects.as_read(image)),
                template))
