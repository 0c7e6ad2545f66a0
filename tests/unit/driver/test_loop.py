# SPDX-License-Identifier: Apache-2.0

"""What a poll of a cluster costs: requests, and rows that Magnum reads."""

import copy
import dataclasses

from magnum_capi.driver import loop
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.kube import cache
from tests.lib import kube_server
from tests.unit.driver import base
from tests.unit.driver import small_world


class CostTest(base.TestCase):

    def setUp(self):
        super().setUp()
        self.create()
        self.path = next(
            path for path in self.api.objects if '/clusters/' in path)
        self.api.objects[self.path]['status']['observedGeneration'] = 0

    def costs(self, polls, before=lambda: None):
        """Requests of each of so many polls."""
        found = []
        for _poll in range(polls):
            before()
            self.api.seen.clear()
            self.check_status()
            found.append(len(self.api.calls()))
        return found

    def read(self, polls, **kwargs):
        """Numbers of the polls, from 1, that read more than the Cluster."""
        return [number for number, cost in enumerate(
            self.costs(polls, **kwargs), 1) if cost > 1]

    def change(self):
        """Have the Cluster be another one, and still not finished."""
        found = copy.deepcopy(self.api.objects[self.path])
        found['status']['changes'] = found['status'].get('changes', 0) + 1
        self.api.put(self.path, found)

    def test_cluster_that_stays_as_it_is_mostly_costs_one_request(self):
        self.check_status(2)
        self.assertEqual([], self.read(30))
        self.w.later(seconds=poll_cache.UNCHANGED)
        self.assertEqual([1], self.read(3))

    def test_cluster_that_changes_is_read_every_third_time(self):
        self.assertEqual([2, 5, 8], self.read(9, before=self.change))

    def test_cluster_that_may_be_finished_is_read_each_time(self):
        self.waiting_for_addon()
        self.assertEqual([1, 2, 3], self.read(3))

    def waiting_for_addon(self):
        self.api.objects[self.path]['status']['observedGeneration'] = 1
        addon, = [path for path in self.api.objects
                  if '/helmreleases/' in path]
        self.api.objects[addon]['status']['phase'] = 'Installing'

    def test_poll_that_finds_nothing_new_writes_nothing(self):
        self.waiting_for_addon()
        self.check_status(2)
        self.w.later(minutes=1)
        self.api.seen.clear()
        self.check_status(4)
        self.assertEqual(set(), {path for method, path in self.api.calls()
                                 if method != 'GET' and '/leases' not in path})
        self.assertEqual(small_world.NOW, self.w.cluster.updated_at)

    def test_deletion_is_read_every_third_time(self):
        self.w.helm.uninstall = lambda *args: True
        self.api.objects[self.path]['metadata'][
            'deletionTimestamp'] = '2026-11-21T15:00:00Z'
        for table in (self.w.rows.clusters, self.w.rows.groups):
            for row in table.values():
                row['status'] = 'DELETE_IN_PROGRESS'
        self.assertEqual([2, 5], self.read(7))

    def test_end_of_an_operation_reads_nothing_twice(self):
        self.api.objects[self.path]['status']['observedGeneration'] = 1
        self.check_status()
        self.resize(2)
        self.api.seen.clear()
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        reads = [path for path in self.api.calls('GET')
                 if not path[1].endswith('-cloud-credentials')
                 and '/clusters/' not in path[1]]
        self.assertEqual(sorted(set(reads)), sorted(reads))

    def test_failure_is_followed_until_it_has_lasted(self):
        plane = next(path for path in self.api.objects
                     if '/kubeadmcontrolplanes/' in path)
        self.api.objects[plane]['status']['phase'] = 'Failed'
        self.w.runtime = dataclasses.replace(
            self.w.runtime, options=dataclasses.replace(
                self.w.runtime.options, failure_patience=100))
        self.assertEqual([2, 5], self.read(6))
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=101)
        self.check_status(3)
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_timeout_of_a_cluster_that_stays_as_it_is(self):
        self.check_status(10)
        self.w.later(minutes=61)
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)

    def test_reason_that_is_not_true_any_more_is_replaced(self):
        self.waiting_for_addon()
        self.check_status(4)
        reason = self.w.cluster.status_reason
        self.assertIn('Installing', reason)
        row = self.w.rows.clusters[small_world.CLUSTER]
        for written in ('A later one', 'an earlier one', None):
            row['status_reason'] = written
            self.check_status(3)
            self.assertEqual(reason, row['status_reason'])

    def test_helm_that_failed_half_way_is_seen_while_the_cluster_is_busy(self):
        done = len(self.w.helm.upgrades)
        self.w.helm.record(done, None, status='failed')
        self.check_status(2)
        self.assertEqual(done + 1, len(self.w.helm.upgrades))

    def test_poll_of_a_busy_cluster_reads_only_its_row(self):
        self.check_status(2)
        read = self.reads('reload', 'status', 'groups', 'template')
        self.check_status()
        self.assertEqual(['reload'], read)

    def test_poll_that_finds_nothing_new_reads_the_rows_once_with_the_lock(
            self):
        self.waiting_for_addon()
        self.check_status(2)
        read = self.reads('reload', 'status', 'groups', 'template')
        self.check_status()
        self.assertEqual(['reload', 'reload', 'groups'], read)

    def reads(self, *names):
        """Calls of these methods of the Store, as they come."""
        read, kind = [], self.w.stores.Store
        for name in names:
            def noted(*args, name=name, real=getattr(kind, name)):
                read.append(name)
                return real(*args)
            self.patch(kind, name, noted)
        return read

    def test_template_is_read_once_for_an_operation(self):
        self.waiting_for_addon()
        self.check_status(2)
        read = self.templates_read()
        self.check_status(5)
        self.assertEqual([], read)
        self.w.rows.clusters[small_world.CLUSTER][
            'cluster_template_id'] = small_world.NEWER
        self.check_status()
        self.assertEqual({small_world.NEWER}, set(read))

    def templates_read(self):
        read, kind = [], self.w.stores.Store
        real = kind.template
        self.patch(kind, 'template', lambda store, uuid: (
            read.append(uuid) or real(store, uuid)))
        return read


