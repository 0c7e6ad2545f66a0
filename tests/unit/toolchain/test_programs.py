# SPDX-License-Identifier: Apache-2.0

import dataclasses
import errno
import os
import signal
import subprocess
import sys
import time

import fixtures

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import programs
from magnum_capi_tempest.toolchain import store
from tests.unit.conformance import archives
from tests.unit.toolchain import base

BUILD = pins.Build(
    'tiny', '1.2.3', 'example.org/tiny',
    pins.Module('example.org/tiny', 'v1.2.3', 'h1:x'))

# Another process that makes "tiny" by a build that takes a while and notes
# that it happened.
CHILD = '''
from magnum_capi_tempest.toolchain import build, programs, store
import pathlib, sys, time
from tests.unit.toolchain import base, test_programs

folder = pathlib.Path(sys.argv[1])

def make(build, out, progress, **kwargs):
    with open(folder / 'builds', 'a') as log:
        log.write('build\\n')
    out.write_bytes(base.TINY[:10])
    time.sleep(float(sys.argv[2]))
    out.write_bytes(base.TINY)

build.make = make
program = base.program(build=test_programs.BUILD)
print(programs.Resolver(base.pinned(program),
                        store.Store(folder / 'cache'),
                        base.Recorder()).get('tiny'))
'''


class TestStore(base.TestCase):

    def setUp(self):
        super().setUp()
        self.store = store.Store(self.folder / 'toolchain')
        self.file = self.store.file('tiny', '1.2.3', 'ab' * 32)

    def make(self, content=base.TINY, file=None):
        with self.store.making('tiny', 'x', self.progress) as work:
            (work / 'tiny').write_bytes(content)
            return self.store.publish(file or self.file, work)

    def fault(self, **kwargs):
        """As a new process would see it."""
        store._digest.cache_clear()
        return self.store.fault(self.file, **kwargs)

    def left(self):
        return sorted(os.listdir(self.store.root / 'tiny'))

    def test_missing(self):
        self.assertEqual('missing', self.fault())

    def test_made(self):
        file = self.make()

        self.assertEqual(
            self.folder / 'toolchain/tiny/1.2.3-abababababab/tiny', file)
        self.assertTrue(os.access(file, os.X_OK))
        self.assertIsNone(self.fault())
        # Archives of the cache may have other times.
        os.utime(file)
        self.assertIsNone(self.fault())

    def test_faults(self):
        def flip(file):
            stat = file.stat()
            file.write_bytes(base.TINY.replace(b'1', b'7'))
            os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))

        for damage, said in (
                (lambda file: os.truncate(file, 3),
                 'it has 3 bytes instead of 27'),
                (flip, 'SHA-256 differs'),
                (lambda file: file.chmod(0o644), 'not executable'),
                (lambda file: file.unlink(), 'unreadable'),
                *((lambda file, text=text: (
                    file.parent / 'receipt.json').write_text(text), 'receipt')
                  for text in ('', '{', '{}', '[]'))):
            damage(self.make())
            self.assertIn(said, self.fault())
            self.make()
            self.assertIsNone(self.fault())
            self.assertEqual(['1.2.3-abababababab'], self.left())

    def test_leftovers_of_dead_processes_go(self):
        (self.store.root / 'tiny' / 'tmp-dead' / 'half').mkdir(parents=True)
        self.make()

        self.assertEqual(['1.2.3-abababababab'], self.left())

    def test_interrupted_work_leaves_nothing(self):
        def interrupted():
            with self.store.making('tiny', 'x', self.progress) as work:
                (work / 'tiny').touch()
                raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, interrupted)
        self.assertEqual([], self.left())
        self.assertEqual('missing', self.fault())

    def test_versions_that_nobody_uses_any_more_go(self):
        old = [self.make(file=self.store.file('tiny', f'1.{n}.0', 'cd' * 32))
               for n in range(3)]
        then = time.time() - 31 * 86400
        for file in old:
            os.utime(file.parent / 'receipt.json', (then, then))
        self.store.used(old[1])
        self.make()

        self.assertEqual(['1.1.0-cdcdcdcdcdcd', '1.2.3-abababababab'],
                         self.left())


