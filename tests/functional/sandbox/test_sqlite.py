# SPDX-License-Identifier: Apache-2.0

"""What services expect of their database, with SQLite."""

import pathlib

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services


class DatabaseTest(testtools.TestCase):

    def printed(self, script, *arguments):
        folder = self.useFixture(fixtures.TempDir()).path
        return processes.run(
            [environment.ensure(progress.Silent()) / 'bin/python',
             pathlib.Path(__file__).with_name(script),
             pathlib.Path(folder) / 'db', *arguments], timeout=120,
            env={'PYTHONPATH': str(services.PROGRAMS)}).split()

    def test_connections_stay_open(self):
        self.assertEqual(['1'], self.printed('sqlite_connections.py'))

    def test_no_writer_is_refused(self):
        for kind in ('block', 'session'):
            with self.subTest(kind):
                self.assertEqual(['120'],
                                 self.printed('sqlite_writers.py', kind))

    def test_green_writer_waits_without_stopping_the_others(self):
        self.assertEqual(['first', 'second'],
                         self.printed('sqlite_green.py'))

    def test_nothing_stays_of_a_deleted_users_credentials(self):
        self.assertEqual(['second'],
                         self.printed('keystone_credentials.py'))
