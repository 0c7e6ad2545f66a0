# SPDX-License-Identifier: Apache-2.0

import io
import os
import pathlib
import tarfile

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import snapshot
from magnum_capi_sandbox import profiles


class SnapshotTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.new = self.base / 'new'
        self.new.mkdir()
        self.file = self.base / 'snapshots' / 'embedded-aa-1234.tar'
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.base)))
        self.said = io.StringIO()

    def cloud(self):
        """The data of a cloud, as a service with umask 0077 leaves them."""
        old = self.base / 'old'
        for folder in ('db', 'keystone/fernet-keys', 'images', 'log'):
            (old / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in (
                ('db/magnum.sqlite', b'x' * 50000),
                ('keystone/fernet-keys/0', b'key'),
                ('log/magnum.log', b'old news'),
                ('secrets.json', b'{}'), ('seeded.json', b'{"a": 1}')):
            (old / name).write_bytes(content)
            (old / name).chmod(0o600)
        return old

    def save(self):
        snapshot.save(self.cloud(), self.file, progress.Progress(self.said))

    def restore(self):
        return snapshot.restore(
            self.file, self.new, progress.Progress(self.said))

    def names(self):
        return sorted(str(p.relative_to(self.new))
                      for p in self.new.rglob('*') if p.is_file())

    def assert_made_again(self):
        self.assertFalse(self.restore())
        self.assertEqual([], self.names())
        self.assertFalse(self.file.exists())
        said = self.said.getvalue()
        self.assertIn(f'The snapshot {self.file} cannot be used', said)
        self.assertEqual(1, said.count('\n'))
        self.said.truncate(0)

    def test_round_trip(self):
        self.save()
        self.assertTrue(self.restore())
        self.assertEqual(
            ['db/magnum.sqlite', 'seeded.json'], self.names())
        self.assertEqual(b'x' * 50000, (
            self.new / 'db/magnum.sqlite').read_bytes())
        self.assertEqual('', self.said.getvalue())

    def test_no_secret_is_packed(self):
        self.save()
        with tarfile.open(self.file) as tar:
            names = tar.getnames()
        self.assertIn('db/magnum.sqlite', names)
        self.assertEqual([], [n for n in names if n.startswith(
            ('keystone', 'secrets.json'))])

    def test_with_the_tarfile_of_debian_12(self):
        """Python 3.11.2 has no extraction filters: they came with 3.11.4."""
        whole = tarfile.TarFile.extractall

        def extractall(tar, path='.', members=None, *, numeric_owner=False):
            whole(tar, path, members, numeric_owner=numeric_owner)

        self.useFixture(fixtures.MonkeyPatch(
            'tarfile.TarFile.extractall', extractall))
        self.useFixture(fixtures.MonkeyPatch(
            'tarfile.data_filter', fixtures.MonkeyPatch.delete))
        self.save()
        self.assertTrue(self.restore())
        self.assertEqual(b'x' * 50000, (
            self.new / 'db/magnum.sqlite').read_bytes())

    def test_modes_are_kept(self):
        self.save()
        self.restore()
        self.assertEqual(
            (0o700, 0o600),
            tuple((self.new / name).stat().st_mode & 0o777
                  for name in ('db', 'db/magnum.sqlite')))

    def test_others_get_no_rights(self):
        old = self.cloud()
        (old / 'seeded.json').chmod(0o666)
        snapshot.save(old, self.file, progress.Silent())
        self.restore()
        self.assertEqual(
            0o600, (self.new / 'seeded.json').stat().st_mode & 0o777)

    def test_the_file_is_private(self):
        self.addCleanup(os.umask, os.umask(0))
        self.save()
        self.assertEqual(0o600, self.file.stat().st_mode & 0o777)

    def test_those_of_no_use_go(self):
        self.file.parent.mkdir()
        for name in ('aa', 'bb'):
            (self.base / 'cloud' / name).mkdir(parents=True)
        of_use = ['embedded-bb-1234.tar', 'full-aa-1234.tar']
        of_none = ['embedded-aa-old.tar', 'embedded-gone-1234.tar',
                   'full-gone-1234.tar', 'embedded-1234.tar', 'x.tar']
        for name in of_use + of_none:
            (self.file.parent / name).touch()
        self.save()
        self.assertEqual(
            sorted(['embedded-aa-1234.tar', *of_use]),
            sorted(p.name for p in self.file.parent.iterdir()))

    def test_a_failed_save_leaves_nothing(self):
        """As on a full disk: the sandbox starts without it."""
        self.file.mkdir(parents=True)

        self.save()

        self.assertEqual([self.file], list(self.file.parent.iterdir()))
        self.assertIn(f'The snapshot {self.file} cannot be kept: Is a '
                      'directory', self.said.getvalue())

    def test_none(self):
        self.assertFalse(self.restore())
        self.assertEqual('', self.said.getvalue())

    def test_no_tar_file(self):
        self.file.parent.mkdir()
        self.file.write_bytes(b'<html>Not here</html>' * 100)
        self.assert_made_again()

    def test_empty_file(self):
        self.file.parent.mkdir()
        self.file.touch()
        self.assert_made_again()

    def test_truncated_within_a_member(self):
        self.save()
        os.truncate(self.file, 30000)
        self.assert_made_again()

    def test_truncated_between_two_members(self):
        """tarfile takes such a file for a whole one."""
        self.save()
        with tarfile.open(self.file) as tar:
            end = tar.getmember('seeded.json').offset
        os.truncate(self.file, end)
        self.assert_made_again()

    def assert_refused(self, name, kind=tarfile.REGTYPE, target=''):
        self.save()
        with tarfile.open(self.file, 'a') as tar:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member)
        self.assert_made_again()
        self.assertEqual(
            ['new', 'old', 'snapshots'],
            sorted(p.name for p in self.base.iterdir()))

    def test_member_that_would_leave_the_folder(self):
        for name in ('../escaped', 'db/../../escaped', 'db/..'):
            with self.subTest(name):
                self.assert_refused(name)

    def test_member_with_an_absolute_path(self):
        self.assert_refused(str(self.base / 'escaped'))

    def test_member_that_no_snapshot_has(self):
        """A sandbox runs what is in its folder "drivers"."""
        for name in ('drivers/magnum.pth', 'sandbox.json', 'db2', '.'):
            with self.subTest(name):
                self.assert_refused(name)

    def test_member_that_is_there_twice(self):
        self.assert_refused('db/magnum.sqlite')

    def test_links(self):
        for kind, target in ((tarfile.SYMTYPE, '/etc/passwd'),
                             (tarfile.SYMTYPE, 'magnum.sqlite'),
                             (tarfile.LNKTYPE, 'db/magnum.sqlite'),
                             (tarfile.LNKTYPE, '../../escaped')):
            with self.subTest(target):
                self.assert_refused('db/link', kind, target)

    def test_devices(self):
        for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
            with self.subTest(kind):
                self.assert_refused('db/device', kind)

    def test_name_that_is_none(self):
        self.assert_refused('db/z\xe9ro\0byte')


class PathTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cache = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.cache)))

    def test_in_the_cache(self):
        found = snapshot.path(profiles.get('embedded'))
        self.assertEqual(self.cache / 'snapshots', found.parent)
        self.assertTrue(found.name.startswith('embedded-'))

    def test_one_for_each_profile(self):
        self.assertEqual(len(profiles.PROFILES), len({
            snapshot.path(p) for p in profiles.PROFILES.values()}))

    def test_another_environment_is_another_cloud(self):
        before = snapshot.path(profiles.get('full'))
        self.useFixture(fixtures.MockPatchObject(
            environment, 'key', lambda *_, **__: 'other'))
        self.assertNotEqual(before, snapshot.path(profiles.get('full')))
