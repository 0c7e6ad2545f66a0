# SPDX-License-Identifier: Apache-2.0

import re
import threading
from unittest import mock

import fixtures
import testtools
from testtools import matchers

from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from tests.lib import kube_server

LEASES = '/apis/coordination.k8s.io/v1/namespaces/n/leases'
PATH = f'{LEASES}/c1'


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.api = self.useFixture(kube_server.ApiServer())
        self.clock = self.api.clock
        self.kube = self.api.kube()

    def lock(self, **options):
        options = {'duration': 30, 'clock': self.clock, 'background': False,
                   **options}
        return lease.Lock(self.kube, 'n', 'c1', **options)

    def busy(self, lock=None, timeout=0):
        """Whom a lock in vain waits for."""
        lock = lock or self.lock()
        e = self.assertRaises(lease.LockBusy, lock.acquire, timeout)
        self.assertFalse(lock.held)
        return e.holder

    def lost(self, lock):
        """Why a lock is lost."""
        return str(self.assertRaises(lease.LockLost, lock.check))

    def spec(self):
        return self.api.objects[PATH]['spec']

    def stranger(self, **spec):
        self.api.put(PATH, {'spec': {
            'holderIdentity': 'stranger', 'leaseDurationSeconds': 30,
            **spec}})

    def during(self, action):
        """Do something whenever somebody waits."""
        sleep = self.clock.sleep

        def waited(seconds):
            sleep(seconds)
            action()
        self.clock.sleep = waited

    def fail(self, *faults, path=PATH):
        self.api.fault_path = re.compile(f'{path}$')
        self.api.faults = list(faults)

    def refuse_take_over(self, answer):
        """Answer the first PUT."""
        def pick(request):
            if request.method == 'PUT':
                return answer(request)
            self.api.faults = [pick]
            request.act(request.target, {}, self.api.seen[-1][4])
        self.fail(pick)


class AcquireTest(_Base):

    def test_two_requests_and_nothing_left(self):
        with self.lock(labels={'a': 'b'}).hold(0) as held:
            self.assertTrue(held.held)
            self.assertEqual((held.identity, 30), (
                self.spec()['holderIdentity'],
                self.spec()['leaseDurationSeconds']))
            self.assertEqual({'a': 'b'},
                             self.api.objects[PATH]['metadata']['labels'])
        self.assertFalse(held.held)
        self.assertEqual({}, self.api.objects)
        self.assertEqual(2, self.kube.requests)

    def test_two_locks_exclude_each_other_until_one_is_given_back(self):
        with self.lock().hold(0) as first:
            self.assertEqual(first.identity, self.busy(timeout=5))
            later = self.clock.now + 3
            self.during(lambda: self.clock.now > later and first.release())
            with testtools.ExpectedException(KeyError):
                with self.lock().hold(10) as second:
                    self.assertTrue(second.held)
                    raise KeyError
        # After an error, too.
        self.assertEqual({}, self.api.objects)

    def test_looks_soon_and_then_every_two_seconds(self):
        self.stranger(leaseDurationSeconds=1000)
        self.busy(timeout=60)
        naps = [round(nap, 3) for nap in self.clock.naps]
        self.assertEqual([0.2, 0.3, 0.45], naps[:3])
        self.assertEqual(2.0, max(naps))

    def test_holder_that_left_between_two_requests(self):
        self.fail((409, {}, {}), path=LEASES)
        self.assertEqual('a process that has just released it', self.busy())

    def lose(self, request):
        """Create the Lease, and lose the answer."""
        self.assertEqual(LEASES, request.target)
        self.api.put(PATH, self.api.seen[-1][4])
        kube_server.hang_up(request)

    def test_own_lost_answer_is_no_other_holder(self):
        self.api.faults = [self.lose]
        with self.lock().hold(0) as held:
            self.assertTrue(held.held)
        self.assertEqual({}, self.api.objects)

    def test_lease_whose_answer_was_lost_long_ago_is_written_again(self):
        # Another process may have watched it since then, and would take it
        # while this one counts from now.
        mine = self.lock()
        self.api.faults = [self.lose] + [kube_server.hang_up] * 200
        self.assertRaises(rest.Unreachable, mine.acquire, 0)
        self.api.faults = []
        sightings = {}
        self.busy(self.lock(sightings=sightings))
        self.clock.now += 29
        mine.acquire(0)
        self.clock.now += 2
        self.assertEqual(mine.identity, self.busy(
            self.lock(sightings=sightings)))
        mine.check()

    def test_management_cluster_that_is_away_is_no_busy_lock(self):
        self.api.faults = [(503, {}, {})] * 200
        self.assertRaises(rest.Unreachable, self.lock().acquire, 5)


