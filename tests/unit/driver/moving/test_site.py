# SPDX-License-Identifier: Apache-2.0

"""All clusters of a Magnum: which are chosen, and what becomes of each."""

import dataclasses
import json
import types
from unittest import mock

from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.moving import site
from magnum_capi import errors
from magnum_capi.kube import rest
from tests.unit.driver.moving import test_move
from tests.unit.driver.operations import test_pins
from tests.unit.driver import small_world
from tests.unit import fake_clock


OTHER = '99999999-3c2d-4899-b017-d2b06c0ccd9f'


class Base(test_move.Base):
    """One cluster of the old chart, and one that is only a row."""

    def setUp(self):
        super().setUp()
        self.others = []
        self.w.runtime = dataclasses.replace(
            self.w.runtime, clock=fake_clock.FakeClock())
        self.site = site.Site(self.w.runtime, self.rows,
                              lambda project_id: self.w.store)

    def configure(self, **options):
        super().configure(**options)
        if hasattr(self, 'site'):
            self.site._runtime = self.w.runtime

    def rows(self):
        yield self.w.store.row()
        yield from self.others

    def standing(self):
        found, = self.site.standings()
        return found

    def behind(self):
        return self.standing().row[3]


class StandingTest(Base):

    def test_table(self):
        self.assertEqual(
            (('Chart', 'Version', 'Target', 'Behind', 'Cluster', 'Name',
              'Project', 'Status'),
             [('openstack-cluster', '0.26.1', '0.27.0', 'chart',
               small_world.CLUSTER, 'First_1', small_world.PROJECT,
               'CREATE_COMPLETE')]), site.table(self.site.standings()))

    def test_as_the_options_say(self):
        self.configure(chart=test_pins.OLD)
        self.assertEqual('no', self.behind())

    def test_overlay_that_was_changed(self):
        self.configure(chart=test_pins.OLD)
        path = self.overlay('etcd: {blockDevice: {size: 7}}')
        self.assertEqual('options', self.behind())
        self.site.move(self.w.store.row(), apply=True)
        self.assertEqual('no', self.behind())
        path.write_text('etcd: {blockDevice: {size: 8}}')
        self.assertEqual('options', self.behind())

    def test_options_and_chart(self):
        self.configure(default_labels={'auto_healing_enabled': 'false'})
        self.assertEqual('chart, options', self.behind())

    def test_volume_types_that_cinder_has_now(self):
        self.configure(chart=test_pins.OLD)
        self.w.cloud.volume_types = lambda: (types.SimpleNamespace(name='a'),)
        self.assertEqual('no', self.behind())

    def test_older_cluster(self):
        vault = self.operations()._reconciler.vault
        vault.write_state(dataclasses.replace(vault.state(), pins=None))
        self.assertEqual(('0.26.1', 'chart, options unknown'), (
            self.standing().version, self.behind()))

    def test_target_that_is_not_allowed(self):
        self.w.store.templates[small_world.TEMPLATE]['labels'] = {
            'capi_helm_chart_version': '0.25.0'}
        self.assertEqual('unknown', self.standing().row[2])
        self.assertIn('0.25.0', self.behind())
        self.assertIn('Allowed: 0.27.0, 0.26.1', self.behind())

    def test_memory_that_cannot_be_read(self):
        path, = [path for path in self.api.objects
                 if path.endswith('-magnum') and '/secrets/' in path]
        self.api.objects[path]['data'] = {'state.json': 'W10='}
        self.assertIn('unknown: ', self.behind())
        self.assertEqual('unknown', self.standing().version)

    def test_management_cluster_that_is_away(self):
        self.w.runtime.kube.get = mock.Mock(
            side_effect=rest.Unreachable('no answer'))
        self.assertRaises(rest.Unreachable, self.standing)

    def test_nothing_is_changed_and_no_helm_is_run(self):
        before = dict(self.api.objects)
        self.standing()
        self.assertEqual(before, self.api.objects)
        self.assertEqual(0, self.w.helm.previews)


class ChosenTest(Base):

    def test_all(self):
        self.assertEqual([small_world.CLUSTER], [
            row.uuid for row in self.site.chosen()])

    def test_by_uuid(self):
        self.others.append(types.SimpleNamespace(uuid=OTHER))
        self.assertEqual([small_world.CLUSTER], [
            row.uuid for row in self.site.chosen([small_world.CLUSTER])])

    def test_who_does_not_exist(self):
        e = self.assertRaises(errors.UsageError, self.site.chosen,
                              [small_world.CLUSTER, OTHER])
        self.assertIn(OTHER, str(e))
        self.assertNotIn(small_world.CLUSTER, str(e))

    def test_by_version(self):
        for version, count in (('0.26.1', 1), ('0.26.0', 0)):
            self.assertEqual(count, len(self.site.chosen(version=version)))


