# SPDX-License-Identifier: Apache-2.0

"""What the periodic status makes of a running operation."""

import contextlib
import re

import fixtures

from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from tests.lib import kube_server
from tests.unit.driver import base
from tests.unit.driver import objects
from tests.unit.driver import small_world


def forbidden(verb, resource, group='coordination.k8s.io'):
    """A fault: what a kube-apiserver says when RBAC does not allow this.

    (apiserver, pkg/endpoints/handlers/responsewriters/errors.go)
    """
    return 403, {}, {'kind': 'Status', 'reason': 'Forbidden', 'message': (
        f'{resource}.{group} is forbidden: User "magnum-of-the-operator" '
        f'cannot {verb} resource "{resource}" in API group "{group}" in the '
        f'namespace "{small_world.NAMESPACE}"')}


class WatchTest(base.TestCase):

    def test_complete_says_where_and_what(self):
        self.created()
        self.assertEqual('https://192.0.2.7:6443',
                         self.w.cluster.api_address)
        self.assertEqual('v1.34.2', self.w.cluster.coe_version)
        self.assertEqual('CREATE_COMPLETE', self.w.group().status)

    def test_network_plugin_that_failed_is_named_while_no_node_is_ready(self):
        # In the sandbox nodes are ready without one.
        self.create()
        for path, found in self.api.objects.items():
            if '/clusters/' in path:
                objects.condition(found, 'Available', status='False')
            if '/machinedeployments/' in path:
                found['status'].update(readyReplicas=0, availableReplicas=0)
            if '/helmreleases/' in path:
                found['status'] = {'phase': 'Failed',
                                   'failureMessage': 'no such chart'}

        self.check_status(2)

        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('no such chart', self.w.cluster.status_reason)

    def test_a_busy_cluster_costs_one_request_and_no_lock(self):
        self.create()
        path = self.make_busy()
        self.check_status(2)
        self.api.seen.clear()
        self.check_status()
        self.assertEqual([('GET', path)], self.api.calls())

    def test_lost_creation_without_a_credential_fails_with_the_cure(self):
        self.check_status()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('create it again', self.w.cluster.status_reason)
        self.assertEqual('CREATE_FAILED', self.w.group().status)

    def test_row_that_was_never_seen_before_may_be_new(self):
        self.configure(lost_after=1)
        for status in ('CREATE_IN_PROGRESS', 'CREATE_FAILED'):
            self.check_status()
            self.assertEqual(status, self.w.cluster.status)
            self.w.later(seconds=1)

    def test_creation_that_holds_the_lock_is_not_disturbed(self):
        self.w.later(seconds=61)
        reconciler = self.reconciler()
        with reconciler.locked(0):
            self.check_status()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertNotIn('no status', self.logger.output)

    def test_row_that_goes_while_it_is_looked_at_is_no_error(self):
        self.create()
        poller = self.new_loop()
        locked = poller._reconciler.locked

        def go(timeout):
            self.w.rows.clusters.clear()
            return locked(timeout)
        poller._reconciler.locked = go
        poller.poll()
        self.assertNotIn('no status', self.logger.output)

    def test_right_that_is_missing_is_named_until_it_is_there(self):
        # Also if it is one to the lock.
        self.create()
        self.api.faults = [forbidden('get', 'leases')] * 9
        self.check_status()
        self.assertEqual(
            ('CREATE_IN_PROGRESS',
             'Waiting: The management cluster does not allow this: get '
             'leases.coordination.k8s.io. Give the user of the kubeconfig '
             'this right'),
            (self.w.cluster.status, self.w.cluster.status_reason))
        self.assertIn('no status now: The management cluster does not allow '
                      'this', self.logger.output)
        self.api.faults.clear()
        self.check_status()
        self.assertEqual(('CREATE_COMPLETE', None), (
            self.w.cluster.status, self.w.cluster.status_reason))

    def test_right_that_is_missing_is_not_named_once_all_is_done(self):
        self.create()

        def end(request):
            self.w.rows.clusters[small_world.CLUSTER][
                'status'] = 'CREATE_COMPLETE'
            request.answer(*forbidden('get', 'clusters'))
        self.api.faults = [end]
        self.check_status()
        self.assertIsNone(self.w.cluster.status_reason)

    def test_user_that_is_unknown_for_a_while_ends_nothing(self):
        # Its token was rotated; the operator has yet to write the new one.
        self.created()

        self.api.faults = [(401, {}, {})] * 99
        self.resize(2)
        reasons = [self.w.cluster.status_reason]
        self.check_status()
        reasons.append(self.w.cluster.status_reason)
        self.api.faults.clear()
        self.check_status(2)

        text = ('The management cluster does not know the user of the '
                'kubeconfig')
        self.assertEqual(
            [f'Will be tried again: {text}', f'Waiting: {text}'], reasons)
        self.assertEqual(('UPDATE_COMPLETE', None), (
            self.w.cluster.status, self.w.cluster.status_reason))
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_user_that_becomes_unknown_at_a_write_ends_nothing(self):
        self.died()
        self.api.fault_path = re.compile('.*/secrets/.*-cloud-credentials$')
        self.api.faults = [(401, {}, {})] * 99
        self.check_status()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.api.faults.clear()
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_api_that_is_not_served_is_told_by_who_has_the_lock(self):
        self.create()
        row = self.w.row()
        other = reconcile.Reconciler(self.w.runtime, self.w.store, row)
        self.api.fault_path = re.compile('.*/clusters/')
        for held, told in ((True, False), (False, True)):
            self.api.faults = [kube_server.UNKNOWN_PATH] * 9
            with other.locked(0) if held else contextlib.nullcontext():
                self.check_status()
            self.assertEqual(told, 'Waiting: ' in (
                self.w.cluster.status_reason or ''))
        # What is told already needs no lock.
        self.api.seen.clear()
        self.api.faults = [kube_server.UNKNOWN_PATH] * 9
        self.check_status()
        self.assertEqual([], [path for _, path in self.api.calls()
                              if '/leases' in path])

    def test_reason_that_cannot_be_written_is_no_error_of_the_poll(self):
        self.create()
        for error in (rest.Forbidden('no right to the lock'),
                      errors.UsageError('of another driver now')):
            poller = self.new_loop()
            answers = [rest.NotServed('not served'), error]

            def refused(_timeout, answers=answers):
                raise answers.pop(0)
            poller._reconciler.locked = refused
            self.w.later(minutes=61)
            poller.poll()
            self.assertEqual([], answers)

    def died(self):
        """A creation whose conductor died when helm was to begin."""
        def die():
            raise SystemExit
        self.w.helm.before = die
        self.assertRaises(SystemExit, self.create)
        self.w.helm.before = lambda: None

    def test_lost_creation_with_a_credential_goes_on(self):
        self.died()
        self.check_status()
        self.assertEqual(small_world.RELEASE, self.w.cluster.stack_id)
        self.check_status()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_lost_creation_ends_by_its_create_timeout(self):
        self.died()
        self.w.later(minutes=61)
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertIn('Not finished within 60 minutes',
                      self.w.cluster.status_reason)

    def test_lost_creation_that_meets_what_passes_says_so_once(self):
        self.died()

        def slow():
            raise helm_errors.HelmDisturbed('slow', reason='timeout')
        self.w.helm.before = slow
        for seconds in (0, 10):
            self.w.later(seconds=seconds)
            self.check_status()
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
            self.assertEqual('Will be tried again: timeout',
                             self.w.cluster.status_reason)
            self.assertEqual(small_world.NOW, self.w.cluster.updated_at)
        self.w.helm.before = lambda: None
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_lost_creation_that_its_owner_deletes_meanwhile_ends(self):
        self.died()

        def delete():
            self.w.rows.clusters[small_world.CLUSTER]['status'] = (
                'DELETE_IN_PROGRESS')
            raise failures.ClusterGone('deleted')
        self.w.helm.before = delete
        self.check_status()
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertIsNone(self.w.cluster.status_reason)

    def test_lost_creation_whose_credential_was_not_applied_goes_on(self):
        def die(*_args):
            raise SystemExit
        with fixtures.MonkeyPatch(
                'magnum_capi.driver.keys.cluster_secrets.ClusterSecrets'
                '.write_credentials', die):
            self.assertRaises(SystemExit, self.create)
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(1, len(self.w.cloud.credentials))

    def test_lock_that_a_dead_conductor_left_is_taken_over(self):
        # Each poll asks once and does not wait.
        self.create()
        reconciler = self.reconciler()
        dead = lease.Lock(self.w.runtime.kube, reconciler.namespace,
                          reconciler.release, duration=30, background=False)
        dead.acquire(0)
        now = [1000]
        self.patch(lease.time, 'monotonic', lambda: now[0])
        for _time in range(3):
            self.check_status()
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
            now[0] += 11
        self.check_status()
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_resumed_creation_that_is_refused_fails(self):
        self.died()

        def refuse():
            raise helm_errors.HelmFailed(
                'helm failed', reason='The chart wants a zone')
        self.w.helm.before = refuse
        self.check_status()
        self.assertEqual('CREATE_FAILED', self.w.cluster.status)
        self.assertEqual('The chart wants a zone',
                         self.w.cluster.status_reason)

    def test_time_of_an_update_counts_from_its_request(self):
        self.created()
        self.w.later(hours=5)
        self.resize(2)
        self.make_busy()
        self.check_status(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)

    def test_operation_does_not_end_for_rows_of_before(self):
        # A request that does not get the lock only writes rows.
        self.create()
        whole = observer.whole
        for field, value in (('node_count', 5), ('status', 'UPDATE_FAILED')):
            def changing(*args, field=field, value=value):
                self.w.rows.groups[small_world.WORKERS][field] = value
                return whole(*args)
            self.patch(observer, 'whole', changing)
            self.check_status()
            self.patch(observer, 'whole', whole)
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
            self.assertEqual(value, getattr(self.w.group(), field))
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)
        self.assertEqual(2, len(self.w.helm.upgrades))

    def test_state_that_somebody_removed_needs_a_user(self):
        self.created()
        self.w.rows.groups[small_world.WORKERS]['node_count'] = 3
        self.w.rows.clusters[small_world.CLUSTER]['status'] = (
            'UPDATE_IN_PROGRESS')
        path = next(p for p in self.api.objects if p.endswith('-magnum'))
        del self.api.objects[path]
        self.check_status()
        self.assertEqual('UPDATE_FAILED', self.w.cluster.status)
        self.assertEqual(
            'a member of its project must request a new credential',
            self.w.cluster.status_reason)

    def test_management_cluster_that_is_away_changes_nothing(self):
        self.create()
        self.api.faults = [(503, {}, {})] * 99
        self.check_status()
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('no status now', self.logger.output)

    def test_ended_operations_cost_nothing(self):
        self.created()
        self.api.seen.clear()
        self.check_status()
        self.assertEqual([], self.api.calls())
