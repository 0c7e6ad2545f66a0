# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi import errors
from magnum_capi import waiting
from tests.unit import fake_clock


class WaitForTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.clock = fake_clock.FakeClock()

    def wait(self, states, timeout=60, **kwargs):
        states = iter(states)
        last = []

        def poll():
            last[:] = [next(states, *last)]
            return last[0]

        return waiting.wait_for(
            poll, done=lambda s: s == 'done', timeout=timeout, what='it',
            clock=self.clock, **kwargs)

    def test_returns_the_accepted_state_without_a_pause(self):
        self.assertEqual('done', self.wait(['done']))
        self.assertEqual([], self.clock.naps)

    def test_pauses_grow_up_to_the_most(self):
        self.wait(['x'] * 5 + ['done'],
                  pace=waiting.Pace(first=1, factor=2, most=5))

        self.assertEqual([1, 2, 4, 5, 5], self.clock.naps)

    def test_aborts_on_a_failure_without_waiting(self):
        error = self.assertRaises(
            errors.WaitAborted, self.wait, ['bad'],
            failed=lambda s: f'it is {s}')

        self.assertEqual('bad', error.state)
        self.assertEqual([], self.clock.naps)
        self.assertIn("Gave up waiting for it: it is bad", str(error))

    def test_timeout_carries_state_time_and_hint(self):
        error = self.assertRaises(
            errors.WaitTimeout, self.wait, ['x'], timeout=7, hint='Look.')

        self.assertEqual(('x', 7.0), (error.state, error.elapsed))
        self.assertEqual("Timed out waiting for it, waited 7.0 s; "
                         "last seen: 'x'. Look.", str(error))

    def test_looks_once_more_at_the_end(self):
        # given a state that comes exactly when time is up
        pace = waiting.Pace(first=5, factor=1, most=5)

        self.assertEqual(
            'done', self.wait(['x', 'x', 'done'], timeout=7, pace=pace))
        self.assertEqual([5, 2], self.clock.naps)
