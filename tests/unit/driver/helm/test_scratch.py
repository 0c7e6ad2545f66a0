# SPDX-License-Identifier: Apache-2.0


import fcntl
import os
import pathlib
import time

import fixtures
import testtools

from magnum_capi.driver.helm import scratch


class ScratchTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch(
            'tempfile.tempdir', str(self.folder)))

    def left(self, name=f'{scratch.PREFIX}left', age=60):
        """A folder as a killed process leaves it."""
        path = self.folder / name
        path.mkdir()
        (path / 'out').touch()
        then = time.time() - age
        os.utime(path, (then, then))
        return path

    def test_folder_is_private_and_goes(self):
        with scratch.folder() as path:
            self.assertEqual(0o700, os.stat(path).st_mode & 0o777)
            pathlib.Path(path, 'out').touch()
        self.assertEqual([], list(self.folder.iterdir()))

    def test_what_the_dead_left_goes(self):
        left = self.left()
        with scratch.folder():
            self.assertFalse(left.exists())

    def test_folder_in_use_stays(self):
        with scratch.folder() as path:
            then = time.time() - 3600
            os.utime(path, (then, then))
            scratch.sweep()
            self.assertTrue(os.path.isdir(path))

    def test_new_folder_stays(self):
        # Its owner has made it, and not yet locked it.
        left = self.left(age=1)
        scratch.sweep()
        self.assertTrue(left.exists())

    def test_others_stay(self):
        other = self.left('somebody-else')
        scratch.sweep()
        self.assertTrue(other.exists())

    def test_folder_of_another_user_stays(self):
        left = self.left()
        for other in (-1, 1):
            self.useFixture(fixtures.MonkeyPatch(
                'os.geteuid', lambda other=other: (
                    left.stat().st_uid + other)))
            scratch.sweep()
            self.assertTrue(left.exists())

    def test_what_is_no_folder_keeps_nobody(self):
        # To open a FIFO is to wait for who writes to it.
        path = self.folder / f'{scratch.PREFIX}fifo'
        os.mkfifo(path)
        self.useFixture(fixtures.Timeout(5, gentle=True))
        with scratch.folder():
            self.assertTrue(path.exists())

    def test_link_is_not_followed(self):
        other = self.left('somebody-else')
        (self.folder / f'{scratch.PREFIX}link').symlink_to(other)
        scratch.sweep()
        self.assertTrue((other / 'out').exists())

    def test_lock_ends_with_who_held_it(self):
        left = self.left()
        descriptor = os.open(left, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        scratch.sweep()
        self.assertTrue(left.exists())
        os.close(descriptor)
        scratch.sweep()
        self.assertFalse(left.exists())
