# SPDX-License-Identifier: Apache-2.0

"""Locks, leftovers of killed processes, and disk space."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import testtools

from magnum_capi import errors
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import lock
from tests.unit.toolchain import base

# Holds a lock until its standard input ends.
HOLD = '''
from magnum_capi import progress
from magnum_capi_tempest.toolchain import lock
import pathlib, sys
with lock.hold(pathlib.Path(sys.argv[1]), 'makes tiny', progress.Silent()):
    print('ready', flush=True)
    sys.stdin.read()
'''


class Holder:
    """Another process that holds a lock."""

    def __init__(self, test, path):
        self.process = subprocess.Popen(
            [sys.executable, '-c', HOLD, path], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        test.addCleanup(self.process.communicate)
        self.process.stdout.readline()


class TestLock(base.TestCase):

    def setUp(self):
        super().setUp()
        self.path = self.folder / 'locks' / 'tiny.lock'

    def test_gives_up_and_names_the_holder(self):
        other = Holder(self, self.path)
        with self.assertRaisesRegex(
                errors.WaitTimeout,
                rf'makes tiny \(pid {other.process.pid}\)'):
            with lock.hold(self.path, 'x', self.progress, timeout=0.5):
                self.fail('two hold it')

    def test_says_so_while_it_waits(self):
        other = Holder(self, self.path)
        said = threading.Event()

        def info(text):
            self.progress.lines.append(text)
            said.set()

        self.progress.info = info
        end = threading.Thread(
            target=lambda: (said.wait(60), other.process.kill()))
        end.start()
        self.addCleanup(end.join)
        with lock.hold(self.path, 'x', self.progress, timeout=60):
            pass

        self.assertRegex(
            self.progress.lines[0], 'waiting for another process that makes '
            rf'tiny \(pid {other.process.pid}\) \.\.\. \d+ s$')

    def test_killed_holder_leaves_nothing_locked(self):
        other = Holder(self, self.path)
        other.process.kill()
        other.process.wait()

        with lock.hold(self.path, 'x', self.progress, timeout=0):
            self.assertEqual(f'x (pid {os.getpid()})',
                             lock.holder(self.path))

    def test_a_folder_in_which_no_file_can_be_made(self):
        """A read-only cache."""
        for parent in ('/proc/locks', '/proc/self'):
            with (testtools.ExpectedException(
                    errors.EnvironmentProblem, '.*MAGNUM_CAPI_CACHE'),
                  lock.hold(pathlib.Path(parent) / 'x', 'x', self.progress)):
                pass

    def test_removed_file_is_no_lock(self):
        with lock.hold(self.path, 'x', self.progress):
            self.path.unlink()
            with lock.hold(self.path, 'y', self.progress, timeout=0):
                self.assertTrue(self.path.exists())


class TestLeftovers(base.TestCase):

    def start(self, folder):
        """A process group that works in a folder, with a child."""
        process = subprocess.Popen(
            ['sh', '-c', 'sleep 60 & wait'], start_new_session=True,
            env=leftovers.marked(folder))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_ends_the_build_of_a_dead_process_and_no_other(self):
        orphan = self.start(self.folder / 'tmp-a')
        # In production init reaps orphans; here this process has to.
        threading.Thread(target=orphan.wait, daemon=True).start()
        other = self.start(self.folder / 'tmp-ab')
        leftovers.end(self.folder / 'tmp-a')

        self.assertEqual(-signal.SIGKILL, orphan.wait(10))
        self.assertIsNone(other.poll())
        os.killpg(other.pid, signal.SIGKILL)

    def test_removes_what_is_written_meanwhile(self):
        folder = self.folder / 'tmp-a'
        (folder / 'x').mkdir(parents=True)
        leftovers.remove(folder)
        leftovers.remove(folder)

        self.assertFalse(folder.exists())


class TestDisk(base.TestCase):

    def test_enough(self):
        disk.require(10, [self.folder], 'x', 'y', free=lambda path: 10)

    def test_too_little_says_what_where_and_how_much(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, disk.require, 5 << 30, ['/a', '/b'],
            'a build of etcd', 'MAGNUM_CAPI_CACHE',
            free={'/a': 6 << 30, '/b': 1 << 29}.get)

        self.assertIn('No disk space for a build of etcd (/b); last seen: '
                      '512.0 MiB free, 5.0 GiB needed', str(error))
        self.assertIn('use another disk with MAGNUM_CAPI_CACHE', error.hint)

    def test_folder_that_is_not_there_yet(self):
        self.assertGreater(disk.free(self.folder / 'a' / 'b'), 0)

    def test_what_nobody_has_used_for_a_month(self):
        stamp = self.folder / 'stamp'
        self.assertFalse(disk.unused(stamp))
        stamp.touch()
        for age, unused in ((0, False), (29, False), (31, True)):
            then = time.time() - age * 86400
            os.utime(stamp, (then, then))
            self.assertEqual(unused, disk.unused(stamp))
