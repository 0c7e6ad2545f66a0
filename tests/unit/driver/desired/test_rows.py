# SPDX-License-Identifier: Apache-2.0


import dataclasses
import types

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import kept as kept_module
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows
from magnum_capi.driver.desired import spec
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import state
from magnum_capi.driver.keys import vault
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import removal
from tests.unit.driver import objects
from tests.unit.driver import small_world


class StateTest(testtools.TestCase):

    def test_comes_back_as_it_was(self):
        entry = credentials.Entry('n', 'u', credentials.APPLIED, 'i',
                                  objects.NOW, True)
        kept = state.State('UPDATE', objects.NOW, frozenset(('g',)),
                           (entry,), {'n': 'secret'}, 2, kept_module.Kept(
                               {'a': [1], 'nodeGroups': [{'name': 'g'}]},
                               kept_module.ChartPin('c', None, '1.0.0'), 't',
                               {'l': 'true'},
                               {'u': spec.Image('i', 'v1.34.2', 'ubuntu')},
                               'd'),
                           {'machines/m': objects.NOW}, goal.Progress(
                               objects.NOW, objects.ago(hours=1),
                               {'groups/g': ('7', 3)}), 'because',
                           ('m1',), {'g': 3}, {'g': ('image', '1.34.2')})
        found = state.load(state.dump(kept))
        self.assertEqual(kept, found)
        self.assertEqual(kept.kept.digest, found.kept.digest)

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

    def test_resumed_operation_keeps_its_time(self):
        kept = state.begun(state.State(), 'UPDATE', objects.ago(hours=1))
        self.assertEqual(kept, state.going_on(kept, 'UPDATE', objects.NOW))
        self.assertEqual(objects.NOW, state.going_on(
            kept, 'DELETE', objects.NOW).since)


class RowsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.store = small_world.Store(small_world.Cloud())

    def rows(self):
        cluster = self.store.row()
        return rows.Rows(cluster, self.store.groups(cluster),
                         self.store.template(small_world.TEMPLATE))

    def changed(self, table, uuid, autoscaled=(), **fields):
        before = self.rows().digest(autoscaled=autoscaled)
        table[uuid].update(fields)
        return before != self.rows().digest(autoscaled=autoscaled)

    def test_deletion_is_known_by_the_control_planes_row(self):
        self.store.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        self.store.node_groups[small_world.WORKERS]['status'] = (
            'DELETE_IN_PROGRESS')
        self.assertEqual('UPDATE', self.rows().operation)
        self.store.node_groups[small_world.MASTERS]['status'] = (
            'DELETE_IN_PROGRESS')
        self.assertEqual('DELETE', self.rows().operation)
        self.assertEqual('DELETE_IN_PROGRESS',
                         self.rows().wanted(state.State()).status)

    def test_digest_is_of_what_is_asked_for(self):
        groups = self.store.node_groups
        for fields in ({'node_count': 5}, {'flavor_id': 'm2'},
                       {'node_labels': {'a': 'b'}},
                       {'status': 'DELETE_IN_PROGRESS'}):
            self.assertTrue(
                self.changed(groups, small_world.WORKERS, **fields), fields)

    def test_digest_is_not_of_what_is_so(self):
        self.assertFalse(self.changed(
            self.store.clusters, small_world.CLUSTER, status='X',
            api_address='https://x', status_reason='because'))
        self.assertFalse(self.changed(
            self.store.node_groups, small_world.WORKERS, status='X'))

    def test_size_is_the_autoscalers(self):
        autoscaled = {names.node_group(small_world.WORKERS)}
        self.assertFalse(self.changed(
            self.store.node_groups, small_world.WORKERS, autoscaled,
            node_count=4))
        self.assertTrue(self.changed(
            self.store.node_groups, small_world.WORKERS, autoscaled,
            max_node_count=6))

    def test_group_that_waits_for_its_turn_is_another_request(self):
        held = {small_world.WORKERS: ('image', '1.34.2')}
        digests = {self.rows().digest(held=one) for one in (
            {}, held, {small_world.WORKERS: ('image', '1.34.3')})}
        self.assertEqual(3, len(digests))
        # A group that is gone is none.
        self.assertEqual(self.rows().digest(),
                         self.rows().digest(held={'gone': ('i', 'v')}))
        self.assertEqual([False, True], [
            group.held for group in self.rows().wanted(
                state.State(held=held)).groups])

    def test_release_has_the_values_that_were_recorded(self):
        kept = kept_module.Kept({'nodeGroups': []},
                                rows=self.rows().digest())
        wanted = self.rows().wanted(state.State(kept=kept))
        self.assertEqual(kept.digest, wanted.digest)

    def test_no_release_has_what_was_not_recorded(self):
        kept = kept_module.Kept({'nodeGroups': []},
                                rows=self.rows().digest())
        for lost in (state.State(), state.State(
                kept=dataclasses.replace(kept, rows='other'))):
            self.assertNotEqual(kept.digest, self.rows().wanted(lost).digest)
        self.store.node_groups[small_world.WORKERS]['node_count'] = 7
        self.assertNotEqual(kept.digest, self.rows().wanted(
            state.State(kept=kept)).digest)

    def test_group_that_never_was_is_not_waited_for(self):
        self.store.add_group(status='CREATE_FAILED')
        self.assertEqual(2, len(self.rows().wanted(state.State()).groups))
        applied = state.State(applied=frozenset((small_world.OTHERS,)))
        self.assertEqual(3, len(self.rows().wanted(applied).groups))

    def test_only_one_whose_creation_failed_never_was(self):
        for status, default, there in (
                ('CREATE_FAILED', True, True), ('UPDATE_FAILED', False, True),
                ('CREATE_COMPLETE', False, True),
                ('CREATE_IN_PROGRESS', False, True),
                ('CREATE_FAILED', False, False)):
            self.store.add_group(status=status)
            self.store.node_groups[small_world.OTHERS][
                'is_default'] = default
            for found in (self.rows().live(),
                          self.rows().wanted(state.State()).groups):
                self.assertEqual(3 if there else 2, len(found), status)

    def test_control_plane_is_known_by_its_role(self):
        for role in ('worker', 'gpu'):
            self.store.node_groups[small_world.WORKERS]['role'] = role
            for reverse in (False, True):
                found = self.rows()
                found = dataclasses.replace(found, groups=tuple(sorted(
                    found.groups, key=lambda one: one.uuid,
                    reverse=reverse)))
                self.assertEqual(small_world.MASTERS, found.masters().uuid)
        self.assertIsNone(dataclasses.replace(found, groups=()).masters())

    def test_resize_of_an_autoscaled_group_waits_for_its_size(self):
        kept = kept_module.Kept({'nodeGroups': [{
            'name': names.node_group(small_world.WORKERS),
            'autoscale': True}]})
        for sizes, expected in (({}, (1, True)),
                                ({small_world.WORKERS: 4}, (4, False)),
                                ({small_world.WORKERS: 0}, (0, False))):
            found = self.rows().wanted(
                state.State(sizes=sizes, kept=kept)).groups[1]
            self.assertEqual(expected, (found.count, found.autoscaled))

    def test_deletion_that_failed_stays_so(self):
        self.store.clusters[small_world.CLUSTER]['status'] = 'DELETE_FAILED'
        self.assertEqual('DELETE_FAILED',
                         self.rows().wanted(state.State()).status)

    def test_time_of_a_creation_is_not_the_rows(self):
        # It is by the clock of another machine.
        self.assertIsNone(self.rows().wanted(state.State()).since)

    def test_failures_of_another_operation_do_not_count(self):
        kept = state.State('UPDATE', objects.NOW,
                           failing={'machines/m': objects.NOW})
        self.assertEqual({}, self.rows().wanted(kept).failing)
        self.assertEqual({}, state.begun(kept, 'UPDATE', objects.NOW).failing)
        self.assertEqual({}, state.ended(kept).failing)

    def test_progress_is_of_one_operation(self):
        kept = state.State('UPDATE', objects.NOW, progress=goal.Progress(
            objects.NOW, objects.NOW, {}), failed='so')
        self.assertIsNone(self.rows().wanted(kept).progress)
        for changed in (state.begun(kept, 'UPDATE', objects.NOW),
                        state.ended(kept)):
            self.assertEqual((None, ''), (changed.progress, changed.failed))

    def test_look_that_names_no_limits_ends_nothing(self):
        for status in ('CREATE_COMPLETE', 'UPDATE_IN_PROGRESS'):
            self.store.clusters[small_world.CLUSTER]['status'] = status
            wanted = self.rows().wanted(state.State())
            self.assertEqual((0, 0), (wanted.limit, wanted.patience))

    def test_each_operation_has_its_own_end(self):
        for status, expected in (
                ('CREATE_IN_PROGRESS', (60, 0)),
                ('UPDATE_IN_PROGRESS', (None, 7)),
                ('DELETE_IN_PROGRESS', (None, 0))):
            self.store.clusters[small_world.CLUSTER]['status'] = status
            wanted = self.rows().wanted(state.State(), limit=7)
            self.assertEqual(expected, (wanted.timeout, wanted.limit))

    def test_time_of_another_operation_does_not_count(self):
        self.store.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        for operation, since in (('CREATE', None), ('UPDATE', objects.NOW)):
            kept = state.begun(state.State(), objects.as_read(operation),
                               objects.NOW)
            self.assertEqual(since, self.rows().wanted(kept).since)


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

    def chosen(self, *nodes):
        return removal.machines(self.found, nodes, names.Naming('c1'),
                                self.group)

    def test_all_names_of_a_node(self):
        for node in ('m2', 'node-m2', 'server-m2',
                     'openstack://one/server-m2'):
            self.assertEqual(['m2'], self.chosen(node), node)

    def test_twice_the_same_is_one(self):
        self.assertEqual(['m2'], self.chosen('m2', 'server-m2'))

    def test_node_of_another_group_is_refused(self):
        self.found.append(self.machine('m3', {machines.CONTROL_PLANE: ''}))
        e = self.assertRaises(spec.InvalidSpec, self.chosen, 'm3')
        self.assertEqual('node m3 is not in the node group workers', str(e))

    def test_more_than_the_group_loses_is_refused(self):
        e = self.assertRaises(spec.InvalidSpec, self.chosen, 'm1', 'm2')
        self.assertIn('loses 1 when it is resized from 2 to 1', str(e))

    def test_earlier_ones_go_too_while_the_group_loses_as_many(self):
        self.found += [self.machine('m3'), self.machine('m4')]
        for count, nodes, expected in (
                (1, ['m4'], ['m1', 'm2', 'm4']), (2, ['m4'], ['m4']),
                (2, ['m2'], ['m1', 'm2']), (3, ['m2'], ['m2']),
                (2, [], ['m1', 'm2']), (3, [], []), (4, [], [])):
            self.group.node_count = count
            self.assertEqual(expected, removal.machines(
                self.found, nodes, names.Naming('c1'), self.group,
                ('m1', 'm2')),
                (count, nodes))

    def test_earlier_ones_of_other_groups_go_all_the_same(self):
        self.group.node_count = 2
        self.assertEqual(['other'], removal.machines(
            self.found, [], names.Naming('c1'), self.group,
            ('other', 'm1')))

    def test_those_that_go_already_are_not_counted(self):
        self.found.append(self.machine('m3'))
        self.found[0]['metadata']['deletionTimestamp'] = '2026-11-21'
        e = self.assertRaises(spec.InvalidSpec, self.chosen, 'm2', 'm3')
        self.assertIn('2 nodes to remove are named', str(e))
        self.assertIn('loses 1 when it is resized from 2 to 1', str(e))

    def test_group_that_grows_loses_none(self):
        self.group.node_count = 5
        e = self.assertRaises(spec.InvalidSpec, self.chosen, 'm1')
        self.assertIn('loses 0 when it is resized from 2 to 5', str(e))

    def test_every_node_that_is_not_there_is_named(self):
        e = self.assertRaises(spec.InvalidSpec, self.chosen, 'x', 'm1', 'y')
        self.assertEqual(2, len(e.problems))

    def test_masters(self):
        self.group.role = 'master'
        self.found.append(self.machine('m3', {machines.CONTROL_PLANE: ''}))
        self.group.node_count = 0
        self.assertEqual(['m3'], self.chosen('m3'))


