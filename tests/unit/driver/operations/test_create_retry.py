# SPDX-License-Identifier: Apache-2.0


"""Does a creation outlive its lock, and does it leave others in peace?"""

import dataclasses
import re
from unittest import mock

from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.kube import lease
from tests.unit.driver import base
from tests.unit.driver import small_world
from tests.unit import fake_clock


class Clock(fake_clock.FakeClock):
    """Also calls a function at each nap, and moves the world's clock."""

    def __init__(self, world):
        super().__init__()
        self._world = world
        self.during = lambda: None

    def sleep(self, seconds):
        super().sleep(seconds)
        self._world.later(seconds=seconds)
        self.during()


class Base(base.TestCase):

    def setUp(self):
        super().setUp()
        self.clock = Clock(self.w)
        self.w.runtime = dataclasses.replace(self.w.runtime, clock=self.clock)
        self.began = self.clock.now
        self.row = self.w.row()
        self.w.rows.make_certificates(self.row)
        self.creation = self.operations(self.row)

    def lose_lock(self):
        """As when no renewal was answered in time."""
        self.creation._reconciler.lock._renewed -= 1000

    def losing(self, times):
        """Have it lost while the first plans are made."""
        defaults, left = self.w.store.defaults, [times]

        def slow():
            if left[0]:
                left[0] -= 1
                self.lose_lock()
            return defaults()
        self.w.store.defaults = slow

    def break_api(self, path, times=99):
        self.api.fault_path = re.compile(f'.*{path}')
        self.api.faults = [(503, {}, {})] * times

    def assert_complete(self):
        self.check_status(2)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        self.assertEqual(1, len(self.w.cloud.credentials))
        self.assertEqual([], [path for path in self.api.objects
                              if '/leases/' in path])


