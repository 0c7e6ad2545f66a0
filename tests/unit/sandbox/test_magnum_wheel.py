# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import shutil
import subprocess
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import magnum_wheel
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec
from tests.unit import own_folders
from tests.unit.sandbox import samples


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.useFixture(fixtures.MockPatchObject(
            environment, 'uv', lambda: 'uv'))

    def find(self, text):
        return magnum_wheel.find(text, progress.Silent())

    def wheel(self, version, content='x'):
        path = self.base / f'magnum-{version}-py3-none-any.whl'
        path.write_text(content)
        return path


class FindTest(_Base):

    def test_releases(self):
        self.assertEqual(releases.get('2025.1'), self.find('20'))
        # A folder of that name does not count.
        (self.base / '20').mkdir()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.base)
        self.assertEqual(releases.get('2025.1'), self.find('20'))
        e = self.assertRaises(errors.UsageError, self.find, '19')
        self.assertIn('2025.1 (20)', str(e))

    def test_a_wheel_has_the_traits_of_its_release(self):
        found = self.find(str(self.wheel('21.0.2.dev3')))
        self.assertEqual(('2025.2', '1.12', True), (
            found.name, found.microversion, found.trusts))
        self.assertEqual('2025.2 (magnum-21.0.2.dev3-py3-none-any.whl)',
                         str(found))

    def test_one_of_the_future_has_those_of_the_newest(self):
        self.assertEqual(releases.NEWEST.name, self.find(
            str(self.wheel('24.0.0.0rc1'))).name)

    def test_the_copy_stays_when_the_wheel_changes(self):
        path = self.wheel('22.0.1')
        before = self.find(str(path))
        self.assertEqual(before, self.find(str(path)))
        path.write_text('y')
        after = self.find(str(path))
        self.assertNotEqual(environment.key(before), environment.key(after))
        self.assertEqual('x', pathlib.Path(before.wheel).read_text())

    def test_an_older_one_or_another_package(self):
        other = self.base / 'nova-31.0.0-py3-none-any.whl'
        other.touch()
        for path in (self.wheel('19.0.0'), self.wheel('0.0.1.dev9'), other):
            e = self.assertRaises(errors.UsageError, self.find, str(path))
            self.assertIn(f'20 or later: {path.name}', str(e))

    def test_what_is_neither(self):
        for path in (self.base, self.base / 'missing'):
            e = self.assertRaises(errors.UsageError, self.find, str(path))
            self.assertIn('not Magnum', str(e))
            self.assertIn(str(path), str(e))


class CheckoutTest(_Base):

    def setUp(self):
        super().setUp()
        self.source = self.base / 'magnum'
        (self.source / '.tox').mkdir(parents=True)
        (self.source / 'setup.cfg').touch()

    def test_a_wheel_is_built_of_a_copy(self):
        def build(argv, env, timeout):
            copy, folder = argv[-1], argv[argv.index('--out-dir') + 1]
            self.assertEqual(['setup.cfg'], os.listdir(copy))
            (copy / 'build').mkdir()
            folder.mkdir()
            (folder / 'magnum-22.0.1.dev4-py3-none-any.whl').write_text(
                env['SOURCE_DATE_EPOCH'])

        with fixtures.MockPatchObject(processes, 'run', build):
            found = self.find(str(self.source))
            self.assertEqual(found, self.find(str(self.source)))
        self.assertEqual('2026.1', found.name)
        self.assertEqual(['.tox', 'setup.cfg'],
                         sorted(os.listdir(self.source)))

    def test_the_patched_one_is_built_once(self):
        calls = []

        def run(argv, env, timeout, hint=None):
            calls.append(str(argv[1]).rpartition('/')[2])
            if argv[0] == 'bash':
                (argv[2] / 'magnum-23.0.0').mkdir(parents=True)
                (argv[2] / 'magnum-23.0.0.tar.gz').touch()
            else:
                folder = argv[argv.index('--out-dir') + 1]
                folder.mkdir()
                (folder / 'magnum-23.0.0-py3-none-any.whl').touch()

        with fixtures.MockPatchObject(processes, 'run', run):
            found = self.find(magnum_wheel.PATCHED)
            self.assertEqual(found, self.find(magnum_wheel.PATCHED))
        self.assertEqual(['apply.sh', 'build'], calls)
        self.assertEqual(releases.NEWEST.name, found.name)

    def test_two_build_the_patched_one_at_once(self):
        others = [None]

        def run(argv, env, timeout, hint=None):
            if argv[0] == 'bash':
                (argv[2] / 'magnum-23.0.0').mkdir(parents=True)
                return
            if others:
                # Another one begins later and ends earlier.
                others.pop()
                self.find(magnum_wheel.PATCHED)
            folder = argv[argv.index('--out-dir') + 1]
            folder.mkdir()
            (folder / 'magnum-23.0.0-py3-none-any.whl').touch()

        with fixtures.MockPatchObject(processes, 'run', run):
            found = self.find(magnum_wheel.PATCHED)
        self.assertTrue(pathlib.Path(found.wheel).is_file())

    def test_a_build_that_fails(self):
        def fail(argv, **kwargs):
            raise errors.CommandFailed(argv, 2, 'Versioning for this project '
                                       'requires\n an sdist')
        with fixtures.MockPatchObject(processes, 'run', fail):
            e = self.assertRaises(errors.MagnumCapiError, self.find,
                                  str(self.source))
        self.assertIn(str(self.source), str(e))
        self.assertIn('project requires an sdist', str(e))


