# SPDX-License-Identifier: Apache-2.0

"""When a fault is survived."""

import dataclasses

import testtools

from tests.proofs.driver_faults import table


class RowTest(testtools.TestCase):

    row = table.Row('down', 'create', ('CREATE_COMPLETE',),
                    answers=('POST clusters 202',), end=table.REACHED)

    def test_problems(self):
        told = {'reasons': ('why',), 'cure': ('ask again', True)}
        for problems, changes in (
                ((), {}), (('hangs',), {'end': table.HANGS}),
                (('leaks',), {'left': ('a Secret',)}),
                (('untrue: COMPLETE',), {'untrue': ('COMPLETE',)}),
                *(case for end in (table.FAILED, table.REFUSED) for case in (
                    (('no reason', 'no cure'), {'end': end}),
                    (('no cure',), {'end': end, **told, 'cure': (
                        'ask again', False)}),
                    ((), {'end': end, **told})))):
            row = dataclasses.replace(self.row, **changes)
            self.assertEqual((problems, not problems),
                             (row.problems, row.kept))
            self.assertEqual(len(table.COLUMNS), len(row.cells()))
