# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record


def made(ident='x', **fields):
    return model.Made(
        model.CLUSTER, ident, 'tempest-cluster-1234567', 'm.T.test_a',
        **fields)


class RecordTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'new')
        self.file = self.folder / record.FILE

    def test_what_is_written_is_read_by_its_owner_only(self):
        self.assertEqual([], record.read(self.folder))
        record.append(self.folder, made())
        record.append(self.folder, made('y', user='ü'))

        self.assertEqual([made(), made('y', user='ü')],
                         record.read(self.folder))
        self.assertEqual([0o600, 0o700], [
            path.stat().st_mode & 0o777 for path in (self.file, self.folder)])

    def test_half_a_line_of_a_killed_worker(self):
        record.append(self.folder, made())
        with self.file.open('a') as file:
            file.write('{"kind": "clu')

        self.assertEqual([made()], record.read(self.folder))