class TestResolver(base.TestCase):

    def setUp(self):
        super().setUp()
        self.set('PATH', f'{self.folder}/bin:/usr/bin:/bin')
        self.set('NO_PROXY', '127.0.0.1')
        self.patch(download, '_unreachable', {})
        self.patch(programs.Resolver, '_unreachable', set())
        self.store = store.Store(self.folder / 'cache')
        self.server = self.host()
        self.server.files['/tiny'] = base.TINY
        self.release = base.release(self.server.url + '/tiny', base.TINY)
        self.program = base.program(download=self.release, build=BUILD)
        self.builds = []
        self.built = base.TINY
        self.patch(build, 'make', self.make)

    def set(self, name, value):
        self.useFixture(fixtures.EnvironmentVariable(name, value))

    def make(self, made, out, progress, *, warm):
        self.builds.append(warm)
        if isinstance(self.built, Exception):
            raise self.built
        out.write_bytes(self.built)

    def resolver(self):
        store._digest.cache_clear()
        return programs.Resolver(
            base.pinned(self.program), self.store, self.progress)

    def get(self):
        return self.resolver().get('tiny')

    def refused(self):
        return str(self.assertRaises(errors.EnvironmentProblem, self.get))

    def has(self):
        return self.resolver().has('tiny')

    def test_path_first(self):
        there = base.script(self.folder / 'bin' / 'tiny', 'echo tiny v1.2.3')

        self.assertTrue(self.has())
        self.assertEqual(there, self.get())
        self.assertEqual(([], []), (self.server.requests, self.builds))

    def test_then_the_download(self):
        self.assertFalse(self.has())
        first = self.get()

        self.assertTrue(self.has())
        self.assertEqual([], self.builds)
        self.assertEqual(first, self.get())
        self.assertEqual(1, len(self.server.requests))

    def test_a_wheel_brings_a_program_of_its_own_sources(self):
        wheel = store.Store(self.folder / 'share')
        file = wheel.file('tiny', '1.2.3', build.key(BUILD))
        with wheel.making('tiny', 'x', self.progress) as work:
            (work / 'tiny').write_bytes(base.TINY)
            wheel.publish(file, work)
        found = programs.Resolver(base.pinned(self.program), self.store,
                                  self.progress, wheel)

        self.assertEqual(file, found.get('tiny'))
        self.assertEqual(([], []), (self.server.requests, self.builds))
        # Other sources need another program.
        self.program = base.program(
            download=self.release,
            build=dataclasses.replace(BUILD, variables=('a.b=c',)))
        found = programs.Resolver(base.pinned(self.program), self.store,
                                  self.progress, wheel)

        self.assertFalse(found.has('tiny'))
        self.assertNotEqual(file, found.get('tiny'))

    def test_programs_of_one_archive_share_its_download(self):
        archive = archives.by_library({
            f'linux/{name}': base.TINY for name in ('tiny', 'other')})
        self.server.files['/a.tar.gz'] = archive
        known = [dataclasses.replace(
            self.program, name=name, download=base.release(
                self.server.url + '/a.tar.gz', archive, f'linux/{name}'))
            for name in ('tiny', 'other')]
        resolver = programs.Resolver(
            dataclasses.replace(pins.load(),
                                programs={one.name: one for one in known}),
            self.store, self.progress)
        found = [resolver.get(one.name).read_bytes() for one in known]

        self.assertEqual(([base.TINY] * 2, ['/a.tar.gz']),
                         (found, self.server.requests))

    def test_without_the_file_it_is_built_and_says_why(self):
        self.server.files.clear()

        self.get()
        self.assertEqual([False], self.builds)
        [line] = [t for t in self.progress.lines if 'no download' in t]
        self.assertIn('HTTP 404', line)
        # What is built is kept, and the publisher is not asked again.
        self.get()
        self.assertEqual(1, len(self.server.requests))

    def test_of_a_publisher_that_is_out_of_reach_it_says_so_once(self):
        self.server.close()
        for version in '1.2.3', '1.2.4':
            self.program = dataclasses.replace(
                self.program, version=version,
                build=dataclasses.replace(BUILD, version=version))
            self.built = base.TINY.replace(b'1.2.3', version.encode())
            self.get()
        [line] = [t for t in self.progress.lines if 'built with Go' in t]
        self.assertIn('cannot be reached: Connection refused', line)

    def test_another_file_than_the_pinned_one_is_never_replaced_by_a_build(
            self):
        self.server.files['/tiny'] = b'#!/bin/sh\necho tiny v1.2.3 # evil\n'

        self.assertIn('is not the pinned one', self.refused())
        self.assertEqual([], self.builds)
        self.assertEqual([], os.listdir(self.store.root / 'tiny'))

    def test_programs_that_call_themselves_something_else(self):
        """Forgotten linker flags, or the file of another release."""
        other = base.TINY.replace(b'1.2.3', b'0.0.0-master')
        self.server.files['/tiny'] = self.built = other
        for self.program in (
                base.program(build=BUILD), base.program(
                    download=base.release(self.release.url, other))):
            self.assertIn('it says 0.0.0-master', self.refused())
            self.assertFalse(self.has())

    def test_sources_that_are_not_installed(self):
        """magnum-capi-sandbox has those of some programs."""
        made = pins.Build('tiny', '1.2.3', '.', folder='sandbox/none')
        self.program = base.program(download=self.release, build=made)
        self.get()
        self.assertEqual([], self.builds)

        self.program = base.program(build=made)
        self.assertIn('pip install --force-reinstall --no-deps ./sandbox',
                      self.refused())

    def test_broken_file_is_reported_and_made_again(self):
        file = self.get()
        os.truncate(file, 5)

        self.assertEqual(base.TINY, self.get().read_bytes())
        [line] = [t for t in self.progress.lines if 'is broken' in t]
        self.assertIn(f'{file} is broken: it has 5 bytes', line)

    def test_no_way_left(self):
        self.program = base.program(download=self.release)
        self.server.files.clear()
        message = self.refused()

        for said in ('Cannot get tiny 1.2.3', 'HTTP 404',
                     'Put tiny 1.2.3 on PATH'):
            self.assertIn(said, message)

    def test_full_disk_in_the_middle(self):
        self.program = base.program(build=BUILD)
        self.built = OSError(errno.ENOSPC, 'No space left on device', '/x')

        self.assertIn('No disk space for tiny (/x)', self.refused())
        self.assertEqual([], os.listdir(self.store.root / 'tiny'))

    def test_cache_that_cannot_be_written(self):
        (self.folder / 'cache').write_text('a file')

        self.assertIn('Cannot use the cache folder', self.refused())

    def test_only_the_first_build_with_these_dependencies_is_cold(self):
        self.program = base.program(build=BUILD)
        os.truncate(self.get(), 5)
        self.get()

        self.assertEqual([False, True], self.builds)

    def test_a_broken_program_is_missing(self):
        os.truncate(self.get(), 5)

        self.assertFalse(self.has())


