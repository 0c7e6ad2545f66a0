# SPDX-License-Identifier: Apache-2.0

import dataclasses
import errno
import os
import signal
import subprocess
import sys

import fixtures

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import build
from magnum_capi_tempest.toolchain import cache
from magnum_capi_tempest.toolchain import download
from magnum_capi_tempest.toolchain import pins
from magnum_capi_tempest.toolchain import resolve
from tests.unit.toolchain import base

BUILD = pins.Build(
    pins.Family('f', 'sandbox/capi', 1), 'example.org/tiny', 'm')

# Another process that makes "tiny" by a build that takes a while and notes
# that it happened.
CHILD = '''
from magnum_capi_tempest.toolchain import build, cache, resolve
import pathlib, sys, time
from tests.unit.toolchain import base, test_resolve

folder = pathlib.Path(sys.argv[1])

def make(program, out, progress, **kwargs):
    with open(folder / 'builds', 'a') as log:
        log.write('build\\n')
    out.write_bytes(base.TINY[:10])
    time.sleep(float(sys.argv[2]))
    out.write_bytes(base.TINY)

build.make = make
program = base.program(build=test_resolve.BUILD)
print(resolve.Resolver(base.pinned(program), cache.Store(folder / 'cache'),
                       base.Recorder()).get('tiny'))
'''


