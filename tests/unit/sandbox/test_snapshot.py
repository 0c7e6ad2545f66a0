# SPDX-License-Identifier: Apache-2.0

import errno
import io
import os
import pathlib
import shutil

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import snapshot
from magnum_capi_sandbox import profiles


class SnapshotTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.new = self.base / 'new'
        self.new.mkdir()
        self.kept = self.base / 'snapshots' / 'embedded-aa-1234'
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
        snapshot.save(self.cloud(), self.kept, progress.Progress(self.said))

    def restore(self):
        return snapshot.restore(
            self.kept, self.new, progress.Progress(self.said))

    def names(self, folder):
        return sorted(str(p.relative_to(folder))
                      for p in folder.rglob('*') if p.is_file())

    def test_round_trip(self):
        self.save()
        self.assertTrue(self.restore())
        for folder in (self.kept, self.new):
            # No secret is in it.
            self.assertEqual(
                ['db/magnum.sqlite', 'seeded.json'], self.names(folder))
            self.assertEqual(b'x' * 50000, (
                folder / 'db/magnum.sqlite').read_bytes())
            self.assertEqual((0o700, 0o600), tuple(
                (folder / name).stat().st_mode & 0o777
                for name in ('db', 'db/magnum.sqlite')))
        self.assertEqual('', self.said.getvalue())

    def test_the_folder_is_private(self):
        self.addCleanup(os.umask, os.umask(0))
        self.save()
        for folder in (self.kept, self.kept.parent):
            self.assertEqual(0o700, folder.stat().st_mode & 0o777)

    def test_those_of_no_use_go(self):
        self.kept.parent.mkdir()
        for name in ('aa', 'bb'):
            (self.base / 'cloud' / name).mkdir(parents=True)
        of_use = ['embedded-bb-1234', 'full-aa-1234',
                  f'.embedded-aa-1234.{os.getppid()}']
        # No process can have this number.
        dead = f'.embedded-aa-1234.{2**22 + 1}'
        for name in (*of_use, 'embedded-aa-old', 'embedded-gone-1234',
                     'full-gone-1234', 'embedded-1234', dead):
            (self.kept.parent / name / 'db').mkdir(parents=True)
        # Those of earlier versions were files.
        (self.kept.parent / 'embedded-aa-1234.tar').touch()
        self.save()
        self.assertEqual(
            sorted(['embedded-aa-1234', *of_use]),
            sorted(p.name for p in self.kept.parent.iterdir()))

    def test_without_space_the_sandbox_starts_all_the_same(self):
        self.useFixture(fixtures.MockPatchObject(
            snapshot.shutil, 'copytree',
            side_effect=OSError(errno.ENOSPC, 'No space left on device')))

        self.save()

        self.assertEqual([], list(self.kept.parent.iterdir()))
        self.assertIn(f'The snapshot {self.kept} cannot be kept: No space',
                      self.said.getvalue())

    def test_no_space_to_restore_it(self):
        self.save()
        self.useFixture(fixtures.MockPatchObject(
            snapshot.shutil, 'copytree', side_effect=shutil.Error([
                ('a', 'b', '[Errno 28] No space left on device')])))
        self.useFixture(fixtures.MockPatchObject(
            snapshot.disk, 'free', lambda path: 0))
        e = self.assertRaises(errors.EnvironmentProblem, self.restore)
        self.assertIn('No disk space', str(e))
        self.assertTrue(self.kept.exists())

    def test_one_that_is_not_whole_is_made_again(self):
        for damage in (lambda: (self.kept / 'seeded.json').unlink(),
                       lambda: shutil.rmtree(self.kept / 'db')):
            self.save()
            damage()
            self.assertFalse(self.restore())
            self.assertEqual([], self.names(self.new))
            self.assertFalse(self.kept.exists())
            said = self.said.getvalue()
            self.assertIn(f'The snapshot {self.kept} cannot be used', said)
            self.assertEqual(1, said.count('\n'))
            self.said.seek(0)
            self.said.truncate()


class PathTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cache = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(self.cache)))
        self.useFixture(fixtures.MockPatchObject(
            backends, 'mariadb_version', lambda: '10.11.6'))

    def test_in_the_cache(self):
        found = snapshot.path(profiles.get('embedded'))
        self.assertEqual(self.cache / 'snapshots', found.parent)
        self.assertTrue(found.name.startswith('embedded-'))

    def test_all_that_it_depends_on_is_in_the_key(self):
        sources = self.cache / 'sources'
        here = pathlib.Path(snapshot.__file__).parents[1]
        shutil.copytree(here, sources)
        self.useFixture(fixtures.MockPatchObject(
            snapshot, '_HERE', sources / 'cloud'))
        found = {snapshot.path(profiles.get('embedded'))}
        for number, name in enumerate((
                'catalog.py', 'cloud/configuration.py', 'cloud/seed.py',
                'cloud/flavors.py', 'cloud/programs/schema.py',
                'templates/nova.conf.j2', 'templates/_common.j2'), 2):
            with open(sources / name, 'a') as file:
                file.write('# changed\n')
            found.add(snapshot.path(profiles.get('embedded')))
            self.assertEqual(number, len(found), name)

    def test_another_mariadb_makes_other_data(self):
        found = set()
        for version in ('10.11.6', '11.8.1'):
            self.useFixture(fixtures.MockPatchObject(
                snapshot.backends, 'mariadb_version', lambda: version))
            found.add(snapshot.path(profiles.get('full')))
        self.assertEqual(2, len(found))
