# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import overlay
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import releases
from magnum_capi_tempest import runmarks
from tests.unit.sandbox import samples


class RequirementTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_requirements_are_as_they_are(self):
        for text in ('x', 'x>=1.0', 'x[a]==2', 'x @ https://h/x.whl',
                     'git+https://h/x'):
            self.assertEqual(text, drivers.requirement(text))

    def test_paths_become_absolute(self):
        (self.folder / 'a').mkdir()
        (self.folder / 'a' / 'setup.py').touch()
        (self.folder / 'b.whl').touch()
        for name in ('a', './a', 'b.whl', str(self.folder / 'b.whl')):
            self.assertEqual(str(self.folder / pathlib.Path(name).name),
                             drivers.requirement(name))

    def test_what_is_refused(self):
        """Such as what uv would take for something else."""
        (self.folder / 'empty').mkdir()
        for text, said in (
                ('empty', 'pyproject.toml'),
                *((name, 'no such file') for name in ('./a', '/a/b', 'a/b')),
                *((word, 'neither') for word in (
                    '', ' ', '-r', '--index-url=https://x', 'x\ny',
                    'x\0'))):
            e = self.assertRaises(
                errors.UsageError, drivers.requirement, text)
            self.assertIn(said, str(e))


class InstallTest(testtools.TestCase):
    """uv is a stand-in; the functional tests have the real one."""

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self.cloud = samples.a_cloud(self.base / 'cloud')
        self.layout = samples.a_layout(self.base)
        (self.base / 'tmp').mkdir()
        self.source = self.base / 'source'
        (self.source / '.tox').mkdir(parents=True)
        (self.source / 'pyproject.toml').touch()
        self.useFixture(fixtures.MockPatchObject(
            environment, 'uv', lambda: 'uv'))
        self.useFixture(fixtures.EnvironmentVariable('VIRTUAL_ENV', '/v'))
        self.calls = []

    def install(self, act, *requirements, companions=()):
        """Install; ``act`` gets the folder with the packages."""
        def run(argv, env, timeout):
            argv = list(map(str, argv))
            python = pathlib.Path(argv[argv.index('--python') + 1])
            library, = python.parent.parent.glob('lib/*/site-packages')
            self.calls.append((argv, env))
            act(library)

        with fixtures.MockPatchObject(processes, 'run', run):
            drivers.install(self.layout, self.cloud,
                            requirements or ('x',), progress.Silent(),
                            releases.NEWEST, companions=companions)

    def add(self, library, name='x', group='magnum.drivers'):
        info = library / f'{name}-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(f'Name: {name}\nVersion: 1.0\n')
        (info / 'entry_points.txt').write_text(f'[{group}]\n{name} = x:X\n')

    def assert_nothing_left(self):
        self.assertFalse(self.layout.drivers.exists())
        self.assertEqual([], os.listdir(self.base / 'tmp'))

    def test_uv_takes_the_packages_of_the_cloud_for_installed(self):
        def look(library):
            info = library / 'magnum-23.0.0.dist-info'
            self.assertIn('Version: 23.0.0',
                          (info / 'METADATA').read_text())
            # Nothing of the cloud could be removed by its list of files.
            self.assertEqual('', (info / 'RECORD').read_text())
            self.assertFalse((info / 'RECORD').is_symlink())
            self.assertFalse(info.is_symlink())
            self.add(library)

        self.install(look)
        argv, _ = self.calls[0]
        constraint, = [word for word in argv
                       if str(word).startswith('--constraint=')]
        self.assertTrue(constraint.endswith(releases.CLOUD))

    def test_a_folder_is_built_from_a_copy(self):
        def look(library):
            copy = pathlib.Path(self.calls[0][0][-1])
            self.assertNotEqual(self.source, copy)
            self.assertEqual(['pyproject.toml'], os.listdir(copy))
            self.add(library)

        self.install(look, str(self.source))
        self.assertEqual({'.tox', 'pyproject.toml'},
                         set(os.listdir(self.source)))

    def test_its_processes_are_found_when_this_one_is_killed(self):
        self.install(self.add)
        _, env = self.calls[0]
        self.assertEqual(str(self.base), env[runmarks.MARK])
        self.assertNotIn('VIRTUAL_ENV', env)
        self.assertTrue(pathlib.Path(env['TMPDIR']).is_relative_to(
            self.base / 'tmp'))

    def test_failure_is_one_line_about_what_was_asked_for(self):
        def fail(library):
            raise errors.CommandFailed(
                ['uv'], 1, f'error: no\n  cause: {self.calls[0][0][-1]} is '
                'bad.\n')

        e = self.assertRaises(errors.MagnumCapiError, self.install, fail,
                              str(self.source))
        self.assertIn(f'last seen: error: no cause: {self.source} is bad. ',
                      str(e))
        self.assertNotIn('\n', str(e))
        self.assert_nothing_left()

    def test_endless_talk_is_cut(self):
        def fail(library):
            raise errors.CommandFailed(['uv'], 1, 'x' * 5000)

        e = self.assertRaises(errors.MagnumCapiError, self.install, fail)
        self.assertLess(len(str(e)), 1500)

    def test_interrupted(self):
        def interrupt(library):
            self.add(library)
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, self.install, interrupt)
        self.assert_nothing_left()

    def test_companions(self):
        """New ones come with it; those of another version come first."""
        def act(library):
            if len(self.calls) == 1:
                self.add(library)
            else:
                (library / overlay.COMPANIONS).mkdir()

        self.install(act, companions=('new', 'magnum<23', 'Magnum>=23'))
        first, second = (argv for argv, _ in self.calls)
        self.assertEqual(['x', 'new'], first[first.index('--') + 1:])
        self.assertEqual(['magnum<23'], second[second.index('--') + 1:])
        # What they need is the cloud's.
        self.assertIn('--no-deps', second)
        self.assertTrue(second[second.index('--target') + 1].endswith(
            overlay.COMPANIONS))
        self.assertFalse(any('--constraint' in word for word in second))
        self.assertEqual({'x-1.0.dist-info', overlay.COMPANIONS},
                         set(os.listdir(self.layout.drivers)))

    def test_a_companion_that_cannot_be_had(self):
        def fail_then(library):
            if len(self.calls) == 2:
                raise errors.CommandFailed(['uv'], 1, 'no such version')
            self.add(library)

        e = self.assertRaises(errors.MagnumCapiError, self.install, fail_then,
                              companions=('magnum<23',))
        self.assertIn('Cannot install magnum<23', str(e))
        self.assertIn('package index must be reachable', str(e))
        self.assert_nothing_left()

    def test_a_driver_that_the_cloud_has(self):
        self.add(self.cloud / samples.LIBRARY, 'magnum-y')

        self.install(lambda library: None, 'magnum_Y>=1')

        self.assertEqual([], os.listdir(self.layout.drivers))

    def test_a_driver_that_the_cloud_has_is_not_what_was_asked_for(self):
        self.add(self.cloud / samples.LIBRARY, 'magnum-y')

        self.assertRaises(errors.UsageError, self.install,
                          lambda library: None, 'magnum')
        self.assert_nothing_left()

    def test_another_one_of_the_clouds(self):
        def replace(library):
            self.add(library)
            path = library / 'magnum-23.0.0.dist-info' / 'METADATA'
            path.unlink()
            path.write_text('Name: magnum\nVersion: 23.0.0\n')

        e = self.assertRaises(errors.UsageError, self.install, replace)
        self.assertIn('magnum-23.0.0 is already installed', str(e))
        self.assert_nothing_left()
