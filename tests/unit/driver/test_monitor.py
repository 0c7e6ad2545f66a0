# SPDX-License-Identifier: Apache-2.0


import dataclasses
import socket

from magnum_capi.driver import correction
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver import monitor
from magnum_capi.driver.observed import health
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver import observer
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.kube import cache
from magnum_capi import waiting
from tests.lib import kube_server
from tests.unit.driver import base
from tests.unit.driver.operations import test_status
from tests.unit.driver import small_world


NOTHING = snapshot_module.Snapshot(None)


class Base(base.TestCase):

    def setUp(self):
        super().setUp()
        self.answer = credentials.VALID
        self.asked = []
        self.w.runtime = dataclasses.replace(
            self.w.runtime, clock=self.api.clock)

        def check(data, cacert, timeout):
            self.asked.append(data)
            return self.answer
        self.patch(app_credentials, 'check', check)

    def created(self):
        super().created()
        self.asked.clear()

    def poll(self, world=None):
        found = monitor.Monitor(world or (lambda: self.w.runtime),
                                self.w.store, self.w.row())
        found.poll_health_status()
        return found.data


class MonitorTest(Base):

    def test_cluster_that_is_being_changed_is_looked_at_in_full(self):
        self.created()
        path = next(p for p in self.api.objects if '/clusters/' in p)
        self.api.objects[path]['metadata']['generation'] = 100
        self.assertEqual(health.HEALTHY, self.poll()['health_status'])

    def test_cluster_of_another_driver_is_left_alone(self):
        # Magnum saves a health only where there is one (magnum 23.0.0,
        # magnum/service/periodic.py, ClusterHealthUpdateJob).
        self.created()
        self.w.rows.clusters[small_world.CLUSTER]['stack_id'] = (
            'another-driver-abcdefghijkl')
        self.assertEqual({}, self.poll())

    def test_refusal_of_the_management_cluster_shows_with_the_cure(self):
        self.created()
        for fault, told in (
                (test_status.forbidden('get', 'secrets', ''),
                 'The management cluster does not allow this: get secrets. '
                 'Give the user of the kubeconfig this right'),
                ((401, {}, {}), 'The management cluster does not know the '
                 'user of the kubeconfig'),
                ((503, {}, {}), 'The management cluster is temporarily '
                 'unavailable: 503')):
            self.api.faults = [fault] * 99
            self.assertEqual({
                'health_status': health.UNKNOWN,
                'health_status_reason': {'cluster': told}}, self.poll())

    def test_credential_that_became_invalid_shows_with_the_cure(self):
        # E23
        self.created()
        self.answer = credentials.INVALID
        data = self.poll()
        self.assertEqual(health.UNHEALTHY, data['health_status'])
        self.assertIn('openstack coe credential rotate',
                      data['health_status_reason']['credential'])

    def test_cloud_that_is_not_trusted_shows_with_the_cure(self):
        self.created()
        self.answer = credentials.UNTRUSTED
        data = self.poll()
        self.assertEqual(health.UNHEALTHY, data['health_status'])
        self.assertIn('[drivers]openstack_ca_file',
                      data['health_status_reason']['credential'])

    def test_credential_that_nobody_could_check_says_nothing(self):
        self.created()
        self.answer = credentials.UNKNOWN

        data = self.poll()

        self.assertEqual(health.HEALTHY, data['health_status'])
        self.assertNotIn('credential', data['health_status_reason'])

    def test_cluster_that_distrusts_the_cloud_gets_magnums_authorities(self):
        self.created()
        self.w.trust('new pem')
        self.patch(app_credentials, 'check', lambda data, *_: (
            credentials.VALID if cluster_secrets.cacert(data) == 'new pem'
            else credentials.UNTRUSTED))
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())

        with reconciler.locked(0):
            self.poll()
        self.assertEqual(
            'pem', cluster_secrets.cacert(reconciler.secrets.credentials()))

        self.api.clock.sleep(
            self.w.runtime.options.credential_check_interval)
        self.assertEqual(health.HEALTHY, self.poll()['health_status'])
        self.assertEqual('new pem',
                         cluster_secrets.cacert(
                             reconciler.secrets.credentials()))

    def test_keystone_is_not_asked_each_time(self):
        self.created()
        self.poll()
        self.poll()
        self.assertEqual(1, len(self.asked))
        for number, more in enumerate((0, 60), 2):
            self.api.clock.sleep(
                self.w.runtime.options.credential_check_interval + more)
            self.poll()
            self.assertEqual(number, len(self.asked))
        # The checks of many clusters are spread over a fifth of that time.
        self.api.clock.sleep(
            self.w.runtime.options.credential_check_interval * 0.79)
        self.poll()
        self.assertEqual(number, len(self.asked))

    def test_answer_of_one_credential_is_none_of_another(self):
        self.created()
        self.poll()
        self.cache().credential = 'another', credentials.VALID, 1e9
        self.answer = credentials.INVALID
        self.assertEqual(health.UNHEALTHY, self.poll()['health_status'])
        self.assertEqual(2, len(self.asked))

    def cache(self):
        return poll_cache.of(small_world.CLUSTER, self.api.clock.monotonic())

    def observed(self):
        """A reconciler of the cluster, its state and its node groups."""
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        return reconciler, reconciler.secrets.state(), observer.cached(
            self.w.runtime.kube, reconciler.namespace, reconciler.release)

    def test_deletion_is_taken_up_unless_it_is_done(self):
        self.created()
        # Also when a resize that ended late has written over it.
        self.w.rows.groups[small_world.MASTERS][
            'status'] = 'DELETE_IN_PROGRESS'
        other = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        for status in ('DELETE_FAILED', 'UPDATE_COMPLETE', 'CREATE_COMPLETE'):
            self.w.rows.clusters[small_world.CLUSTER]['status'] = status
            # It is left to who holds the lock.
            with other.locked(0):
                self.poll()
            self.assertEqual(status, self.w.cluster.status)
            self.poll()
            self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.w.rows.clusters[small_world.CLUSTER][
            'status'] = 'DELETE_COMPLETE'
        self.poll()
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)

    def test_rows_of_who_is_gone_are_not_kept_true(self):
        self.autoscaled(3)
        reconciler, state, snapshot = self.observed()
        rows = reconciler.rows()
        self.w.rows.clusters.clear()

        # Neither raises.
        correction.Correction(reconciler).correct(rows, state, snapshot)

        self.assertEqual(1, self.w.group().node_count)

    def lost_resize(self, **cluster):
        """As a conductor leaves it that is killed before it asks the driver.

        magnum 23.0.0, magnum/conductor/handlers/cluster_conductor.py,
        cluster_resize
        """
        if not self.api.objects:
            self.created()
        self.w.rows.groups[small_world.WORKERS].update(
            node_count=self.count() + 2, status='UPDATE_IN_PROGRESS')
        self.w.rows.clusters[small_world.CLUSTER].update(cluster)

    def count(self):
        return self.api.objects[next(
            path for path in self.api.objects
            if '/machinedeployments/' in path)]['spec']['replicas']

    def polled(self, seconds):
        self.api.clock.sleep(seconds)
        self.poll()
        return self.w.cluster.status

    def test_resize_that_never_reached_the_driver_is_taken_up(self):
        for status in 'CREATE_COMPLETE', 'UPDATE_COMPLETE':
            with self.subTest(status):
                self.lost_resize(status=status)
                desired = self.w.group().node_count
                # It may be on its way to the driver.
                self.assertEqual(status, self.polled(0))
                self.assertEqual(status, self.polled(30))
                self.assertEqual('UPDATE_IN_PROGRESS', self.polled(31))
                self.check_status(3)
                self.assertEqual((desired, 'UPDATE_COMPLETE'), (
                    self.count(), self.w.cluster.status))

    def test_rotation_that_outlives_its_operation_is_finished(self):
        self.created()
        self.rotate_without_an_end()
        self.assertEqual('UPDATE_COMPLETE', self.polled(0))
        self.assertEqual([0, 1], self.w.credentials())
        self.w.doors.clear()
        self.polled(poll_cache.UNCHANGED - 1)
        self.assertEqual([0, 1], self.w.credentials())
        self.polled(1)
        self.assertEqual([1], self.w.credentials())

    def test_resize_that_moves_is_not_lost(self):
        self.lost_resize()
        self.polled(0)
        self.polled(40)
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 2
        self.assertEqual('CREATE_COMPLETE', self.polled(40))
        asked = dict(self.w.rows.groups[small_world.WORKERS])
        self.w.rows.groups[small_world.WORKERS].update(
            status='UPDATE_COMPLETE', node_count=self.count())
        self.polled(40)
        self.w.rows.groups[small_world.WORKERS].update(asked)
        self.assertEqual('CREATE_COMPLETE', self.polled(40))

    def test_resize_that_waits_for_the_lock_is_not_lost(self):
        self.lost_resize()
        self.polled(0)
        other = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        with other.locked(0):
            self.assertEqual('CREATE_COMPLETE', self.polled(100))

    def test_the_api_of_the_cluster_is_never_asked(self):
        # It may be in a network that Magnum does not reach.
        with socket.create_server(('127.0.0.1', 0)) as server:
            self.created()
            port = server.getsockname()[1]
            self.w.rows.clusters[small_world.CLUSTER]['api_address'] = (
                f'https://127.0.0.1:{port}')
            path = next(p for p in self.api.objects if '/clusters/' in p)
            self.api.objects[path]['spec']['controlPlaneEndpoint'] = {
                'host': '127.0.0.1', 'port': port}
            self.resize(2)
            self.check_status(2)
            self.assertEqual(health.HEALTHY, self.poll()['health_status'])
            server.setblocking(False)
            self.assertRaises(BlockingIOError, server.accept)

    def autoscaled(self, count):
        """A cluster whose node group the autoscaler has made this large."""
        labels = {'auto_scaling_enabled': 'true'}
        self.w.rows.groups[small_world.WORKERS].update(
            min_node_count=1, max_node_count=5, labels=labels)
        self.w.rows.clusters[small_world.CLUSTER]['labels'] = labels
        self.created()
        self.scale(count)

    def scale(self, count):
        """Somebody gives the node group another size in Cluster API."""
        path = next(p for p in self.api.objects
                    if '/machinedeployments/' in p)
        self.api.objects[path]['spec']['replicas'] = count

    def test_size_follows_the_autoscaler(self):
        # E37
        self.autoscaled(3)
        self.poll()
        self.assertEqual((3, 'CREATE_COMPLETE'), (
            self.w.group().node_count, self.w.cluster.status))
        path = next(p for p in self.api.objects if '/machinedeployments/' in p)
        self.api.objects[path]['spec']['replicas'] = 2
        self.w.rows.clusters[small_world.CLUSTER][
            'status'] = 'UPDATE_COMPLETE'
        self.poll()
        self.assertEqual(2, self.w.group().node_count)

    def addressed(self, **addresses):
        """Have machines with these names have addresses, by type."""
        for path, obj in self.api.objects.items():
            for name, known in addresses.items():
                if f'/machines/{small_world.RELEASE}-{name}' in path:
                    obj['status']['addresses'] = [
                        {'type': kind, 'address': address}
                        for kind, address in known.items()]

    def test_addresses_are_those_of_the_machines(self):
        self.create()
        worker = f'{names.node_group(small_world.WORKERS)}'
        self.addressed(**{
            'control-plane': {'InternalIP': '10.0.0.4', 'Hostname': 'm'},
            worker: {'InternalIP': '10.0.0.5', 'ExternalIP': '192.0.2.5'}})
        self.check_status()
        self.assertEqual(
            ('CREATE_COMPLETE', ['10.0.0.4'], ['192.0.2.5']), (
                self.w.cluster.status,
                self.w.group(small_world.MASTERS).node_addresses,
                self.w.group().node_addresses))

        # Machines are replaced while nobody asks for anything.
        self.addressed(**{'control-plane': {'InternalIP': '10.0.0.7'},
                          worker: {'InternalIP': '10.0.0.6'}})
        self.poll()
        self.assertEqual((['10.0.0.7'], ['10.0.0.6']), (
            self.w.group(small_world.MASTERS).node_addresses,
            self.w.group().node_addresses))

    def test_size_that_is_as_it_was_takes_no_lock(self):
        self.autoscaled(300)
        self.poll()
        self.assertEqual(300, self.w.group().node_count)
        self.api.seen.clear()
        self.poll()
        self.assertEqual({'GET'}, {
            method for method, _ in self.api.calls()})

    def test_size_of_a_cluster_whose_deletion_failed_is_left_alone(self):
        self.autoscaled(3)
        self.w.rows.clusters[small_world.CLUSTER]['status'] = 'DELETE_FAILED'
        reconciler, state, snapshot = self.observed()
        self.assertEqual([], correction.corrections(
            reconciler.rows(), state, snapshot))

    def test_size_of_a_group_that_is_not_autoscaled_is_the_users(self):
        self.created()
        self.scale(3)
        self.poll()
        self.assertEqual(1, self.w.group().node_count)

    def test_size_is_left_alone_while_somebody_works_on_the_cluster(self):
        self.autoscaled(3)
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        with reconciler.locked(0):
            data = self.poll()
        self.assertEqual(1, self.w.group().node_count)
        self.assertEqual(health.HEALTHY, data['health_status'])
        # The health of the next clusters does not wait for it.
        self.assertEqual([], self.api.clock.naps)
        self.w.rows.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        self.poll()
        self.assertEqual(1, self.w.group().node_count)

    def failed(self, reason):
        self.created()
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='UPDATE_FAILED', status_reason=reason)
        self.poll()
        return self.w.cluster

    def test_refused_rotation_of_authorities_is_no_failure(self):
        # A.1: the conductor saves UPDATE_FAILED with it.
        cluster = self.failed(correction.ROTATION_REFUSED)
        self.assertEqual('UPDATE_COMPLETE', cluster.status)
        self.assertIn('CA rotation', cluster.status_reason)

    def test_any_other_failure_stays_one(self):
        self.assertEqual('UPDATE_FAILED', self.failed('too small').status)
        for status in ('CREATE_FAILED', 'UPDATE_IN_PROGRESS'):
            self.w.rows.clusters[small_world.CLUSTER].update(
                status=status, status_reason=correction.ROTATION_REFUSED)
            self.poll()
            self.assertEqual(status, self.w.cluster.status)

    def test_failure_to_keep_rows_true_does_not_hide_the_health(self):
        self.autoscaled(3)

        def fail(row):
            raise KeyError
        self.w.store.save = fail
        self.assertEqual(health.HEALTHY, self.poll()['health_status'])

    def test_never_raises(self):
        def broken():
            raise KeyError('kubeconfig')
        self.assertEqual(health.UNKNOWN, self.poll(broken)['health_status'])


