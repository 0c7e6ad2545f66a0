# SPDX-License-Identifier: Apache-2.0

import importlib.metadata
import json
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_sandbox.cloud import overlay
from tests.unit.sandbox import samples

_LOOK = '''
from importlib import metadata
import json, sys
ours = metadata.distribution('magnum-capi')
print(json.dumps({
    'path': sys.path,
    'version': ours.version,
    'commands': [e.name for e in ours.entry_points
                 if e.group == 'magnum_capi.cli'],
    'drivers': [e.name for e in metadata.entry_points(
        group='magnum.drivers')],
    'file': __import__('magnum_capi').__file__}))
'''


class OverlayTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self.cloud = samples.a_cloud(base / 'cloud')
        # A blank, a quote: neither sh nor .pth files like them.
        self.layout = samples.a_layout(base / "a 'box'")
        self.library = self.layout.magnum_env / samples.LIBRARY

    def make(self):
        overlay.make(self.layout, self.cloud)

    def a_distribution(self, folder, name):
        info = folder / f'{name}-1.0.dist-info'
        info.mkdir(parents=True)
        (info / 'METADATA').write_text(f'Name: {name}\nVersion: 1.0\n')
        (info / 'entry_points.txt').write_text(
            f'[magnum.drivers]\n{name} = x:X\n')

    def look(self):
        return json.loads(processes.run(
            [self.layout.magnum_env / 'bin' / 'python', '-I', '-c', _LOOK],
            timeout=20))

    def test_the_drivers_of_the_sandbox_are_the_last(self):
        """Of two that provide the same Magnum takes the last."""
        self.a_distribution(self.layout.drivers, 'aaa')
        self.a_distribution(overlay.library(self.cloud), 'zzz')
        self.make()
        found = self.look()
        self.assertEqual(['zzz', 'aaa'], found['drivers'])
        self.assertEqual(
            [str(self.library), str(overlay.library(self.cloud)),
             str(self.layout.drivers)], found['path'][-3:])

    def test_companions_of_drivers_come_before_the_cloud(self):
        companions = self.layout.drivers / overlay.COMPANIONS
        self.a_distribution(companions, 'newer')
        self.make()
        self.assertEqual(
            [str(companions), str(overlay.library(self.cloud)),
             str(self.layout.drivers)], self.look()['path'][-3:])

    def test_pth_files_below_are_heeded(self):
        more = self.layout.directory / 'more'
        self.a_distribution(more, 'pointed-at')
        self.layout.drivers.mkdir()
        (self.layout.drivers / 'x.pth').write_text(f'{more}\n')
        self.make()
        self.assertEqual(['pointed-at'], self.look()['drivers'])

    def test_the_library_is_there_with_its_commands(self):
        self.make()
        found = self.look()
        ours = importlib.metadata.distribution('magnum-capi')
        self.assertEqual(ours.version, found['version'])
        self.assertIn('discovery_audit', found['commands'])
        self.assertTrue(pathlib.Path(found['file']).is_relative_to(
            self.library))

    def test_made_again_it_follows_the_cloud(self):
        self.make()
        other = samples.a_cloud(self.cloud.with_name('other'))
        overlay.make(self.layout, other)
        self.assertIn(str(overlay.library(other)), self.look()['path'])
        self.assertEqual(
            other / 'bin' / 'python',
            (self.layout.magnum_env / 'bin' / 'python').readlink())

    def test_made_again_after_an_upgrade_it_has_the_library_once(self):
        with mock.patch.object(importlib.metadata, 'version',
                               return_value='0.0.1'):
            self.make()
        self.make()
        self.assertEqual([overlay.folder()], [
            path.name for path in self.library.glob('magnum_capi-*')])

    def test_what_is_no_environment(self):
        e = self.assertRaises(errors.EnvironmentProblem, overlay.library,
                              self.layout.directory)
        self.assertIn(str(self.layout.directory), str(e))
