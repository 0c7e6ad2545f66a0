# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi_tempest import paths


class PathsTest(testtools.TestCase):

    def test_cache_and_state(self):
        for name in ('MAGNUM_CAPI_CACHE', 'MAGNUM_CAPI_STATE',
                     'XDG_CACHE_HOME', 'XDG_STATE_HOME'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        self.useFixture(fixtures.EnvironmentVariable('HOME', '/home/x'))
        here = pathlib.Path.cwd()
        for variables, cache, state in (
                ({}, '/home/x/.cache/magnum-capi',
                 '/home/x/.local/state/magnum-capi'),
                ({'XDG_CACHE_HOME': '/c', 'XDG_STATE_HOME': '/s'},
                 '/c/magnum-capi', '/s/magnum-capi'),
                # A relative one is ignored, as is an empty one of ours.
                ({'XDG_CACHE_HOME': 'c', 'MAGNUM_CAPI_STATE': ''},
                 '/home/x/.cache/magnum-capi', '/s/magnum-capi'),
                # Ours wins.
                ({'MAGNUM_CAPI_CACHE': 'mine', 'MAGNUM_CAPI_STATE': '/m'},
                 here / 'mine', '/m')):
            for name, value in variables.items():
                self.useFixture(fixtures.EnvironmentVariable(name, value))
            self.assertEqual(
                (pathlib.Path(cache), pathlib.Path(state)),
                (paths.cache(), paths.state()))
