# SPDX-License-Identifier: Apache-2.0


import os
import pathlib
import signal
import subprocess
import sys
import threading

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_tempest import foreground
from magnum_capi_tempest import proc

#: As stestr: a program, a shell, a worker below it; what the worker starts
#: has a session of its own.
_PARENT = """
import pathlib, subprocess, sys, time
try:
    subprocess.Popen('%s %s; :' % (sys.executable, sys.argv[1]), shell=True)
    time.sleep(60)
except KeyboardInterrupt:
    pathlib.Path('cleaned').touch()
    time.sleep(float(sys.argv[2]))
    raise
"""
_WORKER = """
import os, pathlib, signal, subprocess, time
if pathlib.Path('stubborn').exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
own = subprocess.Popen(['sleep', '60'], start_new_session=True)
pathlib.Path('pids.new').write_text(f'{os.getppid()} {os.getpid()} {own.pid}')
os.rename('pids.new', 'pids')
time.sleep(60)
"""
_CALLER = """
from magnum_capi import processes
from magnum_capi_tempest import foreground
import pathlib, signal, sys, time
# Who runs the tests may have it ignored, as nohup does.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if pathlib.Path('late').exists():
    start = processes.start
    def late(*args, **kwargs):
        process = start(*args, **kwargs)
        while not pathlib.Path('told').exists():
            time.sleep(0.05)
        return process
    processes.start = late
foreground._PATIENCE = float(sys.argv[1])
try:
    print('code', foreground.run(sys.argv[3:], cleanup=float(sys.argv[2])))
finally:
    print('cleaned up')
"""


class RunTest(testtools.TestCase):

    def test_the_exit_code_is_the_programs(self):
        self.assertEqual(
            [0, 3, 3], [foreground.run(['sh', '-c', f'exit {code}'])
                        for code in (0, 3)] + [foreground.run(
                            ['sh', '-c', 'exit $A'],
                            env={**os.environ, 'A': '3'}, cwd='/')])

    def test_the_callers_handler_comes_back(self):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.getsignal(number) for number in numbers]

        foreground.run(['true'])

        self.assertEqual(before, [signal.getsignal(n) for n in numbers])

    def test_a_thread_gets_no_signals(self):
        codes = []
        thread = threading.Thread(
            target=lambda: codes.append(foreground.run(['true'])))
        thread.start()
        thread.join()

        self.assertEqual([0], codes)


class SignalTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.folder / 'parent').write_text(_PARENT)
        (self.folder / 'worker').write_text(_WORKER)

    def start(self, patience=20, lingers=0, cleanup=60, **options):
        """Start the caller of a program; returns when its worker works."""
        top = pathlib.Path(foreground.__file__).parents[1]
        process = subprocess.Popen(
            [sys.executable, '-c', _CALLER, str(patience), str(cleanup),
             sys.executable, 'parent', 'worker', str(lingers)],
            cwd=self.folder, env={**os.environ, 'PYTHONPATH': str(top)},
            **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE,
               'stderr': subprocess.DEVNULL, 'text': True, **options})
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        waiting.wait_for((self.folder / 'pids').exists, done=bool,
                         timeout=60, what='the worker to work')
        return process

    def assert_ends(self, process, code):
        out, _ = process.communicate(timeout=60)
        self.assertEqual((code, 'cleaned up\n'), (process.returncode, out))
        for pid in (self.folder / 'pids').read_text().split():
            assert_gone(pid)

    def test_but_not_for_ever(self):
        process = self.start(lingers=60, cleanup=0.5)

        process.terminate()

        self.assert_ends(process, 143)

    def test_so_does_a_terminal_that_is_closed(self):
        process = self.start()

        process.send_signal(signal.SIGHUP)

        self.assert_ends(process, 129)

    def test_who_does_not_listen_is_killed(self):
        (self.folder / 'stubborn').touch()
        process = self.start(patience=0.5)

        process.terminate()

        self.assert_ends(process, 143)

    def early(self, number, code):
        """The signal comes before it is known what was started."""
        (self.folder / 'late').touch()
        process = self.start()

        process.send_signal(number)

        (self.folder / 'told').touch()
        self.assert_ends(process, code)

    def test_an_early_sigint_is_not_lost(self):
        self.early(signal.SIGINT, -signal.SIGINT)
        self.assertTrue((self.folder / 'cleaned').exists())

    def impatient(self, number, code):
        process = self.start(lingers=60)
        process.send_signal(signal.SIGINT)
        waiting.wait_for((self.folder / 'cleaned').exists, done=bool,
                         timeout=60, what='the program to clean up')

        process.send_signal(number)

        self.assert_ends(process, code)

    def test_a_second_sigint_does_not_wait_for_the_cleaning(self):
        self.impatient(signal.SIGINT, -signal.SIGINT)

    def test_an_orphan_is_ended_too(self):
        # The shell ends, the worker goes on without a parent of ours.
        (self.folder / 'parent').write_text(_PARENT.replace('; :', '&'))
        (self.folder / 'worker').write_text(
            _WORKER.replace('{os.getppid()}', ''))
        process = self.start()

        process.terminate()

        self.assert_ends(process, 143)


def assert_gone(pid):
    # Nobody waits for the last moments of a process that was killed.
    waiting.wait_for(lambda: proc.ended(pid), done=bool,
                     timeout=60, what=f'process {pid} to be gone')
