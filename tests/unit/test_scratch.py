# SPDX-License-Identifier: Apache-2.0


import contextlib
import fcntl
import os
import pathlib
import subprocess

import fixtures
import testtools

from magnum_capi import scratch

PREFIX = 'magnum-helm-'


class ScratchTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch(
            'tempfile.tempdir', str(self.folder)))

    def left(self, name=f'{PREFIX}left'):
        """A folder as a killed process leaves it."""
        path = self.folder / name
        path.mkdir()
        (path / 'out').touch()
        return path

    def test_folder_is_private_and_goes(self):
        with scratch.folder(PREFIX) as folder:
            self.assertEqual(0o700, folder.path.stat().st_mode & 0o777)
            (folder.path / 'out').touch()
        self.assertEqual([], list(self.folder.iterdir()))

    def test_what_the_dead_left_goes(self):
        left = self.left()
        with scratch.folder(PREFIX):
            self.assertFalse(left.exists())

    def test_folder_in_use_stays(self):
        with scratch.folder(PREFIX) as folder:
            scratch.sweep(PREFIX)
            self.assertTrue(folder.path.is_dir())

    def test_folder_swept_before_its_lock_is_made_anew(self):
        opened = scratch._opened
        swept = []

        def sweep_once(path):
            if not swept:
                swept.append(path)
                os.rmdir(path)
                # Opened before it was removed.
                return opened(self.folder)
            return opened(path)

        self.useFixture(fixtures.MockPatchObject(
            scratch, '_opened', sweep_once))
        with scratch.folder(PREFIX) as folder:
            self.assertTrue(folder.path.is_dir())
            self.assertNotEqual(swept, [folder.path])

    def test_folder_swept_before_it_is_opened_is_made_anew(self):
        opened = scratch._opened
        swept = []

        def sweep_once(path):
            if not swept:
                swept.append(path)
                scratch._remove_if_left(path)
            return opened(path)

        self.useFixture(fixtures.MockPatchObject(
            scratch, '_opened', sweep_once))
        with scratch.folder(PREFIX) as folder:
            self.assertTrue(folder.path.is_dir())
            self.assertNotEqual(swept, [folder.path])
        self.assertEqual([], list(self.folder.iterdir()))

    def test_folder_stays_for_a_program_that_inherits_it(self):
        with contextlib.ExitStack() as stack:
            held = stack.enter_context(scratch.folder(PREFIX))
            program = subprocess.Popen(
                ['sleep', '60'], pass_fds=[held.lock])
            stack.callback(program.wait)
            stack.callback(program.kill)
            # As if the owner had been killed: its descriptor is closed.
            with open(os.devnull) as other:
                os.dup2(other.fileno(), held.lock)
            scratch.sweep(PREFIX)
            self.assertTrue(held.path.exists())
            program.kill()
            program.wait()
            scratch.sweep(PREFIX)
            self.assertFalse(held.path.exists())

    def test_others_stay(self):
        other = self.left('somebody-else')
        scratch.sweep(PREFIX)
        self.assertTrue(other.exists())

    def test_folder_of_another_user_stays(self):
        left = self.left()
        for other in (-1, 1):
            self.useFixture(fixtures.MonkeyPatch(
                'os.geteuid', lambda other=other: (
                    left.stat().st_uid + other)))
            scratch.sweep(PREFIX)
            self.assertTrue(left.exists())

    def test_what_is_no_folder_keeps_nobody(self):
        # To open a FIFO is to wait for its writer.
        path = self.folder / f'{PREFIX}fifo'
        os.mkfifo(path)
        self.useFixture(fixtures.Timeout(5, gentle=True))
        with scratch.folder(PREFIX):
            self.assertTrue(path.exists())

    def test_link_is_not_followed(self):
        other = self.left('somebody-else')
        (self.folder / f'{PREFIX}link').symlink_to(other)
        scratch.sweep(PREFIX)
        self.assertTrue((other / 'out').exists())

    def test_lock_ends_with_who_held_it(self):
        left = self.left()
        descriptor = os.open(left, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        scratch.sweep(PREFIX)
        self.assertTrue(left.exists())
        os.close(descriptor)
        scratch.sweep(PREFIX)
        self.assertFalse(left.exists())
