# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi import errors
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