class TakeOverTest(_Base):

    def test_dead_holder_is_replaced_after_its_duration(self):
        self.stranger()
        mine = self.lock()
        mine.acquire(60)
        self.assertGreaterEqual(self.clock.now, 30)
        self.assertEqual(mine.identity, self.spec()['holderIdentity'])
        self.assertIn('which stranger left behind', self.logger.output)

    def test_empty_holder_is_replaced_at_once(self):
        self.stranger(holderIdentity='')
        with self.lock().hold(0):
            self.assertNotIn('left behind', self.logger.output)

    def test_holder_that_renews_keeps_it_whatever_its_clock_says(self):
        seconds = iter(reversed(range(60)))

        def renewed():
            self.stranger(
                renewTime=f'1999-01-01T00:00:{next(seconds):02}.000000Z')
        renewed()
        self.during(renewed)
        self.busy(timeout=70)

    def test_what_one_lock_saw_counts_for_the_next(self):
        self.stranger()
        seen = {}
        self.busy(self.lock(sightings=seen))
        self.clock.now += 29
        self.busy(self.lock(sightings=seen))
        self.clock.now += 1
        self.busy()
        self.lock(sightings=seen).acquire(0)

    def be_faster(self, request):
        self.stranger(holderIdentity='faster')
        request.act(PATH, {}, self.api.seen[-1][4])

    def test_take_over_that_another_won_names_who_is_known(self):
        for holder, told in (('stranger', 'stranger'),
                             ('', 'another process that was faster')):
            for answer in (
                    self.be_faster,
                    lambda request: request.not_found('leases', 'c1')):
                self.stranger(holderIdentity=holder)
                metadata = self.api.objects[PATH]['metadata']
                seen = {metadata['uid']: (metadata['resourceVersion'], -1000)}
                self.refuse_take_over(answer)
                self.assertEqual(told, self.busy(self.lock(sightings=seen)))

    def test_take_over_that_is_refused_is_no_busy_lock(self):
        self.stranger(holderIdentity='')
        self.refuse_take_over(lambda request: request.refuse(403, 'No'))
        self.assertRaises(rest.Forbidden, self.lock().acquire, 0)

    def test_what_a_conductor_has_seen_does_not_grow_for_ever(self):
        for known, left in ((10100, 1), (10000, 1), (9999, 10000), (99, 100)):
            seen = {f'lease-{n}': ('1', 0) for n in range(known)}
            self.stranger()
            self.busy(self.lock(sightings=seen))
            self.assertEqual(left, len(seen))


