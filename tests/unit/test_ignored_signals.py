# SPDX-License-Identifier: Apache-2.0

"""The tests pass where SIGINT is ignored: under nohup, in a script's "&"."""

import os
import pathlib
import signal
import subprocess
import sys

import testtools

#: Sends SIGINT to a program that it starts.
_TEST = 'tests.unit.cli.test_main.ProcessTest.test_ctrl_c'


class IgnoredTest(testtools.TestCase):

    def test_programs_that_are_interrupted(self):
        process = subprocess.Popen(
            [sys.executable, '-m', 'unittest', _TEST],
            cwd=pathlib.Path(__file__).parents[2], start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
        self.assertEqual(0, process.returncode, out)
