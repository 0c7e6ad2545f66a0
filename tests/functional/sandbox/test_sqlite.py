# SPDX-License-Identifier: Apache-2.0

"""Threads of one service that read and then write in SQLite."""

import pathlib

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.sandbox.cloud import environment
from magnum_capi_tempest.sandbox.cloud import services


class WritersTest(testtools.TestCase):

    def counted(self, kind):
        folder = self.useFixture(fixtures.TempDir()).path
        return int(processes.run(
            [environment.ensure(progress.Silent()) / 'bin/python',
             pathlib.Path(__file__).with_name('sqlite_writers.py'),
             pathlib.Path(folder) / 'db', kind], timeout=120, merge=True,
            env={'PYTHONPATH': str(services.PROGRAMS)}))

    def test_none_is_refused(self):
        for kind in ('block', 'session'):
            with self.subTest(kind):
                self.assertEqual(120, self.counted(kind))
