# SPDX-License-Identifier: Apache-2.0

"""Operations end by a lack of progress and not by their age.

Time is simulated: it passes between two polls, as it does in production.
"""

import copy
import dataclasses

import fixtures

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver import monitor
from magnum_capi.driver import poll_cache
from magnum_capi import errors
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world


RELEASE = small_world.RELEASE
GROUP = names.node_group(small_world.WORKERS)
WORKERS = 30


class Base(base.TestCase):
    """A cluster of thirty workers, which are replaced one at a time."""

    def setUp(self):
        super().setUp()
        self.w.rows.groups[small_world.WORKERS]['node_count'] = WORKERS
        self.patch(app_credentials, 'check',
                   lambda *args: credentials.VALID)

    def upgrade(self):
        """Ask for an upgrade; no machine is replaced yet."""
        self.created()
        self.request_upgrade()
        self.check_status()
        # The control plane is ready at once, so that it is their turn.
        self.check_status()
        self.replaced(0)

    def replaced(self, done, ready=WORKERS):
        """Have so many workers the new version, and so many be ready."""
        release = small_world.RELEASE
        for path, obj in list(self.api.objects.items()):
            obj = copy.deepcopy(obj)
            if '/machinesets/' in path:
                del self.api.objects[path]
            if '/machinedeployments/' in path:
                obj['status'].update(
                    replicas=WORKERS, upToDateReplicas=done,
                    readyReplicas=ready, availableReplicas=ready)
                self.api.put(path, obj)
                new = obj['spec']['template']['spec']['version']
                machine = obj['spec']['template']['spec'][
                    'infrastructureRef']['name']
            if '/clusters/' in path:
                obj['status']['workers'] = {
                    'desiredReplicas': WORKERS, 'replicas': WORKERS,
                    'readyReplicas': ready, 'availableReplicas': ready,
                    'upToDateReplicas': done}
                self.api.put(path, obj)
        for name, kube, count in (('old', 'v1.34.0', WORKERS - done),
                                  ('new', new, done)):
            made = objects.machine_set(
                key=GROUP, name=name, kube=kube, count=count,
                machine=machine)
            made['metadata']['name'] = f'{release}-{GROUP}-{name}'
            made['metadata']['labels'] = {
                names.CAPI_CLUSTER_NAME: release,
                'cluster.x-k8s.io/deployment-name': f'{release}-{GROUP}'}
            self.w.helm.put('machinesets', made)

    def minutes(self, number):
        """Let time pass, with Magnum's polls of the cluster.

        A process takes three polls for one that reads everything.
        """
        for _minute in range(number):
            self.w.later(minutes=1)
            self.check_status(3)

    def poll_health(self):
        found = monitor.Monitor(lambda: dataclasses.replace(
            self.w.runtime, clock=self.api.clock),
            self.w.store, self.w.row())
        found.poll_health_status()
        return found.data.get('health_status')

    def assert_status(self, status, reason=None):
        self.assertEqual(status, self.w.cluster.status,
                         self.w.cluster.status_reason)
        if reason is not None:
            self.assertIn(reason, self.w.cluster.status_reason or '')


class UpdateTest(Base):

    def test_rollout_that_takes_longer_than_create_timeout_completes(self):
        self.upgrade()
        for done in range(1, WORKERS):
            self.minutes(3)
            self.replaced(done)
            self.assert_status('UPDATE_IN_PROGRESS')
        self.minutes(3)
        self.replaced(WORKERS)
        self.check_status()
        self.assert_status('UPDATE_COMPLETE')

    def test_rollout_that_stops_fails_an_hour_later(self):
        self.upgrade()
        self.minutes(30)
        self.replaced(12)
        self.minutes(59)
        self.assert_status('UPDATE_IN_PROGRESS')
        self.minutes(2)
        self.assert_status('UPDATE_FAILED', 'No progress for 60 minutes')

    def test_reason_tells_how_far_it_is_and_since_when(self):
        self.upgrade()
        self.minutes(5)
        self.replaced(12, ready=WORKERS - 1)
        self.minutes(10)
        self.assert_status('UPDATE_IN_PROGRESS',
                           '12 of 30 machines replaced')
        self.assertIn('Last progress: 2026-11-21 15:06 UTC',
                      self.w.cluster.status_reason)

    def test_machines_that_come_and_go_and_never_get_ready_are_no_progress(
            self):
        self.upgrade()
        self.replaced(12)
        for _time in range(13):
            self.minutes(3)
            self.replaced(13, ready=WORKERS - 1)
            self.minutes(2)
            self.replaced(12, ready=WORKERS - 1)
        self.assert_status('UPDATE_FAILED', 'No progress for 60 minutes')

    def test_progress_that_another_conductor_saw_counts(self):
        self.upgrade()
        self.minutes(40)
        self.replaced(12)
        self.minutes(1)
        poll_cache.forget(small_world.CLUSTER)
        self.minutes(55)
        self.assert_status('UPDATE_IN_PROGRESS')

    def test_hours_without_polls_do_not_count(self):
        # Magnum or the management cluster was down.
        self.upgrade()
        self.minutes(10)
        self.w.later(hours=8)
        self.minutes(40)
        self.assert_status('UPDATE_IN_PROGRESS')
        self.minutes(30)
        self.assert_status('UPDATE_FAILED')

    def test_limit_is_an_option(self):
        self.configure(progress_timeout=0)
        self.upgrade()
        self.minutes(70)
        self.assert_status('UPDATE_IN_PROGRESS')

    def test_creation_ends_by_its_create_timeout_all_the_same(self):
        self.create()
        for done in range(3):
            self.replaced(WORKERS, ready=done)
            self.minutes(21)
        self.assert_status('CREATE_FAILED', 'Not finished within 60 minutes')


