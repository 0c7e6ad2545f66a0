# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi.discovery import paste
from magnum_capi.discovery import paste_file
from magnum_capi import errors

TEXT = '''\
[pipeline:api]
pipeline = request_id authtoken api_v1

[filter:authtoken]
paste.filter_factory = magnum.api.middleware.auth_token:factory
'''


class PutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = folder / 'api-paste.ini'
        self.path.write_text(TEXT)
        self.path.chmod(0o641)

    def test_it_is_put_there_once(self):
        self.assertTrue(paste_file.put(self.path))
        self.assertEqual(paste.Position.IN_PLACE,
                         paste.position(self.path.read_text()))
        self.assertFalse(paste_file.put(self.path))

    def test_one_that_is_misplaced_is_moved(self):
        # To the front and to the back of what sorts before or behind it.
        for name in ('aaa', 'zzz'):
            self.path.write_text(
                TEXT.replace('request_id', f'{name} request_id')
                + f'\n[filter:{name}]\npaste.filter_factory = '
                f'{paste.FACTORY}\n')

            self.assertTrue(paste_file.put(self.path), name)
            self.assertIn(f'= request_id authtoken {name} api_v1',
                          self.path.read_text())

    def test_mode_and_link_stay(self):
        link = self.path.with_name('link')
        link.symlink_to(self.path)

        paste_file.put(link)

        self.assertTrue(link.is_symlink())
        self.assertEqual(0o641, self.path.stat().st_mode & 0o777)

    @testtools.skipUnless(os.geteuid() == 0, 'only root gives files away')
    def test_the_owner_stays(self):
        os.chown(self.path, 12345, 12346)
        paste_file.put(self.path)
        found = self.path.stat()
        self.assertEqual((12345, 12346), (found.st_uid, found.st_gid))

    def test_dry(self):
        self.assertTrue(paste_file.put(self.path, dry=True))
        self.assertEqual(TEXT, self.path.read_text())

    def test_no_paste_file(self):
        self.path.write_text('[x]\n')
        self.assertRaises(errors.UsageError, paste_file.put, self.path)
        self.assertEqual('[x]\n', self.path.read_text())

    def test_no_text(self):
        self.path.write_bytes(b'\xff\xfe')
        self.assertRaises(errors.EnvironmentProblem, paste_file.put,
                          self.path)

    def test_no_file(self):
        self.path.unlink()
        self.assertRaises(errors.EnvironmentProblem, paste_file.put,
                          self.path)

    def test_it_is_taken_out_again(self):
        paste_file.put(self.path)

        self.assertTrue(paste_file.put(
            self.path, change=paste.without_filter))
        self.assertEqual(TEXT, self.path.read_text())
        self.assertFalse(paste_file.put(
            self.path, change=paste.without_filter))
