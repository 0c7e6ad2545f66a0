# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.management import folder
from tests.unit import strangers


class AloneTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def taken(self, path):
        with folder.alone(path):
            self.assertTrue(path.is_dir())
            (path / 'management.json').write_text('{}')

    def refused(self, path, *said):
        before = sorted(self.base.rglob('*'))
        error = self.assertRaises(errors.UsageError, self.taken, path)
        for word in said:
            self.assertIn(word, str(error))
        self.assertEqual(before, sorted(self.base.rglob('*')))

    def test_new_folder_is_for_its_owner_only(self):
        path = self.base / 'new' / 'box'
        self.taken(path)
        self.assertEqual(0o700, path.stat().st_mode & 0o777)

    @strangers.root
    def test_what_another_user_owns(self):
        empty = strangers.give(self.base / 'empty')
        shared = strangers.give(self.base / 'shared', 0o1777)
        (shared / 'ours').mkdir()
        (self.base / 'ours').mkdir()
        link = self.base / 'link'
        link.symlink_to(self.base / 'ours')
        strangers.give(link)
        for path, named in ((empty, empty), (empty / 'box', empty),
                            (shared / 'ours', shared), (link, link)):
            self.refused(path, str(named))

    def test_link_of_ours(self):
        (self.base / 'ours').mkdir()
        (self.base / 'box').symlink_to(self.base / 'ours')
        self.taken(self.base / 'box')
        self.assertEqual(['management.json'], os.listdir(self.base / 'ours'))

    def test_in_a_folder_for_all_where_each_keeps_his_own(self):
        path = self.base / 'tmp'
        path.mkdir()
        path.chmod(0o1777)
        self.taken(path / 'box')

    def test_what_everybody_may_write_to(self):
        path = self.base / 'open'
        path.mkdir()
        path.chmod(0o777)
        for folder_of_ours in (path, path / 'box'):
            self.refused(folder_of_ours, str(path))