class EnvironmentTest(_Base):

    def test_it_takes_the_place_of_the_pin(self):
        for version, file in (('20.0.3', 'magnum-2025.1.txt'),
                              ('23.0.1', 'cloud.txt')):
            release = self.find(str(self.wheel(version)))
            files = environment.pins(release, self.base)
            self.assertEqual(file, files[0].name)
            plain, mine = (
                f.read_text().splitlines() for f in (
                    environment.pins(releases.get(release.name),
                                     self.base)[0], files[0]))
            gone = [line for line in plain if line not in mine]
            self.assertTrue(gone[0].startswith(f'magnum=={version[:2]}.'))
            self.assertEqual(
                [], [line for line in gone[1:] if '--hash' not in line])
            self.assertEqual([], [line for line in mine if line not in plain])

    def test_only_the_last_ones_stay(self):
        def uv(argv, **kwargs):
            folder.mkdir(exist_ok=True)

        made = []
        for number in range(7):
            release = self.find(str(self.wheel('20.0.3', str(number))))
            folder = environment.location(environment.key(release))
            with fixtures.MockPatchObject(processes, 'run', uv):
                environment.ensure(progress.Silent(), release)
                # Somebody uses the first one all the time.
                made.append(folder)
                environment.ensure(progress.Silent(), self.find(
                    str(self.wheel('20.0.3', '0'))))
        self.assertEqual([made[0], *made[3:]],
                         [folder for folder in made if folder.exists()])

    def made(self, count):
        """Make environments, each used before the next; return folders."""
        found = []
        for number in range(count):
            release = self.find(str(self.wheel('20.0.3', str(number))))
            found.append(environment.location(environment.key(release)))
            with fixtures.MockPatchObject(
                    processes, 'run',
                    lambda *_, **__: found[-1].mkdir(exist_ok=True)):
                environment.ensure(progress.Silent(), release)
                if number == 0:
                    self.first(found[0])
        return found

    def first(self, folder):
        """What happens once the first one is made."""

    def test_one_that_a_sandbox_runs_from_stays(self):
        def run(folder):
            program = subprocess.Popen(
                ['cat'], stdin=subprocess.PIPE,
                env={'PATH': f'{folder}/bin:{os.environ["PATH"]}'})
            self.addCleanup(program.communicate)

        self.first = run

        made = self.made(7)

        self.assertEqual([made[0], *made[2:]],
                         [folder for folder in made if folder.exists()])

    def test_a_removal_that_is_killed(self):
        self.first = lambda folder: (folder / 'bin').mkdir()

        def kill(folder, ignore_errors=False):
            if (folder / 'bin').exists():
                raise SystemExit

        # In this module alone: a temporary folder of another test may be
        # collected meanwhile.
        own = mock.Mock(wraps=shutil, rmtree=kill)
        with fixtures.MockPatchObject(environment, 'shutil', own):
            self.assertRaises(SystemExit, self.made, 6)
        release = self.find(str(self.wheel('20.0.3', '0')))
        folder = environment.location(environment.key(release))
        calls = []

        def uv(argv, **kwargs):
            calls.append(argv[1])
            folder.mkdir(exist_ok=True)

        with fixtures.MockPatchObject(processes, 'run', uv):
            environment.ensure(progress.Silent(), release)
        self.assertEqual(['venv', 'pip'], calls)

    def test_a_copy_that_has_gone(self):
        release = self.find(str(self.wheel('20.0.3')))
        pathlib.Path(release.wheel).unlink()
        e = self.assertRaises(errors.UsageError, environment.ensure,
                              progress.Silent(), release)
        self.assertIn('down and up again', str(e))


class SavedTest(_Base):

    def test_a_sandbox_knows_its_magnum(self):
        release = self.find(str(self.wheel('21.0.2')))
        samples.save(self.base, magnum=release.wheel)
        self.assertEqual(release, spec.load(self.base).release)