class RememberedTest(Base):
    """What informers remember is enough for a cluster that is well."""

    server = kube_server.HttpApiServer

    def setUp(self):
        super().setUp()
        self.remember()

    def reads(self):
        return [path for _, path, query, _, _ in self.api.seen
                if path != '/apis' and not query.get('watch')]

    def quiet(self):
        self.created()
        known = (*self.cached._informers.values(), self.cached._versions)
        waiting.wait_for(
            lambda: all([found.fresh for found in known]), done=bool,
            timeout=10, what='informers', pace=waiting.Pace(0.01, 1, 1))
        self.poll()
        self.api.seen.clear()

    def test_cluster_that_is_well_costs_no_request(self):
        self.quiet()
        for status in ('CREATE_COMPLETE', 'UPDATE_COMPLETE'):
            self.w.rows.clusters[small_world.CLUSTER]['status'] = status
            for _time in range(3):
                self.assertEqual(health.HEALTHY, self.poll()['health_status'])
        self.assertEqual([], self.reads())

    def test_cluster_that_is_being_deleted_costs_no_request(self):
        self.quiet()
        self.w.rows.clusters[small_world.CLUSTER][
            'status'] = 'DELETE_IN_PROGRESS'
        self.assertEqual({'cluster': 'is being deleted'},
                         self.poll()['health_status_reason'])
        self.assertEqual([], self.reads())

    def test_state_of_the_cluster_is_read_when_it_was_written(self):
        self.quiet()
        reconciler = reconcile.Reconciler(
            self.w.runtime, self.w.store, self.w.row())
        before = self.cached.version(reconciler.namespace, state_module.name(
            reconciler.release))
        state = reconciler.secrets.state()
        reconciler.secrets.write_state(dataclasses.replace(
            state, generation=state.generation + 1))
        waiting.wait_for(
            lambda: self.cached.version(
                reconciler.namespace, state_module.name(reconciler.release)),
            done=lambda now: now != before, timeout=10, what='the version')
        self.api.seen.clear()
        self.poll()
        self.poll()
        self.assertEqual(1, len(self.reads()))

    def test_no_secret_is_kept(self):
        self.quiet()
        self.assertEqual({}, poll_cache.of(
            small_world.CLUSTER, self.w.runtime.clock.monotonic()
        ).state[1].secrets)

    def test_sizes_are_not_those_of_yesterday(self):
        # What is remembered of the group is older than its last resize.
        self.quiet()
        self.w.rows.groups[small_world.WORKERS].update(
            max_node_count=5, labels={'auto_scaling_enabled': 'true'})
        md = next(p for p in self.api.objects if '/machinedeployments/' in p)
        desired = self.api.objects[md]['spec']['replicas']
        of_cluster = cache.Informer.of_cluster

        def old(known, *args):
            found = of_cluster(known, *args)
            for obj in found:
                obj['spec'] = {**obj.get('spec', {}), 'replicas': desired + 3}
            return found
        self.patch(cache.Informer, 'of_cluster', old)

        self.poll()

        self.assertEqual(desired, self.w.group().node_count)

    def test_cluster_that_is_not_remembered_is_looked_for(self):
        self.quiet()
        self.patch(cache.Informer, 'get', lambda *_: None)
        self.assertEqual(health.HEALTHY, self.poll()['health_status'])