class MoveTest(Base):

    def test_kinds(self):
        row = self.w.store.row()
        for apply, kind in ((False, site.WOULD), (True, site.MOVED),
                            (True, site.REFUSED)):
            found = self.site.move(row, apply=apply)
            self.assertEqual(
                (kind, small_world.CLUSTER, kind != site.REFUSED),
                (found.kind, found.uuid, found.preview is not None))
        self.look(2)
        self.assertEqual(site.CURRENT, self.site.move(row).kind)

    def test_facts_are_for_machines(self):
        found = self.site.move(self.w.store.row()).facts
        self.assertEqual(found, json.loads(json.dumps(found)))
        self.assertEqual(
            (small_world.CLUSTER, 'First_1', site.WOULD, ''),
            tuple(found[key] for key in ('cluster', 'name', 'outcome',
                                         'why')))
        self.assertEqual(['openstack-cluster 0.26.1',
                          'openstack-cluster 0.27.0'],
                         [found['from'], found['to']])
        self.assertEqual({'part', 'replaced', 'reasons'},
                         set().union(*found['nodes']))
        self.assertTrue(found['difference'])
        self.assertEqual(
            {'cluster': small_world.CLUSTER, 'name': 'First_1',
             'outcome': site.REFUSED, 'why': 'busy'},
            site.Outcome(self.w.store.row(), site.REFUSED, 'busy').facts)

    def test_what_may_pass(self):
        self.fails(helm_errors.HelmTimeout('slow', reason='timeout'))
        found = self.site.move(self.w.store.row(), apply=True)
        self.assertEqual(site.PENDING, found.kind)
        self.assertIn('timeout', found.why)

    def test_lock_of_somebody_else(self):
        with self.operations()._reconciler.held(0):
            found = self.site.move(self.w.store.row(), apply=True)
        self.assertEqual(site.REFUSED, found.kind)

    def test_what_nobody_expected_keeps_no_other_from_its_turn(self):
        self.w.helm.preview = mock.Mock(side_effect=KeyError('kind'))
        found = self.site.move(self.w.store.row())
        self.assertEqual((site.FAILED, "KeyError: 'kind'"),
                         (found.kind, found.why))

    def test_end_of_a_move_is_waited_for(self):
        row = self.w.store.row()
        found = self.site.move(row, apply=True)
        with mock.patch.object(self.w.store, 'status', side_effect=[
                'UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE']) as status:
            self.assertEqual(found, self.site.wait(found, 600))
        self.assertEqual(2, status.call_count)

    def test_move_that_a_conductor_tries_again_is_waited_for(self):
        self.fails(helm_errors.HelmTimeout('slow', reason='timeout'))
        found = self.site.move(self.w.store.row(), apply=True)
        self.w.store.clusters[small_world.CLUSTER][
            'status'] = 'UPDATE_COMPLETE'
        found = self.site.wait(found, 600)
        self.assertEqual((site.MOVED, ''), (found.kind, found.why))

    def test_move_that_fails_in_the_end(self):
        found = self.site.move(self.w.store.row(), apply=True)
        self.w.store.clusters[small_world.CLUSTER].update(
            status='UPDATE_FAILED', status_reason='no quota')
        found = self.site.wait(found, 600)
        self.assertEqual((site.FAILED, 'UPDATE_FAILED: no quota'),
                         (found.kind, found.why))

    def test_move_that_has_no_end_in_time(self):
        found = self.site.move(self.w.store.row(), apply=True)
        found = self.site.wait(found, 60)
        self.assertEqual(site.PENDING, found.kind)
        self.assertIn('UPDATE_IN_PROGRESS', found.why)

    def test_who_was_refused_is_not_waited_for(self):
        found = site.Outcome(self.w.store.row(), site.REFUSED)
        self.assertEqual(found, self.site.wait(found, 60))

    def test_interruption_is_for_all(self):
        self.fails(KeyboardInterrupt())
        self.assertRaises(KeyboardInterrupt, self.site.move,
                          self.w.store.row(), apply=True)


class CheckTest(Base):

    def test_allowed(self):
        for version in (None, '0.27.0', '0.26.1'):
            self.site.check(version)

    def test_not_allowed(self):
        e = self.assertRaises(errors.UsageError, self.site.check, '0.28.0')
        self.assertIn('The command names version 0.28.0', str(e))
        self.assertIn('Allowed: 0.27.0, 0.26.1', str(e))
