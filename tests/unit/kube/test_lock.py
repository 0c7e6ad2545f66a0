# SPDX-License-Identifier: Apache-2.0

import re
import threading
from unittest import mock

import fixtures
import testtools
from testtools import matchers

from magnum_capi import errors
from magnum_capi.kube import lock
from magnum_capi.kube import rest
from tests.unit.driver import api_server

PATH = '/apis/coordination.k8s.io/v1/namespaces/n/leases/c1'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(api_server.ApiServer())
        self.clock = self.api.clock
        self.kube = self.api.kube()

    def lock(self, **options):
        options = {'duration': 30, 'clock': self.clock, 'background': False,
                   **options}
        return lock.Lock(self.kube, 'n', 'c1', **options)

    def holder(self):
        return self.api.objects[PATH]['spec']['holderIdentity']

    def refuse(self, method, status):
        """Answer the first request of a method with a status."""
        def pick(request):
            if request.method == method:
                return request.answer(status, {}, {})
            self.api.faults = [pick]
            request.act(request.target, {}, self.api.seen[-1][4])
        self.api.faults = [pick]

    def stranger(self, **spec):
        self.api.put(PATH, {'spec': {
            'holderIdentity': 'stranger', 'leaseDurationSeconds': 30,
            **spec}})


class AcquireTest(_Base):

    def test_two_requests_and_nothing_left(self):
        with self.lock(labels={'a': 'b'}).hold(0) as held:
            self.assertTrue(held.held)
            self.assertEqual(held.identity, self.holder())
            self.assertEqual({'a': 'b'},
                             self.api.objects[PATH]['metadata']['labels'])
        self.assertFalse(held.held)
        self.assertEqual({}, self.api.objects)
        self.assertEqual(2, self.kube.requests)

    def test_given_back_after_an_error_too(self):
        try:
            with self.lock().hold(0):
                raise KeyError
        except KeyError:
            pass
        self.assertEqual({}, self.api.objects)

    def test_two_locks_of_one_process_exclude_each_other(self):
        with self.lock().hold(0) as first:
            e = self.assertRaises(lock.LockBusy, self.lock().acquire, 5)
        self.assertEqual(first.identity, e.holder)
        self.assertIn('waited', str(e))

    def test_waits_for_the_holder(self):
        first = self.lock()
        first.acquire(0)
        sleep = self.clock.sleep

        def free(seconds):
            sleep(seconds)
            if self.clock.now > 3:
                first.release()

        self.clock.sleep = free
        with self.lock().hold(10) as second:
            self.assertTrue(second.held)

    def test_looks_soon_and_then_every_two_seconds(self):
        self.stranger(leaseDurationSeconds=1000)
        self.assertRaises(lock.LockBusy, self.lock().acquire, 60)
        naps = [round(nap, 3) for nap in self.clock.naps]
        self.assertEqual([0.2, 0.3, 0.45], naps[:3])
        self.assertEqual(2.0, max(naps))

    def test_holder_that_left_between_two_requests(self):
        self.api.fault_path = re.compile(PATH.rpartition('/')[0] + '$')
        self.api.faults = [(409, {}, {})]
        e = self.assertRaises(lock.LockBusy, self.lock().acquire, 0)
        self.assertEqual('a process that has just released it', e.holder)

    def test_own_lost_answer_is_no_other_holder(self):
        def lose(request):
            path = PATH.rpartition('/')[0]
            self.api.put(PATH, self.api.seen[-1][4])
            self.assertEqual(path, request.target)
            api_server.hang_up(request)

        self.api.faults = [lose]
        with self.lock().hold(0) as held:
            self.assertTrue(held.held)
        self.assertEqual({}, self.api.objects)

    def test_management_cluster_that_is_away_is_no_busy_lock(self):
        self.api.faults = [(503, {}, {})] * 200
        self.assertRaises(rest.Unreachable, self.lock().acquire, 5)


