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
from magnum_capi_tempest.workspace import folder
from tests.unit import strangers


class LayOutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_passwords_are_for_their_owner_only(self):
        conf = folder.lay_out(self.base / 'work', 'x', accounts='y')

        self.assertEqual('x', conf.read_text())
        for path in (conf, conf.with_name(folder.ACCOUNTS)):
            self.assertEqual(0o600, path.stat().st_mode & 0o777)

    @strangers.root
    def test_folder_of_another_user(self):
        theirs = strangers.give(self.base / 'work')

        self.assertRaises(errors.UsageError, folder.lay_out, theirs, 'x')
        self.assertEqual([], list(theirs.iterdir()))
