# SPDX-License-Identifier: Apache-2.0

import dataclasses
import os
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import record
from magnum_capi_sandbox import spec

A_RECORD = record.Record('embedded', '127.77', 25000, '/charts/x')


class RecordTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(base / 'cache')))
        self.directory = base / 'box'
        self.directory.mkdir()
        self.file = self.directory / 'sandbox.json'

    def test_round_trip(self):
        record.save(self.directory, A_RECORD)
        self.assertEqual(A_RECORD, record.load(self.directory))
        self.assertFalse(record.load(self.directory).ready)

    def test_round_trip_of_additions(self):
        added = dataclasses.replace(A_RECORD, additions=spec.Additions(
            ('/drivers/x', 'y>=1'), ('/x.conf',), True, True))
        record.save(self.directory, added)
        self.assertEqual(added, record.load(self.directory))

    def test_round_trip_of_nodes(self):
        real = dataclasses.replace(A_RECORD, nodes=nodes.Nodes(
            nodes.DOCKER, '/images', ('v1.33.13', 'v1.34.9'), True, 'x:1'))
        record.save(self.directory, real)
        self.assertEqual(real, record.load(self.directory))

    def test_round_trip_of_where_cluster_api_runs(self):
        self.assertFalse(A_RECORD.pods)
        moved = dataclasses.replace(A_RECORD, management='minikube')
        record.save(self.directory, moved)
        self.assertTrue(record.load(self.directory).pods)

    def test_private(self):
        record.save(self.directory, A_RECORD)
        self.assertEqual(0o600, self.file.stat().st_mode & 0o777)

    def test_folder_without_one(self):
        self.assertIsNone(record.load(self.directory))
        self.assertIsNone(record.load(self.directory / 'missing'))

    def test_broken_ones_count_as_unreadable(self):
        for text in ('', '{"profile": ', '[]', '{"other": 1}', '\0' * 20,
                     '{"additions": 1}', '{"additions": {"x": 1}}'):
            with self.subTest(repr(text)):
                self.file.write_text(text)
                self.assertFalse(record.load(self.directory).ready)

    def test_require_ready(self):
        ready = dataclasses.replace(A_RECORD, ready=True)
        record.save(self.directory, ready)
        self.assertEqual(ready, record.require_ready(self.directory))

    def test_require_ready_of_an_interrupted_start(self):
        record.save(self.directory, A_RECORD)
        e = self.assertRaises(
            errors.UsageError, record.require_ready, self.directory)
        self.assertIn('magnum-capi sandbox up', str(e))

    def test_one_at_a_time(self):
        def again():
            with record.locked(self.directory):
                pass

        with record.locked(self.directory):
            e = self.assertRaises(errors.UsageError, again)
            with record.locked(self.directory / 'other'):
                pass
        self.assertIn(str(self.directory), str(e))
        again()

    def test_the_lock_is_not_in_the_folder(self):
        with record.locked(self.directory):
            self.assertEqual([], os.listdir(self.directory))