class TakeOverTest(_Base):

    def test_dead_holder_is_replaced_after_its_duration(self):
        self.stranger()
        mine = self.lock()
        mine.acquire(60)
        self.assertGreaterEqual(self.clock.now, 30)
        self.assertEqual(mine.identity, self.holder())

    def test_first_take_over_is_one(self):
        # An empty Lease, that of a holder that gave it up.
        self.stranger(holderIdentity='')
        mine = self.lock()
        mine.acquire(0)
        self.assertEqual(1, self.api.objects[PATH]['spec'][
            'leaseTransitions'])

    def test_take_overs_are_counted(self):
        for number in (4, 5):
            self.stranger(leaseTransitions=number)
            self.lock().acquire(60)
            self.assertEqual(number + 1, self.api.objects[PATH]['spec'][
                'leaseTransitions'])

    def test_times_in_the_lease_do_not_count(self):
        # The clocks of two machines differ; only what is seen to stand
        # still is dead.
        self.stranger(renewTime='1999-01-01T00:00:00.000000Z')
        self.assertRaises(lock.LockBusy, self.lock().acquire, 20)

    def test_holder_that_renews_keeps_it(self):
        self.stranger()
        sleep = self.clock.sleep

        def renewed(seconds):
            sleep(seconds)
            self.stranger()

        self.clock.sleep = renewed
        self.assertRaises(lock.LockBusy, self.lock().acquire, 70)

    def test_empty_holder_is_replaced_at_once(self):
        self.stranger(holderIdentity='')
        self.lock().acquire(0)

    def test_take_over_that_another_won_names_who_is_known(self):
        for holder, told in (('stranger', 'stranger'),
                             ('', 'another process that was faster')):
            for status in (404, 409):
                self.stranger(holderIdentity=holder, leaseDurationSeconds=1)
                uid = self.api.objects[PATH]['metadata']['uid']
                version = self.api.objects[PATH]['metadata'][
                    'resourceVersion']
                mine = self.lock(sightings={uid: (version, -1000)})
                self.refuse('PUT', status)
                e = self.assertRaises(lock.LockBusy, mine.acquire, 0)
                self.assertEqual(told, e.holder)
                self.assertFalse(mine.held)

    def test_take_over_that_is_refused_is_no_busy_lock(self):
        self.stranger(holderIdentity='')
        self.refuse('PUT', 403)
        self.assertRaises(rest.Forbidden, self.lock().acquire, 0)

    def test_take_over_is_told_unless_nobody_had_it(self):
        for holder, told in (('', False), ('stranger', True)):
            self.stranger(holderIdentity=holder)
            with self.lock().hold(60):
                self.assertEqual(told, 'which stranger left behind'
                                 in self.logger.output)

    def test_what_a_conductor_has_seen_does_not_grow_for_ever(self):
        for known, left in ((10100, 1), (10000, 1), (9999, 10000)):
            seen = {f'lease-{n}': ('1', 0) for n in range(known)}
            self.stranger()
            self.assertRaises(
                lock.LockBusy, self.lock(sightings=seen).acquire, 0)
            self.assertEqual(left, len(seen))

    def test_what_was_seen_lately_is_kept(self):
        seen = {f'lease-{n}': ('1', 0) for n in range(100)}
        self.stranger()
        self.assertRaises(lock.LockBusy, self.lock(sightings=seen).acquire, 0)
        self.assertEqual(101, len(seen))

    def test_only_one_of_two_takes_over(self):
        self.stranger()
        mine = self.lock()

        def other(request):
            self.api.faults = [other]
            if request.method == 'PUT':
                self.api.faults = []
                self.stranger(holderIdentity='faster')
            self.api.faults, kept = [], self.api.faults
            request.act(
                PATH if request.method != 'POST'
                else PATH.rpartition('/')[0], {}, self.api.seen[-1][4])
            self.api.faults = kept

        self.api.faults = [other]
        e = self.assertRaises(lock.LockBusy, mine.acquire, 31)
        self.assertFalse(mine.held)
        self.assertEqual('faster', self.holder())
        self.assertIn('Another operation', str(e))