class GroupsTest(base.TestCase):
    """What node groups say while and after something happens to them."""

    def test_group_that_was_handed_over_stays_when_it_fails(self):
        self.created()
        self.w.add_group()
        group = self.w.row(small_world.OTHERS)
        self.operations().change(group, group=group)
        self.w.rows.groups[small_world.OTHERS][
            'status'] = 'CREATE_FAILED'

        self.resize(2)

        self.assertEqual(2, len(self.w.helm.upgrades[-1]['nodeGroups']))

    def test_deletion_that_is_tried_again_says_so_of_each_group(self):
        self.created()
        self.w.helm.uninstall = lambda *args: True
        self.operations().delete()
        path, = [path for path in self.api.objects if '/clusters/' in path]
        self.api.objects[path]['metadata'][
            'deletionTimestamp'] = '2026-11-21T15:00:00Z'
        self.w.rows.groups[small_world.WORKERS][
            'status'] = 'DELETE_FAILED'

        self.check_status(3)

        self.assertEqual('DELETE_IN_PROGRESS', self.w.group().status)

    def test_nothing_is_written_behind_what_helm_did(self):
        self.created()
        self.resize(2)
        self.check_status()
        real = self.w.helm.upgrade

        def upgrade(*args, **kwargs):
            real(*args, **kwargs)
            self.api.seen.clear()
        self.w.helm.upgrade = upgrade

        self.resize(3)

        self.assertEqual([], [
            (method, path) for method, path in self.api.calls()
            if method != 'GET' and '/leases/' not in path])


class PollCacheTest(base.TestCase):
    """What a conductor keeps of clusters, and for how long."""

    def setUp(self):
        super().setUp()
        self.clock = self.api.clock
        self.w.runtime = dataclasses.replace(self.w.runtime, clock=self.clock)
        self.create()
        path = next(path for path in self.api.objects
                    if '/clusters/' in path)
        self.api.objects[path]['status']['observedGeneration'] = 0
        self.check_status()

    def cached(self):
        return poll_cache.of(
            small_world.CLUSTER, self.clock.monotonic()).template

    def poll_another(self):
        """What Magnum does while only another cluster is in progress."""
        row = self.w.row()
        row.uuid = '99999999-3c2d-4899-b017-d2b06c0ccd9f'
        loop.Loop(reconcile.Reconciler(
            self.w.runtime, self.w.store, row)).poll()

    def test_cluster_that_is_no_longer_polled_is_forgotten(self):
        self.clock.sleep(3600)
        self.poll_another()
        self.assertIsNone(self.cached())


class RememberedTest(base.TestCase):
    """What is remembered may only say that an operation goes on."""

    server = kube_server.HttpApiServer

    def setUp(self):
        super().setUp()
        self.remember()
        self.create()
        self.path = next(
            path for path in self.api.objects if '/clusters/' in path)
        self.busy = copy.deepcopy(self.api.objects[self.path])
        self.busy['status']['observedGeneration'] = 0

    def remembered(self, cluster):
        """Have this be what is remembered, whatever the server says."""
        self.patch(cache.Informer, 'fresh', True)
        self.patch(cache.Informer, 'get',
                   lambda *_: copy.deepcopy(cluster))

    def calls(self):
        """Requests of polls; informers list and watch all namespaces."""
        return [path for _, path in self.api.calls()
                if '/namespaces/' in path]

    def test_operation_that_goes_on_mostly_costs_nothing(self):
        self.api.put(self.path, self.busy)
        self.check_status(2)
        self.remembered(self.api.objects[self.path])
        self.api.seen.clear()
        self.check_status(30)
        self.assertEqual([], self.calls())
        self.w.later(seconds=poll_cache.UNCHANGED)
        self.check_status()
        self.assertNotEqual([], self.calls())

    def test_operation_does_not_end_with_what_is_remembered(self):
        ready = copy.deepcopy(self.api.objects[self.path])
        self.api.put(self.path, self.busy)
        self.remembered(ready)
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)

    def test_deletion_does_not_end_with_what_is_remembered(self):
        self.check_status()
        self.operations().delete()
        self.busy['metadata'].update(
            deletionTimestamp='2026-01-01T00:00:00Z',
            finalizers=['its controller'])
        self.api.put(self.path, self.busy)
        self.remembered(None)
        self.check_status(3)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)

    def test_failure_is_none_of_what_is_remembered(self):
        failed = copy.deepcopy(self.busy)
        failed['status']['v1beta2'] = {}
        failed['status']['failureReason'] = 'InvalidConfiguration'
        failed['status']['failureMessage'] = 'of yesterday'
        self.api.put(self.path, self.busy)
        self.remembered(failed)
        self.check_status(3)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertNotIn('yesterday', self.w.cluster.status_reason or '')

    def test_end_is_seen_although_another_thing_is_remembered(self):
        self.remembered(self.busy)
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
