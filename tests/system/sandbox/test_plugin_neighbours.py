# SPDX-License-Identifier: Apache-2.0

"""The plugin and magnum-tempest-plugin in one Tempest.

Real commands, from an empty folder with a minimal tempest.conf; listing tests
needs no cloud.
"""

import os
import pathlib
import re
import sys
import unittest

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs

try:
    import magnum_tempest_plugin
except ImportError:
    magnum_tempest_plugin = None

#: Options that magnum-tempest-plugin reads when its tests are imported.
_CONF = '[magnum]\nimage_id = x\nnic_id = y\n'

_PACKAGES = ('magnum_capi_tempest', 'magnum_tempest_plugin')

#: Lists all tests like Tempest, and prints the modules that this has loaded.
_LOADED = '''
from magnum_capi_tempest import plugin
import sys, unittest
from tempest import config
from tempest.test_discover import plugins
ours = plugin.MagnumCapiTempestPlugin()
tests, top = ours.load_tests()
before = {m.split('.')[0] for m in sys.modules}
found = unittest.TestLoader().discover(tests, top_level_dir=top)
print(found.countTestCases())
print(*sorted({m.split('.')[0] for m in sys.modules} - before))
'''


@unittest.skipUnless(magnum_tempest_plugin,
                     'magnum-tempest-plugin is not installed')
class NeighboursTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.workspace = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'work'
        path = folder.lay_out(self.workspace, _CONF)
        # Like "magnum-capi tempest init".
        runs.make_repository(self.workspace)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith('OS_')} | {
            'TEMPEST_CONFIG_DIR': str(path.parent),
            'HOME': str(self.workspace)}

    def tempest(self, *argv):
        return processes.run([runs.program_path('tempest'), *argv],
                             timeout=600, cwd=self.workspace, env=self.env)

    def test_both_are_plugins(self):
        found = re.findall(r'(\w+)\.plugin:', self.tempest('list-plugins'))

        self.assertEqual(set(_PACKAGES), set(_PACKAGES) & set(found))

    def test_one_run_has_the_tests_of_both(self):
        listed = self.tempest(
            'run', '--list-tests', '--regex', '|'.join(_PACKAGES))

        for package in _PACKAGES:
            self.assertRegex(listed, rf'(?m)^{package}\.tests\.')
        self.assertNotIn('FailedTest', listed)

    def test_smoke_is_chosen_by_one_expression(self):
        listed = self.tempest(
            'run', '--list-tests', '--regex', r'magnum_capi.*smoke')

        tests = [line for line in listed.splitlines()
                 if line.startswith('magnum_capi_tempest.')]
        self.assertNotEqual([], tests)
        for test in tests:
            self.assertRegex(test, r'\[.*\bsmoke\b.*\]$')


class LoadedTest(testtools.TestCase):

    def test_listing_the_tests_loads_no_client_of_clouds(self):
        count, loaded = processes.run(
            [sys.executable, '-W', 'ignore', '-c', _LOADED], timeout=600,
            cwd='/').splitlines()[-2:]

        self.assertGreater(int(count), 100)
        self.assertEqual(set(), set(loaded.split()) & {
            'kubernetes', 'magnum', 'magnumclient', 'openstack',
            'supervisor', 'psutil'})