class RenewTest(_Base):

    def test_renewed_for_longer_than_its_duration(self):
        with self.lock().hold(0) as held:
            for _ in range(10):
                self.clock.now += 10
                held.renew()
                held.check()
            self.assertEqual(
                0, self.api.objects[PATH]['spec']['leaseTransitions'])
        self.assertEqual({}, self.api.objects)

    def test_without_renewal_it_is_lost_in_time(self):
        with self.lock().hold(0) as held:
            self.clock.now += 29
            held.check()
            self.clock.now += 1
            e = self.assertRaises(lock.LockLost, held.check)
            self.assertIn('could not be renewed', str(e))

    def test_counts_from_before_the_request(self):
        # A contender sees the Lease later than that.
        def slow(request):
            self.clock.now += 4
            request.act(PATH.rpartition('/')[0], {}, self.api.seen[-1][4])

        self.api.faults = [slow]
        with self.lock().hold(60) as held:
            self.clock.now += 26
            self.assertFalse(held.held)

    def test_passing_fault_does_not_lose_it(self):
        with self.lock().hold(0) as held:
            self.clock.now += 10
            self.api.faults = [(503, {}, {})] * 200
            held.renew()
            self.api.faults = []
            self.assertTrue(held.held)
            held.renew()
            self.clock.now += 25
            self.assertTrue(held.held)

    def test_renewal_does_not_try_past_the_end(self):
        with self.lock().hold(0) as held:
            self.clock.now += 25
            self.api.faults = [(503, {}, {})] * 200
            held.renew()
            self.api.faults = []
            self.assertLess(self.clock.now, 31)

    def test_new_holder_is_noticed(self):
        with self.lock().hold(0) as held:
            self.stranger()
            held.renew()
            e = self.assertRaises(lock.LockLost, held.check)
            self.assertIn('stranger', str(e))
        self.assertEqual('stranger', self.holder())

    def test_deleted_lease_is_noticed(self):
        for status in (404, 409):
            with self.lock().hold(0) as held:
                self.api.objects.clear()
                self.api.fault_path = re.compile(PATH)
                self.api.faults = [(status, {}, {})]
                held.renew()
                self.assertFalse(held.held)

    def test_own_repeated_renewal_is_no_loss(self):
        with self.lock().hold(0) as held:
            found = self.api.objects[PATH]
            self.api.put(PATH, found)
            held.renew()
            self.assertTrue(held.held)
            held.renew()
        self.assertEqual({}, self.api.objects)

    def test_thread_renews_and_ends(self):
        renewed = threading.Event()
        held = self.lock(duration=0.03, background=True)
        held.renew = renewed.set
        with held.hold(0):
            self.assertTrue(renewed.wait(60))
            thread = held._thread
            # A process that ends does not wait for it.
            self.assertTrue(thread.daemon)
        self.assertFalse(thread.is_alive())

    def test_it_is_renewed_three_times_while_it_lasts(self):
        waited = []
        held = self.lock()
        held._stop.wait = lambda seconds: waited.append(seconds) or len(
            waited) > 2
        with held.hold(0):
            held._keep()
        self.assertEqual([10.0] * 3, waited)

    def test_renewal_has_a_third_of_the_time(self):
        with self.lock().hold(0) as held:
            self.api.faults = [(503, {}, {})] * 200
            held.renew()
            self.api.faults = []
            self.assertThat(self.clock.now, matchers.MatchesAll(
                matchers.GreaterThan(5), matchers.LessThan(10)))

    def test_thread_ends_with_the_lock(self):
        held = self.lock()
        held._stop.wait = lambda seconds: False
        with held.hold(0):
            self.stranger()
            held._keep()
            self.assertIn('The lock c1 was lost: it is held by stranger',
                          self.logger.output)

    def test_bug_in_a_renewal_ends_no_thread(self):
        turns = []
        held = self.lock()
        held._stop.wait = lambda seconds: turns.append(1) or len(turns) > 2
        held.renew = mock.Mock(side_effect=KeyError('spec'))
        with held.hold(0):
            held._keep()
        self.assertEqual(2, held.renew.call_count)
        self.assertIn('Cannot renew the lock c1', self.logger.output)

    def test_environment_that_fails_for_a_while_does_not_lose_it(self):
        with self.lock().hold(0) as held, mock.patch.object(
                self.kube, 'replace',
                side_effect=errors.EnvironmentProblem('no token file')):
            held.renew()
            self.assertTrue(held.held)
        self.assertIn('Cannot renew the lock c1 yet', self.logger.output)

    def test_conflict_that_nobody_can_explain_does_not_lose_it(self):
        with self.lock().hold(0) as held:
            self.api.faults = [(409, {}, {}), (403, {}, {})]
            held.renew()
            self.assertTrue(held.held)
            self.assertIn('Cannot read the lock c1', self.logger.output)
            held.renew()
            self.assertTrue(held.held)

    def test_what_another_has_by_now_is_not_given_back(self):
        with self.lock().hold(0):
            self.stranger()
        self.assertEqual('stranger', self.holder())
        self.assertIn('was lost before it was given back', self.logger.output)

    def test_it_is_given_back_within_a_third_of_its_time(self):
        with self.lock(duration=31).hold(0):
            self.api.faults = [(503, {}, {})] * 200
        self.assertThat(self.clock.now, matchers.MatchesAll(
            matchers.GreaterThan(5), matchers.LessThan(31 / 3)))

    def test_failure_to_give_it_back_is_no_error(self):
        with self.lock().hold(0):
            self.api.faults = [(403, {}, {})]
        self.assertIn('it ends in 30 s', self.logger.output)
