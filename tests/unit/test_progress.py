# SPDX-License-Identifier: Apache-2.0

import io
import threading

import testtools

from magnum_capi import progress


class Stream(io.StringIO):
    """Says when a text has come."""

    def __init__(self, awaited):
        super().__init__()
        self._awaited = awaited
        self.came = threading.Event()

    def write(self, text):
        if self._awaited in text:
            self.came.set()
        return super().write(text)


class ProgressTest(testtools.TestCase):

    def test_a_step_says_that_it_failed_and_lets_the_error_through(self):
        out = io.StringIO()

        def work():
            with progress.Progress(out, patience=60).step('Fetch helm'):
                raise OSError('no')

        self.assertRaises(OSError, work)
        self.assertRegex(out.getvalue(),
                         r'Fetch helm FAILED after \d+\.\d s\n$')

    def test_a_long_step_shows_what_it_is_busy_with(self):
        out = Stream('Build: 3 of 7 ... ')

        with progress.Progress(out, patience=0.001).step('Build') as note:
            note('3 of 7')
            came = out.came.wait(10)

        self.assertTrue(came)

    def test_lines_of_threads_do_not_mix(self):
        out = io.StringIO()
        shown = progress.Progress(out)
        threads = [threading.Thread(
            target=lambda: [shown.info('x' * 50) for _ in range(50)])
            for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        lines = out.getvalue().splitlines()
        self.assertEqual({'x' * 50}, {line[10:] for line in lines})
        self.assertEqual(200, len(lines))
