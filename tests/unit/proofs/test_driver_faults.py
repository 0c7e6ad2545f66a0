# SPDX-License-Identifier: Apache-2.0

"""When a fault is survived, and whether each one is caused."""

import dataclasses

import testtools

from magnum_capi_tempest.tests.common import observations
from tests.proofs.driver_faults import kills
from tests.proofs.driver_faults import rules
from tests.proofs.driver_faults import steps
from tests.proofs.driver_faults import table

GOAL = table.Goal(2, 'v1.34.2', 't')
TRUE = table.Truth(1, 2, 0, frozenset({'v1.34.2'}))
GONE = table.Goal(None)


def observe(status='UPDATE_COMPLETE', group='UPDATE_COMPLETE', count=2,
            template='t', version='v1.34.2'):
    return observations.Observation(
        {'status': status, 'cluster_template_id': template,
         'coe_version': version}, {'status': group, 'node_count': count})


class GoalTest(testtools.TestCase):

    def test_reached_when_magnum_says_so_and_it_is_true(self):
        nothing = observations.Observation()
        trouble = observations.Observation(trouble='no answer')
        for reached, goal, said, truth in (
                (True, GOAL, observe(), TRUE),
                *((False, GOAL, said, TRUE) for said in (
                    observe(status='UPDATE_IN_PROGRESS'),
                    observe(group='UPDATE_IN_PROGRESS'), observe(count=1),
                    observe(template='other'), observe(version='v1.33.0'),
                    nothing, trouble)),
                *((False, GOAL, observe(), dataclasses.replace(TRUE, **change))
                  for change in (
                      {'workers': 1}, {'masters': 2}, {'others': 1},
                      {'versions': frozenset({'v1.34.2', 'v1.35.0'})})),
                (False, GOAL, observe(), table.Truth()),
                (True, GONE, nothing, TRUE),
                (False, GONE, observe(), table.Truth()),
                (False, GONE, trouble, table.Truth())):
            self.assertEqual(reached, goal.is_reached(said, truth), said)


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


class CausedTest(testtools.TestCase):

    def test_every_step_has_its_kill_in_a_batch_that_can_be_held(self):
        for all_steps in (steps.CREATE, steps.UPGRADE, steps.DELETE):
            batches = kills.batches(all_steps)
            made = [kill for batch in batches for kill in batch]

            self.assertEqual(
                {(step, dies) for step in all_steps for dies in (False, True)
                 if step.helm or not dies}, set(made))
            self.assertEqual(len(made), len(set(made)))
            for batch in batches:
                self.assertEqual(1, len({step.late for step, _ in batch}))
                self.assertLessEqual(len(batch), kills.TOGETHER)

    def test_a_rule_is_for_the_requests_that_it_matches_and_counts(self):
        book = rules.Book()
        first = rules.Rule('/a', rules.Action.DELAY, times=1)
        second = rules.Rule('/a', rules.Action.HOLD_REQUEST, nth=2, times=1)
        for rule in first, second:
            book.add(rule)

        self.assertEqual(
            [None, first, second, None],
            [book.take(line) for line in ('GET /b', *['GET /a'] * 3)])
