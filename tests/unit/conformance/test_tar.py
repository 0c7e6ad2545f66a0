# SPDX-License-Identifier: Apache-2.0

"""Hostile and broken archives: a clear error, and no file anywhere."""

import contextlib
import gzip
import hashlib
import os
import pathlib
import random
import tarfile
from unittest import mock
import zlib

import fixtures
import testtools

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import tar
from tests.unit.conformance import archives

#: Reading with the library, whatever else is installed.
LIBRARY = mock.patch.multiple(tar, _gzip=gzip, _ERRORS=(OSError, zlib.error))
ENGINES = LIBRARY, contextlib.nullcontext()


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'a.tar.gz'
        self.bound(RATIO_FROM=1 << 20)

    def bound(self, **limits):
        """Use other limits for the rest of the test."""
        for name, value in limits.items():
            self.useFixture(fixtures.MockPatchObject(tar, name, value))

    def write(self, data):
        self.path.write_bytes(data)
        return self.path

    def walk(self, data):
        """Names to contents of the members."""
        with open(self.write(data), 'rb') as stream:
            return {member.name: b''.join(map(bytes, member.pieces()))
                    for member in tar.members(
                        tar.Content(stream, self.path))}

    def refused(self, data, pattern='.'):
        error = self.assertRaises(damage.Damage, archive.read,
                                  self.write(data))
        self.assertEqual(2 if isinstance(error, damage.AnotherKind) else 3,
                         error.exit_code)
        self.assertIn(str(self.path), str(error))
        self.assertRegex(str(error), pattern)
        self.assertNotIn('\n', str(error))
        return error


class WalkTest(_Base):

    FILES = {'a': b'', 'meta/b.json': b'{}', 'c/' + 'd' * 80: b'x' * 512,
             'e/' * 60 + 'f': b'y' * 100_000, 'é' * 40: b'z' * 513}

    def test_reads_what_tarfile_writes(self):
        for fmt in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT,
                    tarfile.PAX_FORMAT):
            with self.subTest(fmt):
                self.assertEqual(
                    self.FILES, self.walk(archives.by_library(self.FILES,
                                                              fmt)))

    def test_skips_folders_and_normalises_names(self):
        data = archives.pack(
            archives.entry('./', kind=b'5'),
            archives.entry('./meta/', kind=b'5'),
            archives.entry('./meta//a.json', b'{}'),
            archives.entry('old', b'1', b'\0'))

        self.assertEqual({'meta/a.json': b'{}', 'old': b'1'},
                         self.walk(data))

    def test_several_gzip_streams_and_padding_are_one_file(self):
        plain = gzip.decompress(archives.by_library(self.FILES))
        data = b''.join(gzip.compress(plain[n:n + 700])
                        for n in range(0, len(plain), 700)) + bytes(4096)

        self.assertEqual(self.FILES, self.walk(data))

    def test_gzip_and_its_stand_in_read_the_same(self):
        data = archives.good()
        for engine in ENGINES:
            with self.subTest(engine), engine:
                self.assertEqual({'passed': 1},
                                 archive.read(self.write(data)).counts)
                self.assertEqual(hashlib.sha256(data).hexdigest(),
                                 archive.checksum(self.path))


class HostileTest(_Base):

    def test_each_is_refused(self):
        for name, data in archives.hostile().items():
            with self.subTest(name):
                self.refused(data)
        self.assertEqual([self.path.name], os.listdir(self.folder))

    def test_gzip_itself_refuses_what_is_broken(self):
        broken = {name: data for name, data in archives.hostile().items()
                  if 'gzip' in name}
        self.assertGreater(len(broken), 5)
        for name, data in broken.items():
            with self.subTest(name), LIBRARY:
                self.refused(data)

    def test_cut_at_every_percent(self):
        data = archives.good(**{
            'podlogs/x.txt': random.Random(1).randbytes(20_000)})
        for percent in range(100):
            with self.subTest(percent):
                self.refused(data[:len(data) * percent // 100],
                             'truncated|is empty')

    def test_every_byte_but_those_of_the_gzip_header_counts(self):
        data = archives.good()
        for at in range(10, len(data), 7):
            with self.subTest(at):
                self.refused(archives.corrupt(data, at))

    def test_bomb_by_ratio(self):
        self.refused(archives.deflate_bomb(3), 'decompression bomb')

    def test_bomb_by_size(self):
        self.bound(TOTAL=1 << 20)
        self.refused(archives.deflate_bomb(3), 'a member of 3145728')
        self.refused(archives.pack(*(
            archives.entry(f'a{n}', bytes(300_000)) for n in range(5))),
            'more than 1048576')

    def test_too_many_members(self):
        self.bound(MEMBERS=10)
        data = archives.pack(*(archives.entry(f'a{n}') for n in range(11)))

        self.refused(data, 'more than 10 members')

    def test_empty_streams_without_end(self):
        self.bound(_EMPTY=64 << 10)
        empty = gzip.compress(b'', mtime=0)
        for engine in ENGINES:
            with self.subTest(engine), engine:
                archive.read(self.write(archives.good() + empty * 1000))
                self.refused(archives.good() + empty * 5000, 'gzip headers')

    def test_extended_headers_without_end(self):
        headers = archives.pax(('comment', 'a')) * 5000

        self.refused(archives.pack(headers), 'tar header')
        self.refused(archives.pack(archives.pax(('comment', '1' * 9_000))),
                     'malformed')
        self.refused(archives.pack(archives.pax(('comment', 'a' * 60_000))),
                     'an extended header of 60')

    def test_terminal_escapes_of_a_name_are_not_shown(self):
        error = self.refused(archives.pack(
            archives.entry(b'../\x1b]0;title\x07\x9b2J')), 'elsewhere|UTF-8')

        self.assertNotRegex(str(error), '[\x00-\x1f\x7f-\x9f]')

    def test_no_regular_file(self):
        os.mkfifo(self.path)

        # Whoever just opens one waits for ever.
        self.assertRaises(damage.Damage, archive.read, self.path)
