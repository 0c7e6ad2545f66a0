# SPDX-License-Identifier: Apache-2.0

"""Cases that run beside each other, hang, or are interrupted."""

import os
import subprocess
import threading

from magnum_capi_tempest import proc
from magnum_capi_tempest import runmarks
from tests.unit.proofs import base


class BesideTest(base.ToyTest):

    outcomes = {'one': [True], 'other': [True], 'control': [True]}

    def setUp(self):
        super().setUp()
        self.toy.jobs = 2

    def test_cases_wait_for_each_other_only_when_there_are_two_jobs(self):
        both = threading.Barrier(2, timeout=20)
        self.toy.outcomes = {name: [both.wait, True]
                             for name in ('one', 'other')}

        self.assertEqual(0, self.call()[0])

    def test_controls_are_run_by_themselves(self):
        self.call()

        self.assertEqual('control', self.toy.ran[-1])

    def test_an_interruption_ends_programs_and_begins_no_more_cases(self):
        ran, begun = [], threading.Event()

        def interrupt():
            begun.wait(20)
            raise KeyboardInterrupt

        def wait():
            process = subprocess.Popen(['sleep', '600'], env={
                **os.environ, runmarks.MARK: str(self.toy.works[0].mark)})
            ran.append(process.pid)
            begun.set()
            process.wait()

        # The thread of the one that raises may take up another one before
        # the others are cancelled; that waits, too.
        self.toy.outcomes = {'one': [wait, True], 'other': [interrupt],
                             'late': [wait], 'later': [True]}

        self.assertRaises(KeyboardInterrupt, self.kept)

        # What programs said that were ended counts for nothing.
        self.assertEqual([], list(self.results.glob('*')))
        self.assertEqual([], [pid for pid in ran if not proc.ended(pid)])
        self.assertNotIn('later', self.toy.ran)
        self.assertEqual(0, self.toy.open_)


class LimitTest(base.ToyTest):

    outcomes = {'one': [lambda: threading.Event().wait(60)], 'other': [True]}

    def test_what_hangs_is_given_up_and_the_next_one_runs(self):
        self.toy.limit = 1

        code, said = self.call()

        self.assertEqual((1, ['one', 'other']), (code, self.toy.ran))
        self.assertIn('one: the proof itself: The case did not end, waited '
                      '1.0 s', said)