class RecoveryTest(Base):
    """What failed and came right after all."""

    def stalled(self):
        self.upgrade()
        self.minutes(1)
        self.replaced(12)
        self.minutes(62)
        self.assert_status('UPDATE_FAILED')

    def test_failed_update_is_complete_when_all_is_there(self):
        self.stalled()
        self.replaced(WORKERS)
        self.poll_health()
        self.check_status(2)
        self.assert_status('UPDATE_COMPLETE')
        self.assertIsNone(self.w.cluster.status_reason)
        self.assertEqual('UPDATE_COMPLETE', self.w.group().status)

    def test_failed_creation_is_complete_when_all_is_there(self):
        self.create()
        self.replaced(WORKERS, ready=0)
        self.minutes(61)
        self.poll_health()
        self.assert_status('CREATE_FAILED')
        self.replaced(WORKERS)
        self.poll_health()
        self.check_status(2)
        self.assert_status('CREATE_COMPLETE')
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)

    def test_refusal_of_a_later_request_stays(self):
        # As the conductor does when a driver refuses.
        self.stalled()
        self.replaced(WORKERS)
        self.w.rows.clusters[small_world.CLUSTER][
            'status_reason'] = 'node x is not in the node group'
        self.poll_health()
        self.check_status(2)
        self.assert_status('UPDATE_FAILED', 'node x')

    def test_failure_that_the_driver_did_not_see_stays(self):
        # There was nothing to wait for: the request itself was refused.
        self.created()
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='UPDATE_FAILED', status_reason='too small')
        self.poll_health()
        self.assert_status('UPDATE_FAILED', 'too small')

    def test_whoever_works_on_it_is_not_disturbed(self):
        self.stalled()
        self.replaced(WORKERS)
        poller = self.new_loop()
        with poller._reconciler.locked(0):
            self.poll_health()
        self.assert_status('UPDATE_FAILED')


class DeletionTest(Base):

    def stuck(self):
        """A deletion that waits for a machine; returns its path."""
        self.created()
        machine = objects.machine()
        machine['metadata'].update(
            deletionTimestamp='2026-11-21T15:00:00Z',
            finalizers=['its controller'],
            labels={names.CAPI_CLUSTER_NAME: small_world.RELEASE})
        self.operations().delete()
        return self.w.helm.put('machines', machine)

    def test_it_is_never_given_up(self):
        path = self.stuck()
        self.minutes(61)
        self.w.later(days=2)
        self.check_status(3)
        self.assert_status('DELETE_IN_PROGRESS', 'Machine')
        self.assertIn('Last progress: 2026-11-21 15:01 UTC',
                      self.w.cluster.status_reason)
        del self.api.objects[path]
        self.check_status(3)
        self.assert_status('DELETE_COMPLETE')

    def test_one_that_magnum_gave_up_is_taken_up_again(self):
        # As the conductor does after an error of the driver.
        self.created()
        self.operations().delete()
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='DELETE_FAILED', status_reason='helm is not installed')
        self.check_status(3)
        self.assert_status('DELETE_FAILED')
        self.poll_health()
        self.assert_status('DELETE_IN_PROGRESS', 'helm is not installed')
        self.check_status(3)
        self.assert_status('DELETE_COMPLETE')

    def test_one_that_a_late_resize_ended_is_taken_up_again(self):
        # Magnum's conductor writes over the status of the cluster.
        self.created()
        self.operations().delete()
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='UPDATE_FAILED', status_reason='a resize failed')
        self.poll_health()
        self.check_status(3)
        self.assert_status('DELETE_COMPLETE')

    def test_cluster_of_another_driver_is_left_alone(self):
        self.created()
        self.w.rows.clusters[small_world.CLUSTER].update(
            status='DELETE_FAILED', stack_id='mine-abcdefghijkl')
        self.poll_health()
        self.assert_status('DELETE_FAILED')

    def test_error_of_a_retry_is_reported_and_tried_again(self):
        self.created()
        self.w.rows.clusters[small_world.CLUSTER][
            'status'] = 'DELETE_IN_PROGRESS'

        def fail(*args):
            raise errors.EnvironmentProblem('The program helm is missing')
        with fixtures.MonkeyPatch(
                'tests.unit.driver.small_world.Helm.uninstall', fail):
            self.minutes(61)
        self.assert_status('DELETE_IN_PROGRESS', 'The program helm is '
                           'missing. Waiting for: ')
        self.check_status(3)
        self.assert_status('DELETE_COMPLETE')
