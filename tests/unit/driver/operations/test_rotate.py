# SPDX-License-Identifier: Apache-2.0

"""Rotation of credentials."""

import contextlib

from magnum_capi.driver.cloud import keypairs
from magnum_capi.driver.cloud import services
from magnum_capi.driver import failures
from magnum_capi.driver import reconcile
from magnum_capi.kube import lease
from tests.unit.driver import base
from tests.unit.driver import small_world


class RotateTest(base.TestCase):

    def test_both_are_valid_until_the_new_one_is_taken_up(self):
        # B.4.15: the old one was deleted at once.
        self.created()
        self.operations().rotate('u1')
        self.assertEqual([0, 1], self.w.credentials())
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.check_status()
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.api.seen.clear()
        self.check_status()
        # What the cluster reads is as it was.
        self.assertEqual([], [
            (method, path) for method, path in self.api.calls()
            if path.endswith('-cloud-credentials') and method != 'GET'])
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([1], self.w.credentials())

    def test_another_member_gets_the_key_pair_of_the_nodes(self):
        self.created()
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'
        asked = []
        self.patch(keypairs, 'copy', lambda *args: asked.append(args[:2]))
        self.w.ask_as('u2', 'member')
        self.operations().rotate('u2')
        self.operations().rotate('u2')
        # An operator's token is for another project.
        self.w.ask_as()
        self.assertRaises(failures.Failed, self.operations().rotate, 'admin')
        self.assertEqual([('key', 'u1')], asked)

    def test_rotation_needs_an_answer_about_the_key_pair(self):
        # The new owner would be without it for good.
        self.created()
        self.w.rows.clusters[small_world.CLUSTER]['keypair'] = 'key'
        before = self.api.objects.copy()

        def away(*args):
            raise services.CloudUnreachable('No answer about the keypair key')
        self.patch(keypairs, 'copy', away)
        self.w.ask_as('u2', 'member')
        e = self.assertRaises(failures.Failed, self.operations().rotate, 'u2')
        self.assertIn('No answer about the keypair key', str(e))
        self.assertEqual([0], self.w.credentials())
        self.assertEqual(
            [], [path for path, obj in before.items() if '/leases/' not in path
                 and self.api.objects[path] != obj])

    def test_old_one_that_keystone_does_not_delete_is_named(self):
        self.created()
        self.rotate_without_an_end()
        self.assertIn('application credential', self.w.cluster.status_reason)
        # The next operation tries again.
        self.w.doors.clear()
        self.resize(2)
        self.check_status(3)
        self.assertEqual([1], self.w.credentials())

    def test_lock_is_not_waited_for_longer_than_magnum_waits(self):
        self.created()
        waited = []

        @contextlib.contextmanager
        def locked(reconciler, timeout):
            waited.append(timeout)
            raise lease.LockBusy('busy', holder='somebody')
            yield
        self.patch(reconcile.Reconciler, 'locked', locked)
        self.configure(lock_timeout=60, answer_timeout=49)
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.configure(lock_timeout=24)
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.assertEqual([24.5, 24], waited)
        # Nobody else can bring in a credential of this user.
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_new_owner(self):
        self.created()
        self.w.ask_as('u2', 'member')
        self.operations().rotate('u2')
        self.assertEqual('u2', self.w.cluster.user_id)
        # B.4.15: the old one is still its first owner's.
        self.w.later(seconds=61)
        self.check_status()
        self.assertEqual([1], self.w.credentials())
        self.assertEqual('u2', self.w.cloud.made[1].user)

    def test_failure_keeps_the_old_one(self):
        self.created()
        self.w.ask_as('u1', 'nothing')
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        self.assertEqual([0], self.w.credentials())
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status)

    def test_rotation_that_failed_is_reported_by_the_next_operation(self):
        self.test_failure_keeps_the_old_one()
        self.resize(2)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertIn('must request', self.w.cluster.status_reason)

    def test_refused_one_leaves_a_running_operation_alone(self):
        self.created()
        self.resize(3)
        self.make_busy()
        before = self.reconciler().secrets.state()
        self.w.ask_as('u1', 'nothing')
        self.assertRaises(failures.Failed, self.operations().rotate, 'u1')
        now = self.reconciler().secrets.state()
        self.assertEqual(
            ('UPDATE', before.since, before.generation),
            (now.operation, now.since, now.generation))

    def test_rotation_after_one_that_failed(self):
        self.test_failure_keeps_the_old_one()
        self.w.ask_as('u1', 'member')
        self.operations().rotate('u1')
        self.w.later(seconds=61)
        self.check_status()
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status)
        self.assertEqual([1], self.w.credentials())

    def test_running_operation_is_not_ended(self):
        # B.4.15: it became UPDATE_COMPLETE.
        self.created()
        self.resize(3)
        self.make_busy()
        self.operations().rotate('u1')
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
        self.w.later(seconds=61)
        self.check_status(3)
        self.assertEqual('UPDATE_IN_PROGRESS', self.w.cluster.status)
