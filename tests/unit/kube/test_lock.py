# SPDX-License-Identifier: Apache-2.0

import re
import threading

import fixtures
import testtools

from magnum_capi.kube import lock
from magnum_capi.kube import rest
from tests.unit.driver import api_server

PATH = '/apis/coordination.k8s.io/v1/namespaces/n/leases/c1'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(api_server.ApiServer())
        self.clock = self.api.clock
        self.kube = self.api.kube()

    def lock(self, **options):
        options = {'duration': 30, 'clock': self.clock, 'background': False,
                   **options}
        return lock.Lock(self.kube, 'n', 'c1', **options)

    def holder(self):
        return self.api.objects[PATH]['spec']['holderIdentity']

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

    def test_own_lost_answer_is_no_other_holder(self):
        def lose(handler):
            path = PATH.rpartition('/')[0]
            self.api.put(PATH, handler.api.seen[-1][4])
            self.assertEqual(path, handler.path)
            api_server.hang_up(handler)

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

    def test_what_a_conductor_has_seen_does_not_grow_for_ever(self):
        seen = {f'lease-{n}': ('1', 0) for n in range(10100)}
        self.stranger()
        self.assertRaises(lock.LockBusy, self.lock(sightings=seen).acquire, 0)
        self.assertEqual(1, len(seen))

    def test_what_was_seen_lately_is_kept(self):
        seen = {f'lease-{n}': ('1', 0) for n in range(100)}
        self.stranger()
        self.assertRaises(lock.LockBusy, self.lock(sightings=seen).acquire, 0)
        self.assertEqual(101, len(seen))

    def test_only_one_of_two_takes_over(self):
        self.stranger()
        mine = self.lock()

        def other(handler):
            self.api.faults = [other]
            if handler.command == 'PUT':
                self.api.faults = []
                self.stranger(holderIdentity='faster')
            handler.api.faults, kept = [], handler.api.faults
            getattr(handler, f'_{handler.command.lower()}')(
                PATH if handler.command != 'POST'
                else PATH.rpartition('/')[0], {}, handler.api.seen[-1][4])
            handler.api.faults = kept

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
        def slow(handler):
            self.clock.now += 4
            handler._post(PATH.rpartition('/')[0], {},
                          handler.api.seen[-1][4])

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
        with self.lock().hold(0) as held:
            self.api.objects.clear()
            self.api.fault_path = re.compile(PATH)
            self.api.faults = [(409, {}, {})]
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
        self.assertFalse(thread.is_alive())

    def test_failure_to_give_it_back_is_no_error(self):
        with self.lock().hold(0):
            self.api.faults = [(403, {}, {})]