class TestResolver(base.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.EnvironmentVariable(
            'PATH', f'{self.folder}/bin:/usr/bin:/bin'))
        self.useFixture(fixtures.EnvironmentVariable(
            'NO_PROXY', '127.0.0.1'))
        self.store = cache.Store(self.folder / 'cache')
        self.addCleanup(cache._seen.clear)
        self.server = self.host()
        self.server.files['/tiny'] = base.TINY
        self.release = base.release(self.server.url + '/tiny', base.TINY)
        self.program = base.program(download=self.release, build=BUILD)
        self.builds = []
        self.built = base.TINY
        self.patch(build, 'make', self.make)

    def make(self, program, out, progress, *, warm):
        self.builds.append(warm)
        if isinstance(self.built, Exception):
            raise self.built
        out.write_bytes(self.built)

    def resolver(self):
        cache._seen.clear()
        return resolve.Resolver(
            base.pinned(self.program), self.store, self.progress)

    def get(self):
        return self.resolver().get('tiny')

    def source(self, path):
        [state] = self.resolver().describe()
        self.assertEqual((path, 'ready'), (state.path, state.state))
        return state.source

    def test_path_first(self):
        there = base.script(self.folder / 'bin' / 'tiny', 'echo tiny v1.2.3')

        self.assertEqual('path', self.source(self.get()))
        self.assertEqual(there, self.get())
        self.assertEqual(([], []), (self.server.requests, self.builds))

    def test_then_the_download(self):
        self.assertEqual('download', self.source(self.get()))
        self.assertEqual([], self.builds)

    def test_archive(self):
        content = base.archive('linux/tiny', base.TINY)
        self.server.files['/tiny'] = content
        self.program = base.program(download=base.release(
            self.server.url + '/tiny', content, 'linux/tiny'))

        self.assertEqual(base.TINY, self.get().read_bytes())

    def test_then_the_build_and_says_why(self):
        self.server.status = 403

        self.assertEqual('build', self.source(self.get()))
        self.assertEqual([False], self.builds)
        [line] = [t for t in self.progress.lines if 'no download' in t]
        self.assertIn('HTTP 403', line)

    def test_sources_that_are_not_installed(self):
        """magnum-capi-sandbox has those of some programs."""
        made = pins.Build(pins.Family('f', 'sandbox/none', 1),
                          'example.org/tiny', 'm')
        self.program = base.program(download=self.release, build=made)
        self.assertEqual('download', self.source(self.get()))

        self.program = base.program(build=made)
        error = self.assertRaises(errors.EnvironmentProblem, self.get)
        self.assertIn('pip install --force-reinstall --no-deps ./sandbox',
                      str(error))

    def test_what_is_kept_is_not_made_again(self):
        first = self.get()

        self.assertEqual(first, self.get())
        self.assertEqual(1, len(self.server.requests))

    def test_kept_build_is_taken_without_asking_the_host_again(self):
        self.server.status = 403
        self.get()
        self.server.requests.clear()
        self.get()

        self.assertEqual([], self.server.requests)

    def test_broken_file_is_reported_and_made_again(self):
        file = self.get()
        os.truncate(file, 5)

        self.assertEqual(base.TINY, self.get().read_bytes())
        [line] = [t for t in self.progress.lines if 'is broken' in t]
        self.assertIn(f'{file} is broken: it has 5 bytes', line)

    def test_truncated_part_is_finished(self):
        home = self.store.root / 'tiny'
        home.mkdir(parents=True)
        (home / f'{self.release.digest[:12]}.part').write_bytes(
            base.TINY[:10])
        self.get()

        self.assertEqual([('/tiny', 'bytes=10-')], self.server.requests)
        self.assertEqual(1, len(os.listdir(home)))

    def test_part_survives_for_the_next_run(self):
        big = base.TINY + b'#' * 300000
        self.server.files['/tiny'] = big
        self.program = base.program(
            download=base.release(self.server.url + '/tiny', big))
        self.server.break_after = [100000] + [0] * download.ATTEMPTS
        self.assertRaises(errors.EnvironmentProblem, self.get)
        self.server.break_after = []
        self.server.requests.clear()

        self.assertEqual(big, self.get().read_bytes())
        self.assertEqual([('/tiny', 'bytes=65536-')], self.server.requests)

    def test_release_of_another_version_is_not_taken(self):
        other = base.TINY.replace(b'1.2.3', b'9.9.9')
        self.server.files['/tiny'] = other
        self.program = dataclasses.replace(
            self.program,
            download=base.release(self.server.url + '/tiny', other))

        self.assertEqual('build', self.source(self.get()))

    def test_build_that_calls_itself_something_else(self):
        """Forgotten linker flags show at once."""
        self.program = base.program(build=BUILD)
        self.built = base.TINY.replace(b'1.2.3', b'0.0.0-master')
        error = self.assertRaises(errors.EnvironmentProblem, self.get)

        self.assertIn('it says 0.0.0-master', str(error))
        self.assertEqual('missing', self.resolver().describe()[0].state)

    def test_no_way_left(self):
        self.program = base.program(download=self.release)
        self.server.status = 403
        error = self.assertRaises(errors.EnvironmentProblem, self.get)

        self.assertIn('Cannot get tiny 1.2.3', str(error))
        self.assertIn('HTTP 403', str(error))
        self.assertIn('Put tiny 1.2.3 on PATH', str(error))

    def test_full_disk_in_the_middle(self):
        self.program = base.program(build=BUILD)
        self.built = OSError(errno.ENOSPC, 'No space left on device', '/x')
        error = self.assertRaises(errors.EnvironmentProblem, self.get)

        self.assertIn('No disk space for tiny (/x)', str(error))
        self.assertEqual([], os.listdir(self.store.root / 'tiny'))

    def test_cache_that_cannot_be_written(self):
        (self.folder / 'cache').write_text('a file')
        error = self.assertRaises(errors.EnvironmentProblem, self.get)

        self.assertIn('Cannot store tiny', str(error))

    def test_only_the_first_build_of_a_family_is_cold(self):
        self.program = base.program(build=BUILD)
        os.truncate(self.get(), 5)
        self.get()

        self.assertEqual([False, True], self.builds)

    def test_describe_what_is_missing_and_what_is_broken(self):
        [state] = self.resolver().describe()
        self.assertEqual(
            ('tiny', '1.2.3', 'download/build', 'missing', None),
            dataclasses.astuple(state))
        os.truncate(self.get(), 5)
        [state] = self.resolver().describe()
        self.assertEqual('it has 5 bytes instead of 27', state.state)


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

    def test_unknown_program(self):
        error = self.assertRaises(
            errors.UsageError, toolchain.ensure, ['etcd', 'etc', 'kubctl'])

        self.assertIn('Unknown program etc, kubctl', str(error))
        self.assertIn('Known programs: etcd, kube-apiserver', str(error))
        self.assertEqual(2, error.exit_code)

    def test_nothing_to_do(self):
        self.assertEqual({}, toolchain.ensure([]))