class VaultTest(testtools.TestCase):

    def test_clouds_yaml_has_no_more_than_it_needs(self):
        found = vault.clouds('i', 's', auth_url='https://k', region=None,
                             interface='internal', verify=True)
        self.assertEqual({'openstack': {
            'auth_type': 'v3applicationcredential', 'interface': 'internal',
            'identity_api_version': 3, 'verify': True, 'auth': {
                'auth_url': 'https://k', 'application_credential_id': 'i',
                'application_credential_secret': 's'}}}, found['clouds'])

    def test_id_of_a_secret_that_is_none(self):
        for data in ({}, {'clouds.yaml': '!'}, {'clouds.yaml': 'W10='}):
            self.assertIsNone(vault.applied_id(data), data)

    def test_key_pairs_are_never_the_same(self):
        one, other = vault.key_pair(), vault.key_pair()
        self.assertNotEqual(one, other)
        self.assertTrue(one[0].startswith('-----BEGIN PUBLIC KEY'))
        self.assertTrue(one[1].startswith('-----BEGIN RSA PRIVATE KEY'))


class NodeGroupTest(testtools.TestCase):

    def test_labels_and_taints_of_a_node_group(self):
        taint = {'key': 'gpu', 'effect': 'NoSchedule'}
        store = small_world.Store(small_world.Cloud())
        store.add_group(node_labels={'disk': 'fast'}, node_taints=[taint])

        found = rows.node_group(store.row(small_world.OTHERS))

        self.assertEqual(({'disk': 'fast'}, (taint,)),
                         (found.node_labels, found.node_taints))
        self.assertEqual(0, rows.node_group(types.SimpleNamespace(
            **{**store.node_groups[small_world.OTHERS],
               'min_node_count': None})).min)


class FollowsTest(testtools.TestCase):

    def test_image_of_the_template(self):
        template = types.SimpleNamespace(image_id='a')
        for image, follows in (('a', True), (None, True), ('b', False),
                               ('A', False)):
            self.assertEqual(follows, rows.follows(
                types.SimpleNamespace(image_id=objects.as_read(image)),
                template))
