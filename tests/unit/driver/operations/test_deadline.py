# SPDX-License-Identifier: Apache-2.0

import threading

import testtools

from magnum_capi.driver import deadline
from tests.unit.driver import gate


class AnswerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.ended = threading.Event()

    def slow(self, *before, after=lambda: None):
        """Work that stands at the gate, and does something on both sides."""
        self.gate = self.useFixture(gate.Gate())

        def work():
            try:
                for step in before:
                    step()
                self.gate.stand()
                after()
            finally:
                self.ended.set()
        return work

    def finish(self):
        self.gate.open()
        self.assertTrue(self.ended.wait(gate.PATIENCE))

    def test_work_that_ends_in_time(self):
        made = deadline.Deadline(gate.PATIENCE)

        self.assertTrue(made.run(made.commit))

    def test_work_does_not_keep_a_conductor_that_ends(self):
        found = []
        deadline.Deadline(gate.PATIENCE).run(
            lambda: found.append(threading.current_thread().daemon))
        self.assertEqual([True], found)

    def test_its_error_is_the_askers(self):
        self.assertRaises(
            KeyError, deadline.Deadline(gate.PATIENCE).run, lambda: {}['x'])

    def test_nobody_waits_longer_than_the_seconds(self):
        made, never = deadline.Deadline(0.05), threading.Event()
        self.addCleanup(never.set)

        e = self.assertRaises(
            deadline.TooLate, made.run, lambda: never.wait(gate.PATIENCE))

        self.assertGreaterEqual(e.elapsed, 0.05)
        self.assertLess(e.elapsed, gate.PATIENCE)

    def test_what_is_committed_goes_on(self):
        made = deadline.Deadline(1)

        self.assertFalse(made.run(self.slow(made.commit)))

        self.assertFalse(self.ended.is_set())
        self.finish()

    def test_what_is_not_committed_in_time_is_refused_and_stops(self):
        made, changed = deadline.Deadline(1), []
        work = self.slow(after=lambda: (made.commit(), changed.append(1)))

        self.assertRaises(deadline.TooLate, made.run, work)

        self.finish()
        self.assertEqual([], changed)

    def test_an_end_that_is_near_is_waited_for(self):
        made, kept = deadline.Deadline(1), []

        def fail():
            raise KeyError
        work = self.slow(made.commit, lambda: kept.append(made.keep()),
                         after=fail)
        threading.Timer(0.2, self.gate.open).start()

        self.assertRaises(KeyError, made.run, work)
        self.assertEqual([True], kept)

    def test_nobody_waits_for_the_end_of_what_goes_on(self):
        made, kept = deadline.Deadline(1), []
        work = self.slow(made.commit, after=lambda: kept.append(made.keep()))

        made.run(work)

        self.finish()
        self.assertEqual([False], kept)
