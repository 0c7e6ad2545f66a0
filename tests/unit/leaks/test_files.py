# SPDX-License-Identifier: Apache-2.0

import os

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import model


def made(ident='x', **fields):
    return model.Made(
        model.CLUSTER, ident, 'tempest-cluster-1234567', 'm.T.test_a',
        **fields)


class SnapshotTest(testtools.TestCase):

    def test_what_is_written_is_read(self):
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'f')
        written = model.Snapshot(
            frozenset((model.Thing(model.TRUST, 'old'),
                       model.Thing(model.CLUSTER, 'c', 'name', 'p', 'u'))),
            frozenset((model.TRUST, model.CLUSTER)), {'port': 'why'})

        files.write(path, written)

        self.assertEqual(written, files.read(path))

    def test_a_folder_that_is_not_there(self):
        self.assertRaises(errors.EnvironmentProblem, files.write,
                          '/nowhere/f', model.Snapshot())


class MadeTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'new')

    def test_what_is_written_is_read(self):
        files.append_made(self.folder, made())
        files.append_made(self.folder, made('y', user='ü'))

        self.assertEqual([made(), made('y', user='ü')],
                         files.read_made(self.folder))

    def test_half_a_line_of_a_killed_worker(self):
        files.append_made(self.folder, made())
        with open(os.path.join(self.folder, files.MADE), 'a') as file:
            file.write('{"kind": "clu')

        self.assertEqual([made()], files.read_made(self.folder))

    def test_no_ledger(self):
        self.assertEqual([], files.read_made(self.folder))

    def test_only_its_owner_reads_it(self):
        files.append_made(self.folder, made())

        path = os.path.join(self.folder, files.MADE)
        self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
