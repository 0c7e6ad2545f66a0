# SPDX-License-Identifier: Apache-2.0


import dataclasses

import testtools

from magnum_capi_tempest.tests.common import observations
from tests.proofs.driver_faults import table

UUID = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
RELEASE = f'c{UUID.replace("-", "")}'

GOAL = table.Goal(2, 'v1.34.2', 't')
TRUE = table.Truth(1, 2, 0, frozenset({'v1.34.2'}))

ROW = table.Row('api', 'down', 'create', ('CREATE_COMPLETE',), (),
                ('POST clusters 202',), table.REACHED, seconds=12.3)


def look(status='UPDATE_COMPLETE', group='UPDATE_COMPLETE', count=2,
         template='t', version='v1.34.2'):
    return observations.Look(
        {'status': status, 'cluster_template_id': template,
         'coe_version': version}, {'status': group, 'node_count': count})


class GoalTest(testtools.TestCase):

    def test_reached_when_magnum_says_so_and_it_is_true(self):
        self.assertTrue(GOAL.is_reached(look(), TRUE))

    def test_not_reached_as_long_as_magnum_says_something_else(self):
        for said in (look(status='UPDATE_IN_PROGRESS'),
                     look(group='UPDATE_IN_PROGRESS'), look(count=1),
                     look(template='other'), look(version='v1.33.0'),
                     observations.Look(),
                     observations.Look(trouble='no answer')):
            self.assertFalse(GOAL.is_reached(said, TRUE), said)

    def test_not_reached_as_long_as_machines_are_others(self):
        for truth in (dataclasses.replace(TRUE, workers=1),
                      dataclasses.replace(TRUE, masters=2),
                      dataclasses.replace(TRUE, others=1),
                      dataclasses.replace(TRUE, versions=frozenset(
                          {'v1.34.2', 'v1.35.0'})), table.Truth()):
            self.assertFalse(GOAL.is_reached(look(), truth), truth)

    def test_gone(self):
        gone = table.Goal(None)
        self.assertTrue(gone.is_reached(observations.Look(), TRUE))
        self.assertFalse(gone.is_reached(look(), table.Truth()))
        self.assertFalse(gone.is_reached(
            observations.Look(trouble='503'), table.Truth()))


class RowTest(testtools.TestCase):

    def problems(self, **changes):
        return dataclasses.replace(ROW, **changes).problems

    def test_what_is_reached_is_kept(self):
        self.assertEqual((), ROW.problems)
        self.assertTrue(ROW.kept)

    def test_what_never_ends_is_not(self):
        self.assertEqual(('hangs',), self.problems(end=table.HANGS))

    def test_failure_needs_a_reason_and_a_cure(self):
        for end in (table.FAILED, table.REFUSED):
            self.assertEqual(('no reason', 'no cure'),
                             self.problems(end=end))
            self.assertEqual(('no cure',), self.problems(
                end=end, reasons=('why',), cure=('ask again', False)))
            self.assertEqual((), self.problems(
                end=end, reasons=('why',), cure=('ask again', True)))

    def test_leak(self):
        self.assertEqual(('leaks',), self.problems(left=('a Secret',)))

    def test_untruth(self):
        self.assertEqual(('untrue: COMPLETE',),
                         self.problems(untrue=('COMPLETE',)))


class TextTest(testtools.TestCase):

    def test_names_that_are_new_each_time_are_left_out(self):
        self.assertEqual('<release> of <uuid>',
                         table.plain(f'{RELEASE} of {UUID}'))
        self.assertEqual('reply to <id>',
                         table.plain(f'reply to {RELEASE[1:]}'))

    def test_tracebacks_of_magnum_are_left_out(self):
        self.assertEqual('why', table.plain(
            'why\nTraceback (most recent call last):\n  File "/x/y.py"'))

    def test_long_texts_are_cut(self):
        self.assertLess(len(table.plain('x' * 1000)), 300)

    def test_cells_of_a_leak(self):
        row = dataclasses.replace(ROW, left=(f'Lease n/{RELEASE}',))

        self.assertEqual(len(table.COLUMNS), len(row.cells()))
        self.assertEqual('kept', ROW.cells()[-1])
        self.assertEqual(('Lease n/<release>', 'not kept: leaks'),
                         row.cells()[-2:])

    def test_what_was_seen_and_cured(self):
        row = dataclasses.replace(
            ROW, end=table.FAILED, reasons=('because',),
            seen=('A', 'B'), cure=('ask again', True), remark='Magnum')
        self.assertEqual(
            ('POST clusters 202; A → B; "because"',
             'failed; ask again: works (Magnum)', '12'), row.cells()[2:5])

    def test_terminal_shows_why_it_is_not_kept(self):
        self.assertIn('api: down, create', ROW.as_text())
        self.assertIn('not kept: hangs', dataclasses.replace(
            ROW, end=table.HANGS).as_text())