class LostLockTest(Base):
    """Before there is a credential."""

    def test_it_is_taken_again(self):
        # It was CREATE_FAILED, although the user's token was at hand.
        self.losing(2)
        self.creation.create(60)
        self.assertEqual(1, len(self.w.helm.upgrades))
        self.assertIn('try 3: The lock', self.w.cluster.status_reason)
        self.assert_complete()
        self.assertIsNone(self.w.cluster.status_reason)

    def test_who_had_it_meanwhile_has_the_last_word(self):
        for status in ('CREATE_COMPLETE', 'CREATE_FAILED',
                       'UPDATE_IN_PROGRESS'):
            with self.subTest(status):
                self.w.rows.clusters[small_world.CLUSTER][
                    'status'] = 'CREATE_IN_PROGRESS'
                ensure = self.w.runtime.kube.ensure_namespace

                def end(*args, status=status, ensure=ensure):
                    ensure(*args)
                    self.w.rows.clusters[small_world.CLUSTER][
                        'status'] = status
                with mock.patch.object(
                        self.w.runtime.kube, 'ensure_namespace', end):
                    self.operations().create(60)
                self.assertEqual((0, {}, status), (
                    len(self.w.helm.upgrades), self.w.cloud.credentials,
                    self.w.cluster.status))

    def test_no_credential_is_made_without_it(self):
        write = cluster_secrets.ClusterSecrets.write_state

        def slow(*args):
            written = write(*args)
            if not self.clock.naps and args[1].record:
                self.lose_lock()
            return written
        self.patch(cluster_secrets.ClusterSecrets, 'write_state', slow)
        self.fail_at(
            'meanwhile', 'POST /identity/v3/users', act=lambda:
            self.assertTrue(self.creation._reconciler.lock.held))
        self.creation.create(60)
        self.assertEqual(1, len(self.w.cloud.made))
        self.assert_complete()

    def test_a_management_cluster_that_is_away_is_waited_for(self):
        self.losing(1)
        self.clock.during = lambda: self.break_api(
            '/leases', 0 if self.clock.naps[2:] else 30)
        self.creation.create(60)
        self.assertEqual(3, len(self.clock.naps))
        self.assert_complete()

    def test_one_that_goes_away_while_the_lock_is_had_is_waited_for(self):
        defaults = self.w.store.defaults

        def away():
            if not self.clock.naps:
                self.break_api('/secrets')
            return defaults()
        self.w.store.defaults = away
        self.clock.during = lambda: self.break_api('', 0)
        self.creation.create(60)
        self.assert_complete()

    def test_one_that_was_never_there_fails_it_at_once(self):
        self.break_api('')
        self.assertRaises(failures.Failed, self.creation.create, 60)
        self.assertEqual([], self.clock.naps)

    def test_who_has_it_meanwhile_is_not_disturbed(self):
        self.losing(1)
        reconciler = self.creation._reconciler
        other = lease.Lock(self.w.runtime.kube, reconciler.namespace,
                           reconciler.release, duration=30, background=False)

        def use():
            if len(self.clock.naps) == 1:
                other.acquire(0)
            elif len(self.clock.naps) == 4:
                other.check()
                self.assertEqual([], self.w.helm.upgrades)
                other.release()
        self.clock.during = use
        self.creation.create(60)
        self.assertEqual(4, len(self.clock.naps))
        self.assertNotIn('Took over', self.logger.output)
        self.assert_complete()

    def test_the_status_does_not_take_it_for_lost(self):
        self.losing(5)

        def meanwhile():
            self.w.later(seconds=50)
            self.check_status()
            self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.clock.during = meanwhile
        self.creation.create(60)
        self.assertEqual(5, len(self.clock.naps))
        self.assert_complete()

    def waited(self):
        """Where it is noted how long a patient creation waits for its lock."""
        self.configure(lock_timeout=100, lost_after=60)
        self.creation = self.operations(self.row)
        waited, hold = [], lease.Lock.hold

        def noted(found, timeout):
            waited.append(timeout)
            return hold(found, timeout)
        self.patch(lease.Lock, 'hold', noted)
        return waited

    def test_deletion_right_behind_it_wins(self):
        self.losing(1)
        self.clock.during = lambda: self.operations().delete()
        self.creation.create(60)
        self.assertEqual('DELETE_IN_PROGRESS', self.w.cluster.status)
        self.assertEqual([], self.w.helm.upgrades)
        self.assertEqual({}, self.w.cloud.credentials)
        self.check_status(2)
        self.assertEqual('DELETE_COMPLETE', self.w.cluster.status)
        self.assertEqual([], self.w.left())

    def test_what_became_of_it_meanwhile_stays(self):
        defaults = self.w.store.defaults

        def end():
            self.lose_lock()
            self.w.rows.clusters[small_world.CLUSTER].update(
                status='CREATE_FAILED', status_reason='so')
            return defaults()
        self.w.store.defaults = end
        self.creation.create(60)
        self.assertEqual(('CREATE_FAILED', 'so'), (
            self.w.cluster.status, self.w.cluster.status_reason))
        self.assertEqual([], self.w.helm.upgrades)

    def test_create_timeout_is_the_end(self):
        self.losing(1000)
        e = self.assertRaises(failures.Failed, self.creation.create, 1)
        self.assertIn('was lost', str(e))
        self.assertEqual('CREATE_FAILED', self.w.group().status)
        self.assertEqual(60, self.clock.now - self.began)
        # Often at first, then every five seconds.
        self.assertEqual([0.5, 1, 2, 4, 5, 5], self.clock.naps[:6])

    def test_lock_is_not_waited_for_beyond_it(self):
        waited = self.waited()
        self.losing(1000)
        self.assertRaises(failures.Failed, self.creation.create, 1)
        self.assertEqual([100, 20], waited[:2])
        # At the end there is only a last poll.
        self.assertEqual([2.5, 0], waited[-2:])

    def test_without_one_it_is_the_life_of_a_token(self):
        def pass_by():
            self.clock.now = max(self.clock.now, 3500)
        self.clock.during = pass_by
        self.losing(1000)
        self.assertRaises(failures.Failed, self.creation.create, 0)
        self.assertEqual(3600, self.clock.now - self.began)


class CredentialTest(Base):
    """With a credential the status goes on, whatever was lost."""

    def test_lost_lock_is_left_to_the_status(self):
        self.fail_at('meanwhile', 'POST /identity/v3/users',
                     act=self.lose_lock)
        self.creation.create(60)
        self.assertEqual([], self.clock.naps)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.assertIn('Will be tried again', self.w.cluster.status_reason)
        self.assert_complete()

    def test_so_it_is_when_nobody_can_read_the_record(self):
        # It was CREATE_FAILED.
        def away():
            self.break_api('/secrets')
            raise helm_errors.HelmDisturbed('no', reason='no answer')
        self.w.helm.before = away
        self.creation.create(60)
        self.assertEqual('CREATE_IN_PROGRESS', self.w.cluster.status)
        self.break_api('', 0)
        self.w.helm.before = lambda: None
        self.assert_complete()
