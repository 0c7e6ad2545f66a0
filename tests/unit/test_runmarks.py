# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import signal
import subprocess
import sys
from unittest import mock

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_tempest import runmarks

# What setproctitle does to what /proc tells: the area of the environment
# (env_start and env_end of proc_pid_stat(5)) is written over.
FORGETFUL = '''
import ctypes, signal
fields = open('/proc/self/stat').read().rpartition(')')[2].split()
start, end = int(fields[47]), int(fields[48])
ctypes.memset(start, 0, end - start)
print('forgotten', flush=True)
signal.pause()
'''


class RunmarksTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self.run_folder = self.folder / 'run'
        self.run_folder.mkdir()

    def start(self, argv=('/bin/sleep', '60'), marked=True, cwd=None,
              session=True):
        env = dict(os.environ)
        if marked:
            env[runmarks.MARK] = str(self.run_folder)
        process = subprocess.Popen(
            argv, env=env, cwd=cwd or '/', start_new_session=session,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        # Between fork and exec, /proc still shows us.
        waiting.wait_for(
            lambda: pathlib.Path(f'/proc/{process.pid}/cmdline').read_bytes(),
            done=lambda line: line.startswith(argv[0].encode()), timeout=60,
            what='the program to start')
        return process

    def start_forgetful(self, **kwargs):
        process = self.start((sys.executable, '-c', FORGETFUL), **kwargs)
        self.assertEqual('forgotten\n', process.stdout.readline())
        return process

    def test_by_the_variable(self):
        process = self.start()
        self.assertEqual([process.pid], runmarks.marked(self.run_folder))

    def test_the_whole_name_of_the_folder_counts(self):
        self.start()
        self.assertEqual([], runmarks.marked(self.folder / 'ru'))
        self.assertEqual([], runmarks.marked(self.folder))

    def test_a_program_that_overwrites_its_environment(self):
        process = self.start_forgetful(cwd=self.run_folder)
        self.assertEqual([], runmarks.marked(self.run_folder))
        runmarks.remember(self.run_folder, process.pid)
        self.assertEqual([process.pid], runmarks.marked(self.run_folder))

    def test_the_number_of_a_session_is_not_enough(self):
        """It may be another one's by now, which works elsewhere."""
        process = self.start(marked=False)
        runmarks.remember(self.run_folder, process.pid)
        self.assertEqual([], runmarks.marked(self.run_folder))

    def test_a_shell_in_the_folder_is_not_of_the_run(self):
        ours = self.start()
        runmarks.remember(self.run_folder, ours.pid)
        shell = self.start(marked=False, cwd=self.run_folder)
        self.assertEqual([ours.pid], runmarks.sweep(self.run_folder))
        self.assertIsNone(shell.poll())

    def test_broken_note_of_the_session(self):
        (self.run_folder / 'session').write_text('')
        self.assertEqual([], runmarks.marked(self.run_folder))

    def test_sweep_kills_also_what_ignores_signals(self):
        process = self.start((
            '/bin/sh', '-c',
            'trap "" TERM INT HUP; echo deaf; while :; do sleep 60; done'))
        self.assertEqual('deaf\n', process.stdout.readline())
        self.assertIn(process.pid, runmarks.sweep(self.run_folder))
        self.assertEqual(-signal.SIGKILL, process.wait(10))
        self.assertEqual([], runmarks.marked(self.run_folder))

    def test_sweep_spares_one(self):
        spared, other = self.start(), self.start()
        runmarks.sweep(self.run_folder, spare=spared.pid)
        self.assertEqual(-signal.SIGKILL, other.wait(10))
        self.assertIsNone(spared.poll())

    def test_sweep_spares_its_caller(self):
        """Somebody runs "sandbox down" in a program of the sandbox."""
        script = ('import pathlib, sys\n'
                  'from magnum_capi_tempest import runmarks\n'
                  'found = runmarks.sweep(pathlib.Path(sys.argv[1]))\n'
                  'print(found, flush=True)\n'
                  'sys.stdin.read()\n')
        process = self.start((
            sys.executable, '-c', script, str(self.run_folder)),
            cwd=pathlib.Path(runmarks.__file__).parent.parent)
        self.assertEqual('[]\n', process.stdout.readline())

    def test_sweep_waits_for_what_has_lost_its_mark(self):
        process, looks = self.start(), []
        ended = runmarks.proc.ended

        def late(pid):
            looks.append(pid)
            return len(looks) > 3 and ended(pid)

        with mock.patch.object(runmarks.proc, 'ended', late):
            self.assertEqual(
                [process.pid], runmarks.sweep(self.run_folder))
        self.assertEqual({process.pid}, set(looks))
        self.assertGreater(len(looks), 3)
