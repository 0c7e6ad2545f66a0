# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import pathlib

import fixtures
import testtools

from magnum_capi_tempest import errors
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
            target = prefix / 'share' / 'magnum-capi-tempest' / share
            target.mkdir(parents=True)
            return target

    def test_checkout(self):
        found = resources.find('capi/go.mod')

        self.assertTrue(found.is_absolute())
        self.assertTrue(found.is_file())

    def test_wheel(self):
        target = self.install(share='charts/sandbox-cluster')

        self.assertEqual(target, resources.find('charts/sandbox-cluster'))

    def test_missing(self):
        self.install()

        error = self.assertRaises(
            errors.EnvironmentProblem, resources.find, 'charts/x')

        self.assertIn('lacks charts/x', str(error))
        self.assertIn('pip install', str(error))
