# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver new``: what it writes can be installed and judged."""

import inspect
import os
import pathlib
import runpy
import shutil
import tomllib

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest.cli import driver_new
from magnum_capi_tempest import resources
from tests.unit.cli import terminal
from tests.unit.driver import in_magnum


class NewTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'magnum-mine'

    def new(self, name='mine'):
        return terminal.command(
            driver_new.New, name, '--output', self.folder)

    def test_it_is_a_distribution_of_that_name(self):
        code, out, _ = self.new()

        self.assertEqual(0, code)
        self.assertIn(f'driver test {self.folder} --core', out)
        self.assertEqual(str(self.folder),
                         drivers.requirement(str(self.folder)))
        self.assertEqual('magnum-mine',
                         drivers.distribution(str(self.folder)))
        project = tomllib.loads(
            (self.folder / 'pyproject.toml').read_text())['project']
        self.assertEqual({
            'magnum.drivers': {'k8s_mine_v1': 'magnum_mine.driver:Driver'},
            driver_info.GROUP: {'k8s_mine_v1': 'magnum_mine'},
        }, project['entry-points'])

    def test_what_pip_has_left_in_the_skeleton_stays_there(self):
        source = self.folder.with_name('source')
        shutil.copytree(resources.find(driver_new.SKELETON), source)
        shutil.copytree(source / 'magnum_skeleton',
                        source / 'build' / 'lib' / 'magnum_skeleton')
        self.useFixture(fixtures.MockPatchObject(
            resources, 'find', return_value=source))
        self.new()

        self.assertEqual(['README.rst', 'magnum_mine', 'pyproject.toml'],
                         sorted(os.listdir(self.folder)))

    def test_no_file_speaks_of_the_skeleton(self):
        self.new()

        for path in self.folder.rglob('*'):
            self.assertNotIn('skeleton', str(path))
            if path.is_file():
                self.assertNotIn('skeleton', path.read_text())

    def test_its_description_is_right(self):
        self.new()

        path = self.folder / 'magnum_mine' / driver_info.FILE
        found = driver_info.parse(path.read_text(), path)

        self.assertEqual('k8s_mine_v1', found.name)

    def test_magnum_can_make_it_and_each_operation_says_what_is_missing(self):
        self.new()
        self.useFixture(in_magnum.Magnum())
        made = runpy.run_path(
            str(self.folder / 'magnum_mine' / 'driver.py'))['Driver']()

        self.assertEqual([usable_drivers.TYPE], made.provides)
        for name in ('create_cluster', 'delete_cluster', 'resize_cluster'):
            operation = getattr(made, name)
            few = len(inspect.signature(operation).parameters)
            e = self.assertRaises(NotImplementedError, operation,
                                  *[None] * few)
            self.assertIn(f'k8s_mine_v1 has no {name} yet', str(e))

    def test_a_folder_with_something_in_it_stays_as_it_is(self):
        self.folder.mkdir()
        (self.folder / 'mine').write_text('x')

        code, _, err = self.new()

        self.assertEqual(2, code)
        self.assertIn('not empty', err)
        self.assertEqual(['mine'], os.listdir(self.folder))

    def test_names_that_nothing_can_have(self):
        for name in ('', 'Mine', 'a-b', '1a', '../a', 'a' * 31):
            self.assertEqual(2, self.new(name)[0], name)
        self.assertFalse(self.folder.exists())
