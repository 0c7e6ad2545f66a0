# SPDX-License-Identifier: Apache-2.0

import json
import os
import signal
import subprocess
import sys
import threading

from magnum_capi import errors
from magnum_capi_tempest.toolchain import cache
from magnum_capi_tempest.toolchain import disk
from magnum_capi_tempest.toolchain import download
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

    def test_removed_file_is_no_lock(self):
        with lock.hold(self.path, 'x', self.progress):
            self.path.unlink()
            with lock.hold(self.path, 'y', self.progress, timeout=0):
                self.assertTrue(self.path.exists())


class TestStore(base.TestCase):

    def setUp(self):
        super().setUp()
        self.store = cache.Store(self.folder / 'toolchain')
        self.entry = self.store.entry('tiny', '1.2.3', 'ab' * 32)
        self.addCleanup(cache._seen.clear)

    def make(self, content=base.TINY):
        with self.store.workshop('tiny') as work:
            (work / 'tiny').write_bytes(content)
            return self.store.publish(self.entry, work, 'build', 1.23)

    def fault(self, **kwargs):
        """As a new process would see it."""
        cache._seen.clear()
        return self.store.fault(self.entry, **kwargs)

    def test_missing(self):
        self.assertEqual('missing', self.fault())

    def test_made(self):
        file = self.make()

        self.assertEqual(
            self.folder / 'toolchain/tiny/1.2.3-abababababab/tiny', file)
        self.assertTrue(os.access(file, os.X_OK))
        self.assertIsNone(self.fault())

    def test_receipt(self):
        file = self.make()
        stat = file.stat()

        self.assertEqual(
            {'version': '1.2.3', 'source': 'build', 'seconds': 1.2,
             'size': stat.st_size, 'mtime_ns': stat.st_mtime_ns,
             'sha256': download.digest(file)},
            json.loads((file.parent / 'receipt.json').read_text()))

    def test_truncated(self):
        file = self.make()
        os.truncate(file, 3)

        self.assertEqual('it has 3 bytes instead of 27', self.fault())

    def test_flipped_byte_is_seen_by_a_new_process(self):
        file = self.make()
        self._flip(file)

        self.assertIsNone(self.fault(deep=False))
        self.assertIn('SHA-256', self.fault())

    def test_other_mtime_makes_it_read_again(self):
        file = self.make()
        self._flip(file, keep_mtime=False)

        self.assertIn('SHA-256', self.fault(deep=False))

    def _flip(self, file, keep_mtime=True):
        stat = file.stat()
        file.write_bytes(base.TINY.replace(b'1', b'7'))
        os.utime(file, ns=(
            stat.st_atime_ns, stat.st_mtime_ns + (0 if keep_mtime else 1)))

    def test_touched_but_the_same(self):
        os.utime(self.make())

        self.assertIsNone(self.fault())

    def test_broken_receipt(self):
        file = self.make()
        for text in '', '{', '{}', '[]':
            (file.parent / 'receipt.json').write_text(text)
            self.assertIn('receipt', self.fault())

    def test_program_is_gone_or_not_executable(self):
        file = self.make()
        file.chmod(0o644)
        self.assertEqual('it is not executable', self.fault())
        file.unlink()
        self.assertIn('unreadable', self.fault())

    def test_broken_one_is_replaced(self):
        os.truncate(self.make(), 3)
        self.make()

        self.assertIsNone(self.fault())
        self.assertEqual(['1.2.3-abababababab'], self.left())

    def left(self):
        return sorted(os.listdir(self.store.root / 'tiny'))

    def test_leftovers_of_dead_processes_go(self):
        home = self.store.root / 'tiny'
        (home / 'tmp-dead' / 'half').mkdir(parents=True)
        (home / 'old.part').touch()
        (home / 'new.part').touch()
        with self.store.workshop('tiny', keep='new.part'):
            pass

        self.assertEqual(['new.part'], self.left())

    def test_interrupted_work_leaves_nothing(self):
        def interrupted():
            with self.store.workshop('tiny') as work:
                (work / 'tiny').touch()
                raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, interrupted)
        self.assertEqual([], self.left())
        self.assertEqual('missing', self.fault())


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
