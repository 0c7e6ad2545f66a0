# SPDX-License-Identifier: Apache-2.0

import itertools
import os
import pathlib
import select
import subprocess
import sys
import time
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases
from magnum_capi_tempest import resources
from magnum_capi_tempest.toolchain import lock
from tests.unit import own_folders


class KeyTest(testtools.TestCase):

    def test_names_the_pins(self):
        before = environment.key()
        other = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'cloud.txt'
        other.write_text('keystone==1\n')
        self.useFixture(fixtures.MockPatchObject(
            resources, 'find', lambda name: other))
        self.assertNotEqual(before, environment.key())

    def test_names_the_python(self):
        before = environment.key()
        self.useFixture(fixtures.MonkeyPatch(
            'sys.executable', '/another/python'))
        self.assertNotEqual(before, environment.key())

    def test_is_that_of_all_virtual_environments_of_a_python(self):
        before = environment.key()
        python = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'python'
        python.symlink_to(sys.executable)
        self.useFixture(fixtures.MonkeyPatch('sys.executable', str(python)))
        self.assertEqual(before, environment.key())

    def test_parts_are_not_run_together(self):
        self.assertNotEqual(environment.digest('ab', 'c'),
                            environment.digest('a', 'bc'))


class EnsureTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cache = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.cache)))
        self.useFixture(fixtures.EnvironmentVariable(
            'PYTHONDONTWRITEBYTECODE', '1'))
        self.calls = []
        self.argv = []
        self.useFixture(fixtures.MockPatchObject(
            processes, 'run', self.run_uv))
        self.folder = self.cache / 'cloud' / environment.key()

    def run_uv(self, argv, env, **kwargs):
        self.calls.append((argv[1], env))
        self.argv.append(argv)
        self.folder.mkdir(exist_ok=True)

    def ensure(self):
        return environment.ensure(progress.Silent())

    def test_made_once(self):
        self.assertEqual(self.folder, self.ensure())
        self.assertEqual(self.folder, self.ensure())
        self.assertEqual(['venv', 'pip'], [name for name, _ in self.calls])

    def test_an_earlier_magnum_has_one_of_its_own(self):
        release = releases.get('2025.1')
        self.folder = environment.location(environment.key(release))

        found = environment.ensure(progress.Silent(), release)

        self.assertEqual(self.folder, found)
        self.assertNotEqual(environment.key(), environment.key(release))
        argv = self.argv[-1]
        self.assertEqual(
            ['magnum-2025.1.txt', 'magnum-beside.txt'],
            [pathlib.Path(after).name for word, after in itertools.pairwise(
                argv) if word == '--requirement'])

    def test_half_made_one_is_made_again(self):
        self.folder.mkdir(parents=True)
        (self.folder / 'half').touch()
        self.ensure()
        self.assertFalse((self.folder / 'half').exists())
        self.assertEqual(2, len(self.calls))

    def test_those_that_nothing_has_used_for_a_month_go(self):
        old = {}
        for name in 'unused', 'running', 'linked', 'recent', 'draft':
            old[name] = environment.location(name)
            old[name].mkdir(parents=True)
            if name != 'draft':
                (old[name] / environment._STAMP).touch()
        then = time.time() - 31 * 86400
        for name in 'unused', 'running', 'linked':
            os.utime(old[name] / environment._STAMP, (then, then))
        # What a sandbox has of its own, see overlay.empty.
        box = environment.location('').parent / 'box' / 'cloud-env'
        (box / 'bin').mkdir(parents=True)
        (box / 'bin' / 'python').symlink_to(
            old['linked'] / 'bin' / 'python')
        for folder in box, old['running']:
            program = subprocess.Popen(['sleep', '600'], env={
                'PATH': f'{folder}/bin:{os.defpath}'})
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)

        self.ensure()

        self.assertEqual(['draft', 'linked', 'recent', 'running'], sorted(
            name for name, folder in old.items() if folder.exists()))

    def test_failure_leaves_no_stamp(self):
        def fail(argv, **kwargs):
            raise errors.CommandFailed(argv, 1, 'no network')
        with fixtures.MockPatchObject(processes, 'run', fail):
            self.assertRaises(errors.CommandFailed, self.ensure)
        self.ensure()
        self.assertEqual(2, len(self.calls))


class KilledTest(testtools.TestCase):
    """The process that makes an environment is killed, but not its uv."""

    #: Installs until it is told to end.
    UV = """\
#!/bin/sh
case $1 in
venv) mkdir -p "$5" ;;
pip) echo begun > {base}/said; read -r line < {base}/told ;;
esac
"""
    MAKE = """\
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
import pathlib, sys
environment.uv = lambda: sys.argv[1]
environment.ensure(progress.Silent())
"""

    def test_the_next_one_waits_for_it(self):
        base = self.useFixture(own_folders.OwnFolders()).base
        said, told = (self.pipe(base / name) for name in ('said', 'told'))
        uv = base / 'uv'
        uv.write_text(self.UV.format(base=base))
        uv.chmod(0o755)
        maker = subprocess.Popen([sys.executable, '-c', self.MAKE, uv])
        self.addCleanup(maker.wait)
        self.addCleanup(maker.kill)
        self.assertTrue(select.select([said], [], [], 60)[0])
        maker.kill()
        maker.wait()

        path = environment.location(environment.key())
        with testtools.ExpectedException(errors.WaitTimeout):
            with lock.hold(path.with_name(f'{path.name}.lock'), 'x',
                           progress.Silent(), timeout=0):
                pass
        os.write(told, b'end\n')
        with lock.hold(path.with_name(f'{path.name}.lock'), 'x',
                       progress.Silent(), timeout=60):
            self.assertTrue(path.exists())

    def pipe(self, path):
        """Make a named pipe; opened for both, so that nothing waits here."""
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDWR)
        self.addCleanup(os.close, descriptor)
        return descriptor


class UvTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        without = mock.patch.dict(sys.modules, uv=None)
        without.start()
        self.addCleanup(without.stop)

    def test_missing(self):
        self.useFixture(fixtures.EnvironmentVariable('PATH', '/nowhere'))
        e = self.assertRaises(errors.EnvironmentProblem, environment.uv)
        self.assertIn('pip install uv', str(e))
