# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.workspace import pool


class SuiteDurationsTest(testtools.TestCase):

    def test_the_table_names_tests(self):
        table = pool.TYPICAL.read_text(encoding='utf-8')
        _, *rows = table.splitlines()
        known = {f'{suite.PACKAGE}.{test.id}' for test in suite.tests()}
        self.assertNotEqual([], rows)
        self.assertEqual(
            set(), {row.partition(',')[0] for row in rows} - known)
