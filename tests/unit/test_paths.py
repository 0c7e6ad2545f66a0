# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi_tempest import paths


class PathsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        for name in ('MAGNUM_CAPI_CACHE', 'MAGNUM_CAPI_STATE',
                     'XDG_CACHE_HOME', 'XDG_STATE_HOME'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        self.useFixture(fixtures.EnvironmentVariable('HOME', '/home/x'))

    def set(self, name, value):
        self.useFixture(fixtures.EnvironmentVariable(name, value))

    def test_defaults_are_below_home(self):
        self.assertEqual('/home/x/.cache/magnum-capi', str(paths.cache()))
        self.assertEqual('/home/x/.local/state/magnum-capi',
                         str(paths.state()))

    def test_xdg(self):
        self.set('XDG_CACHE_HOME', '/c')
        self.set('XDG_STATE_HOME', '/s')

        self.assertEqual('/c/magnum-capi', str(paths.cache()))
        self.assertEqual('/s/magnum-capi', str(paths.state()))

    def test_relative_xdg_is_ignored(self):
        self.set('XDG_CACHE_HOME', 'c')

        self.assertEqual('/home/x/.cache/magnum-capi', str(paths.cache()))

    def test_own_variable_wins_and_is_made_absolute(self):
        self.set('XDG_CACHE_HOME', '/c')
        self.set('MAGNUM_CAPI_CACHE', 'mine')

        self.assertEqual(pathlib.Path.cwd() / 'mine', paths.cache())

    def test_empty_variable_counts_as_unset(self):
        self.set('MAGNUM_CAPI_STATE', '')

        self.assertEqual('/home/x/.local/state/magnum-capi',
                         str(paths.state()))