class RenewTest(_Base):

    def test_renewed_for_longer_than_its_duration(self):
        times = set()
        with self.lock().hold(0) as held:
            for _ in range(10):
                self.clock.now += 10
                held.renew()
                held.check()
                times.add(self.spec()['renewTime'])
        self.assertEqual({}, self.api.objects)
        # People can read when.
        self.assertEqual(10, len(times))
        self.assertRegex(min(times), r'^20\d\d-\d\d-\d\dT[\d:]{8}\.\d{6}Z$')

    def test_without_renewal_it_is_lost_in_time(self):
        with self.lock().hold(0) as held:
            self.clock.now += 29
            held.check()
            self.clock.now += 1
            self.assertIn('could not be renewed', self.lost(held))
            # It is not taken back silently.
            held.renew()
            self.assertIn('could not be renewed', self.lost(held))
        with held.hold(0):
            held.check()

    def test_counts_from_before_the_request(self):
        # A contender sees the Lease later than that.
        def slow(request):
            self.clock.now += 4
            request.act(LEASES, {}, self.api.seen[-1][4])

        self.api.faults = [slow]
        with self.lock().hold(60) as held:
            self.clock.now += 26
            self.assertFalse(held.held)

    def test_passing_faults_do_not_lose_it(self):
        unserved = kube_server.UNKNOWN_PATH
        for faults in ([(503, {}, {})] * 200, [unserved],
                       # A conflict that nobody can explain.
                       [(409, {}, {}), (403, {}, {})]):
            with self.lock().hold(0) as held:
                self.fail(*faults)
                held.renew()
                self.api.faults = []
                held.check()
                self.assertIn('Cannot renew the lock c1 yet',
                              self.logger.output)
                held.renew()
                self.clock.now += 29
                held.check()

    def test_token_that_cannot_be_read_for_a_while_does_not_lose_it(self):
        with self.lock().hold(0) as held, mock.patch.object(
                self.kube, 'replace',
                side_effect=errors.EnvironmentProblem('no token file')):
            held.renew()
            self.assertTrue(held.held)

    def test_renewal_has_a_third_of_the_time_and_not_more_than_is_left(self):
        for passed, least, most in ((0, 5, 10), (25, 26, 30)):
            with self.lock().hold(0) as held:
                start = self.clock.now
                self.clock.now += passed
                self.fail(*[(503, {}, {})] * 200)
                held.renew()
                self.api.faults = []
                self.assertThat(self.clock.now - start, matchers.MatchesAll(
                    matchers.GreaterThan(least), matchers.LessThan(most)))

    def test_new_holder_is_noticed(self):
        with self.lock().hold(0) as held:
            self.stranger()
            held.renew()
            self.assertIn('it is held by stranger', self.lost(held))
        self.assertEqual('stranger', self.spec()['holderIdentity'])

    def test_deleted_lease_is_noticed(self):
        for refuse in (lambda request: request.refuse(409, 'Conflict'),
                       lambda request: request.not_found('leases', 'c1')):
            with self.lock().hold(0) as held:
                self.api.objects.clear()
                self.fail(refuse)
                held.renew()
                self.assertIn('it is gone', self.lost(held))

    def test_own_repeated_renewal_is_no_loss_and_no_gain(self):
        for renewals, held_then in ((1, False), (2, True)):
            with self.lock().hold(0) as held:
                self.clock.now += 20
                # It may have been written a while ago.
                self.api.put(PATH, {**self.api.objects[PATH], 'spec': {
                    **self.spec(), 'renewTime': '1999-01-01T00:00:00.000000Z'
                }})
                for _ in range(renewals):
                    held.renew()
                    held.check()
                self.clock.now += 10
                self.assertEqual(held_then, held.held)
            self.assertEqual({}, self.api.objects)


class ThreadTest(_Base):

    def test_it_renews_and_ends(self):
        renewed = threading.Event()
        held = self.lock(duration=0.03, background=True)
        held.renew = renewed.set
        with held.hold(0):
            self.assertTrue(renewed.wait(60))
            thread = held._thread
            # A process that ends does not wait for it.
            self.assertTrue(thread.daemon)
        self.assertFalse(thread.is_alive())

    def turns(self, held, number):
        """Let its loop turn so often; the seconds of its pauses."""
        waited = []
        held._stop.wait = lambda seconds: waited.append(seconds) or len(
            waited) > number
        held._renew_until_stopped()
        return waited

    def test_it_renews_three_times_while_the_lock_lasts(self):
        with self.lock().hold(0) as held:
            self.assertEqual([10.0] * 3, self.turns(held, 2))

    def test_it_ends_with_the_lock(self):
        with self.lock().hold(0) as held:
            self.stranger()
            self.assertEqual(1, len(self.turns(held, 9)))
        self.assertIn('The lock c1 was lost: it is held by stranger',
                      self.logger.output)

    def test_bug_in_a_renewal_does_not_end_it(self):
        with self.lock().hold(0) as held:
            held.renew = mock.Mock(side_effect=KeyError('spec'))
            self.turns(held, 2)
            self.assertEqual(2, held.renew.call_count)
        self.assertIn('Cannot renew the lock c1', self.logger.output)


class ReleaseTest(_Base):

    def test_what_another_has_by_now_is_not_given_back(self):
        with self.lock().hold(0):
            self.stranger()
        self.assertEqual('stranger', self.spec()['holderIdentity'])
        self.assertIn('Cannot give back the lock c1', self.logger.output)

    def test_failure_to_give_it_back_is_no_error(self):
        # It is tried for a third of its time.
        with self.lock(duration=31).hold(0):
            self.api.faults = [(503, {}, {})] * 200
        self.assertThat(self.clock.now, matchers.MatchesAll(
            matchers.GreaterThan(5), matchers.LessThan(31 / 3)))
        self.assertIn('it ends in 31 s', self.logger.output)
