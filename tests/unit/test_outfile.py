# SPDX-License-Identifier: Apache-2.0

"""Files are written as a whole or not at all, with the right mode."""

import os
import pathlib
import stat
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import outfile


class OutfileTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.out = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'out')

    def test_whole_or_not_at_all(self):
        path = self.out / 'x'
        with outfile.whole(path) as stream:
            stream.write(b'old')

        def write():
            with outfile.whole(path) as stream:
                stream.write(b'new')
                raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, write)
        self.assertEqual(b'old', path.read_bytes())
        self.assertEqual(['x'], os.listdir(self.out))

    def test_private_is_private_from_the_start(self):
        with outfile.whole(self.out / 'x', outfile.PRIVATE) as stream:
            self.assertEqual(outfile.PRIVATE,
                             stat.S_IMODE(os.fstat(stream.fileno()).st_mode))

        self.assertEqual(outfile.PRIVATE, stat.S_IMODE(
            (self.out / 'x').stat().st_mode))

    def test_the_umask_decides_and_stays(self):
        """Another thread may create a file meanwhile, which was open to all.

        umask(2) belongs to the process.
        """
        self.addCleanup(os.umask, os.umask(0o027))
        with mock.patch('os.umask', side_effect=AssertionError):
            self._write()

        self.assertEqual(0o640, stat.S_IMODE((self.out / 'y').stat().st_mode))

    def test_a_full_disk_is_reported(self):
        with mock.patch('os.replace', side_effect=OSError(28, 'No space')):
            error = self.assertRaises(errors.EnvironmentProblem, self._write)

        self.assertIn('No space', str(error))
        self.assertEqual([], os.listdir(self.out))

    def test_a_device_or_a_pipe_is_written_to_not_replaced(self):
        """As root, --html /dev/null would take it from all programs."""
        self.out.mkdir()
        pipe, null = self.out / 'pipe', self.out / 'null'
        os.mkfifo(pipe)
        null.symlink_to('/dev/null')
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)

        for path in pipe, null:
            with outfile.whole(path) as stream:
                stream.write(b'x')

        self.assertEqual(b'x', os.read(reader, 9))
        self.assertTrue(pipe.is_fifo())
        self.assertEqual('/dev/null', os.readlink(null))
        self.assertEqual(['null', 'pipe'], sorted(os.listdir(self.out)))

    def test_standard_output_may_be_a_file(self):
        """/dev/stdout is a link; replaced, it would be gone for all."""
        with open(pathlib.Path(self.useFixture(fixtures.TempDir()).path,
                               'stdout'), 'w+b') as stream:
            with outfile.whole(f'/dev/fd/{stream.fileno()}') as out:
                out.write(b'x')

            self.assertEqual(b'x', stream.read())

    def _write(self):
        with outfile.whole(self.out / 'y') as stream:
            stream.write(b'x')
