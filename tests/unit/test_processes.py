# SPDX-License-Identifier: Apache-2.0

"""Programs of every Unix are run here: there is nothing else to test."""

import os
import pathlib
import signal
import subprocess
import sys
import threading

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_tempest import proc


class RunTest(testtools.TestCase):

    def test_returns_standard_output(self):
        self.assertEqual('a\n', processes.run(
            ['sh', '-c', 'echo a; echo b >&2'], timeout=60))

    def test_output_that_is_no_utf8(self):
        self.assertEqual('\ufffd', processes.run(
            [sys.executable, '-c',
             'import sys; sys.stdout.buffer.write(b"\\xff")'], timeout=60))

    def test_failure_carries_its_data(self):
        error = self.assertRaises(
            errors.CommandFailed, processes.run,
            ['sh', '-c', 'echo out; echo why >&2; exit 7'], timeout=60,
            hint='Do this')

        self.assertEqual((7, 'why\n'), (error.returncode, error.output))
        self.assertIn('sh failed with exit code 7', str(error))
        self.assertIn('last seen: why. Do this', str(error))

    def test_spooled_output(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.assertEqual('a\n', processes.run(
            ['sh', '-c', 'cat; echo b >&2'], timeout=60, stdin='a\n',
            spool=folder))
        e = self.assertRaises(
            errors.CommandFailed, processes.run,
            ['sh', '-c', 'echo why >&2; exit 3'], timeout=60, spool=folder)
        self.assertEqual((3, 'why'), (e.returncode, e.output.strip()))

    def test_spooled_program_outlives_its_reader(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        reader = subprocess.Popen(
            [sys.executable, '-c', 'import sys\n'
             'from magnum_capi import processes\n'
             'processes.run(["sh", "-c", sys.argv[1]], timeout=60, '
             'spool=sys.argv[2])',
             f'touch {folder}/begun; '
             'while [ "$(ps -o ppid= -p $$)" -eq $PPID ]; do sleep 0.05; '
             'done; '
             f'echo a; echo b >&2; touch {folder}/ended', str(folder)])
        self.addCleanup(reader.wait)
        waiting.wait_for((folder / 'begun').exists, done=bool, timeout=60,
                         what='the program to begin')
        reader.kill()
        waiting.wait_for((folder / 'ended').exists, done=bool, timeout=60,
                         what='the program to end')

    def test_unknown_program(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, processes.run, ['/no/such', 'x'],
            timeout=60, hint='Install it')

        self.assertIn('Cannot run /no/such: No such file', str(error))
        self.assertIn('Install it', str(error))

    def test_timeout_kills_grandchildren_too(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        script = f'sleep 60 & echo $! > {folder}/pid; echo busy; wait'

        error = self.assertRaises(
            errors.CommandFailed, processes.run, ['sh', '-c', script],
            timeout=1.5)

        self.assertIsNone(error.returncode)
        self.assertIn('did not end in time', str(error))
        self.assertIn('busy', error.output)
        self.assertGone(int((folder / 'pid').read_text()))

    def test_timeout_does_not_wait_for_a_daemon(self):
        self.useFixture(fixtures.MockPatchObject(processes, 'REST', 0.1))
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        script = (f'setsid sh -c "echo \\$\\$ > {folder}/pid; '
                  'exec sleep 60" & echo busy; wait')

        error = self.assertRaises(
            errors.CommandFailed, processes.run, ['sh', '-c', script],
            timeout=1.5)

        pid = int((folder / 'pid').read_text())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertFalse(proc.ended(pid))
        self.assertIsNone(error.returncode)
        self.assertIn('busy', error.output)

    def test_interrupt_kills_the_program(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        pid = folder / 'pid'

        def interrupt():
            waiting.wait_for(
                lambda: pid.exists() and pid.read_text().endswith('\n'),
                done=bool, timeout=60, what='the program to start')
            os.kill(os.getpid(), signal.SIGINT)

        def work():
            thread = threading.Thread(target=interrupt)
            thread.start()
            try:
                processes.run(['sh', '-c', f'echo $$ > {pid}; exec sleep 60'],
                              timeout=60)
            finally:
                thread.join()

        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, handler)
        self.assertRaises(KeyboardInterrupt, work)
        self.assertGone(int(pid.read_text()))

    def assertGone(self, pid):
        waiting.wait_for(lambda: proc.ended(pid), done=bool,
                         timeout=60, what=f'process {pid} to end')
