# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest import resources


class FindTest(testtools.TestCase):

    def install(self, share=None):
        """A wheel's layout: no checkout around the package."""
        prefix = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        package = prefix / 'lib' / 'magnum_capi_tempest' / 'resources.py'
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.resources.__file__', str(package)))
        self.useFixture(fixtures.MonkeyPatch('sys.prefix', str(prefix)))
        if share:
            target = prefix / 'share' / 'magnum-capi' / share
            target.mkdir(parents=True)
            return target

    def test_wheel(self):
        target = self.install(share='sandbox/chart')

        self.assertEqual(target, resources.find('sandbox/chart'))

    def test_wheel_of_one_user(self):
        """Of "pip install --user"."""
        self.install()
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch('site.USER_BASE', str(home)))
        target = home / 'share' / 'magnum-capi' / 'drivers'
        target.mkdir(parents=True)

        self.assertEqual(target, resources.find('drivers'))

    def test_missing(self):
        self.install()

        for path, folder in (('sandbox/x', './sandbox'), ('drivers/x', '.')):
            error = self.assertRaises(
                errors.EnvironmentProblem, resources.find, path)

            self.assertIn(f'lacks {path}', str(error))
            self.assertTrue(str(error).endswith(f' --no-deps {folder}'))
