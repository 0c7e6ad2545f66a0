# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import threading

import testtools

from magnum_capi_tempest.driver import answer


class AnswerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)
        self.ended = threading.Event()

    def answer(self, seconds=0.05):
        self.made = answer.Answer(seconds)
        return self.made

    def slow(self, *before, after=lambda: None):
        """Work that waits at the gate, and does something on both sides."""
        def work():
            try:
                for step in before:
                    step()
                self.gate.wait(10)
                after()
            finally:
                self.ended.set()
        return work

    def test_work_that_ends_in_time(self):
        made = self.answer(10)

        self.assertTrue(made.of(made.commit))

    def test_its_error_is_the_askers(self):
        self.assertRaises(KeyError, self.answer(10).of, lambda: {}['x'])

    def test_what_is_committed_goes_on(self):
        made = self.answer()

        self.assertFalse(made.of(self.slow(made.commit)))

        self.assertFalse(self.ended.is_set())
        self.gate.set()
        self.assertTrue(self.ended.wait(10))

    def test_what_is_not_committed_in_time_is_refused_and_stops(self):
        made, changed = self.answer(), []
        work = self.slow(after=lambda: (made.commit(), changed.append(1)))

        e = self.assertRaises(answer.TooLate, made.of, work)

        self.assertGreaterEqual(e.elapsed, 0.05)
        self.gate.set()
        self.assertTrue(self.ended.wait(10))
        self.assertEqual([], changed)

    def test_an_end_that_is_near_is_waited_for(self):
        made, kept = self.answer(), []

        def work():
            made.commit()
            kept.append(made.keep())
            self.gate.wait(10)
            raise KeyError
        threading.Timer(0.2, self.gate.set).start()

        self.assertRaises(KeyError, made.of, work)
        self.assertEqual([True], kept)

    def test_nobody_waits_for_the_end_of_what_goes_on(self):
        made, kept = self.answer(), []
        work = self.slow(made.commit, after=lambda: kept.append(made.keep()))

        made.of(work)

        self.gate.set()
        self.assertTrue(self.ended.wait(10))
        self.assertEqual([False], kept)