class TestOnPath(base.TestCase):

    def find(self, *folders):
        return programs.on_path(base.program(),
                                os.pathsep.join(map(str, folders)))

    def put(self, folder, says):
        base.script(self.folder / folder / 'tiny', says)
        return self.folder / folder

    def test_only_the_exact_version_counts(self):
        for says in ('tiny v1.2.3-dispatcher', 'tiny v1.2.3+k3s1',
                     'tiny v1.2.4', 'v1.2.3', 'broken', ''):
            with self.subTest(says=says):
                wrong = self.put('a', f'echo "{says}"')
                self.assertIsNone(self.find(wrong))
        right = self.put('b', 'echo tiny v1.2.3')

        self.assertEqual(right / 'tiny', self.find(wrong, right))

    def test_programs_that_fail_hang_or_are_none(self):
        failing = self.put('a', 'echo tiny v1.2.3; exit 1')
        other = self.put('b', '')
        (other / 'tiny').write_bytes(b'\x7fELF not really')
        hanging = self.put('c', 'sleep 60')
        self.patch(programs, 'TIMEOUT', 0.2)
        begin = time.monotonic()

        self.assertIsNone(self.find(
            failing, other, hanging, self.folder / 'none'))
        self.assertLess(time.monotonic() - begin, 10)

    def test_what_it_writes_is_gone(self):
        folder = self.put(
            'a', 'echo log > "$TMPDIR/log"; echo log > "$MINIKUBE_HOME/log"; '
            'echo tiny v1.2.3')
        temporary = self.useFixture(fixtures.TempDir()).path
        for name in 'TMPDIR', 'MINIKUBE_HOME':
            self.useFixture(fixtures.EnvironmentVariable(name, temporary))
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir', None))

        self.assertEqual(folder / 'tiny', self.find(folder))
        self.assertEqual([], os.listdir(temporary))

    def test_relative_entries_do_not_count(self):
        folder = self.put('a', 'echo tiny v1.2.3')

        self.assertIsNone(self.find('', '.', os.path.relpath(folder)))


class TestTwoProcesses(base.TestCase):

    def child(self, seconds):
        process = subprocess.Popen(
            [sys.executable, '-c', CHILD, self.folder, str(seconds)],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        return process

    def builds(self):
        log = self.folder / 'builds'
        return len(log.read_text().split()) if log.exists() else 0

    def test_one_builds_the_other_waits(self):
        both = [self.child(1), self.child(1)]
        [first, second] = [p.communicate(timeout=60)[0] for p in both]

        self.assertEqual([0, 0], [p.returncode for p in both])
        self.assertEqual(first, second)
        self.assertEqual(1, self.builds())

    def test_killed_one_leaves_nothing_half_made(self):
        dying = self.child(60)
        waiting.wait_for(self.builds, done=bool, timeout=30,
                         what='the build to begin')
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        home = self.folder / 'cache' / 'tiny'
        self.assertEqual(['tmp-'], [n[:4] for n in os.listdir(home)])

        path = self.child(0).communicate(timeout=60)[0].strip()
        with open(path, 'rb') as file:
            self.assertEqual(base.TINY, file.read())
        self.assertEqual(1, len(os.listdir(home)))


class TestDoor(base.TestCase):

    def test_nothing_to_do(self):
        self.assertEqual({}, toolchain.ensure([]))
