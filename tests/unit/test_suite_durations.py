# SPDX-License-Identifier: Apache-2.0

import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.workspace import pool
from tests import suite_durations
from tests.unit import test_durations as streams


class SuiteDurationsTest(testtools.TestCase):

    def test_a_recorded_run(self):
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        recorded, table = base / 'run.subunit', base / 'durations.csv'
        recorded.write_bytes(streams.stream(
            ('z', 'exists', 0, 0),
            ('x.Y.test_b[id-1,slow]', 'inprogress', 0, 8),
            ('x.Y.test_b[id-1,slow]', 'success', 0, 30),
            ('x.Y.test_a[id-2]', 'inprogress', 0, 30),
            ('x.Y.test_a[id-2]', 'fail', 0, 35),
            ('setUpClass (x.Z)', 'skip', 0, 40),
            ('x.Y.test_c[id-3]', 'inprogress', 0, 40),
            ('x.Y.test_c[id-3]', 'success', 0, 40.9)))

        with (mock.patch.object(pool, 'TYPICAL', table),
              mock.patch.object(suite_durations.sys, 'argv',
                                ['', str(recorded)])):
            suite_durations.main()

        self.assertEqual('test,seconds\nx.Y.test_a,5\nx.Y.test_b,30\n',
                         table.read_text())

    def test_the_table_names_tests(self):
        table = pool.TYPICAL.read_text(encoding='utf-8')
        _, *rows = table.splitlines()
        known = {f'{suite.PACKAGE}.{test.id}' for test in suite.tests()}
        self.assertNotEqual([], rows)
        self.assertEqual(
            set(), {row.partition(',')[0] for row in rows} - known)
