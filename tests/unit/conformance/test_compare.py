# SPDX-License-Identifier: Apache-2.0
"""What changed between runs, and the grid of several."""

import dataclasses
import io
import json

import rich.console
import testtools

from magnum_capi_tempest.conformance import compare
from magnum_capi_tempest.conformance import compare_report
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand


def of(*results):
    return compare.compare(map(verdict.judge, results))


def between(before, after):
    """The difference of two runs with these specs."""
    difference, = of(by_hand.result(*before),
                     by_hand.result(*after)).differences
    return difference


def run(*specs, title, **kwargs):
    return by_hand.result(*specs, title=title, **kwargs)


BASE = run(by_hand.passed('a'), by_hand.failed('b'), title='base')
BROKEN = run(title='broken', infra_errors=(
    model.InfraError('e2e', 'pod is gone'),))


class DifferenceTest(testtools.TestCase):

    def kinds(self, before, after):
        """Names of specs by kind of change."""
        found = between(before, after)
        return {kind: [c.name for c in getattr(found, kind)]
                for kind in compare.KINDS if getattr(found, kind)}

    def test_each_change_has_its_kind(self):
        failing = by_hand.failed('a'), by_hand.unfinished('a')
        passing, skip = by_hand.passed('a'), by_hand.skipped('a')
        for before, after, wanted in (
                *((passing, after, 'new_failures') for after in failing),
                *((skip, after, 'new_failures') for after in failing),
                *((None, after, 'new_failures') for after in failing),
                *((before, after, 'still_failing') for before in failing
                  for after in failing),
                *((before, passing, 'fixed') for before in failing),
                *((before, skip, 'newly_skipped') for before in failing),
                *((before, None, 'removed') for before in failing),
                (passing, skip, 'newly_skipped'),
                (passing, None, 'removed'),
                (skip, passing, 'newly_run'),
                (None, passing, 'added'),
                (passing, passing, None),
                (skip, skip, None), (skip, None, None), (None, skip, None)):
            found = self.kinds([before] if before else [],
                               [after] if after else [])

            self.assertEqual({wanted: ['a']} if wanted else {}, found,
                             (before, after))

    def test_sig_changed(self):
        self.assertEqual(
            {'renamed': ['[sig-auth] Pod "x" runs']},
            self.kinds([by_hand.passed("[sig-node] Pod 'x' runs")],
                       [by_hand.passed('[sig-auth] Pod "x" runs')]))

    def test_doubtful_rename_is_none(self):
        self.assertEqual(
            {'added': ['[sig-c] x'], 'removed': ['[sig-a] x', '[sig-b] x']},
            self.kinds([by_hand.passed('[sig-a] x'),
                        by_hand.passed('[sig-b] x')],
                       [by_hand.passed('[sig-c] x')]))

    def test_two_specs_of_one_name_count_as_the_worse(self):
        self.assertEqual(
            {'new_failures': ['a']},
            self.kinds([by_hand.passed('a'), by_hand.passed('a')],
                       [by_hand.failed('a'), by_hand.passed('a')]))

    def test_durations_of_what_passed_twice(self):
        found = between(
            [by_hand.passed('slower', 1), by_hand.passed('f', 9),
             by_hand.passed('faster', 60), by_hand.passed('same', 3),
             by_hand.passed('?', None)],
            [by_hand.passed('slower', 11), by_hand.failed('f', seconds=99),
             by_hand.passed('faster', 1), by_hand.passed('same', 4),
             by_hand.passed('?', 70)])

        self.assertEqual(
            [('faster', -59), ('slower', 10)],
            [(c.name, c.delta) for c in found.durations])


class GridTest(testtools.TestCase):

    def test_rows(self):
        """(rows, partial, number that passed everywhere) of several runs."""
        passed, failed = by_hand.passed, by_hand.failed
        skipped, unfinished = by_hand.skipped, by_hand.unfinished
        for runs, rows, partial, all_passed in (
                ([[passed('a'), failed('b')], [passed('a'), passed('b')]],
                 [('b', 'failed', 'passed')], [], 1),
                ([[skipped('a')], []], [], [], 0),
                ([[passed('a'), passed('b')], [skipped('a')]], [],
                 [('a', 'passed', 'skipped'), ('b', 'passed', 'absent')], 0),
                # Most failures first.
                ([[failed('a'), failed('b')], [passed('a'), unfinished('b')]],
                 [('b', 'failed', 'unfinished'), ('a', 'failed', 'passed')],
                 [], 0),
                # One test that was renamed twice.
                ([[failed('[sig-a] x')], [passed('[sig-b] x')],
                  [passed('[sig-c] x')]],
                 [('[sig-c] x', 'failed', 'passed', 'passed')], [], 0)):
            grid = of(*(by_hand.result(*specs) for specs in runs)).grid

            self.assertEqual((rows, partial, all_passed), (
                [(row.name, *row.cells) for row in grid.rows],
                [(row.name, *row.cells) for row in grid.partial],
                grid.all_passed))


class ComparisonTest(testtools.TestCase):

    def test_exit_codes(self):
        same = run(by_hand.passed('a'), by_hand.failed('b'), title='same')
        worse = run(by_hand.failed('a'), by_hand.failed('b'), title='worse')
        cut = run(by_hand.passed('a'), title='cut', planned=2)
        for others, code, said in (
                ([same], 0, 'no new failures'),
                ([worse], 1, '1 new failure'),
                ([worse, worse], 1, '2 new failures'),
                ([cut], 3, 'nothing new failed in what ran, but cut did not '
                           'complete'),
                ([same, cut, BROKEN], 3, None),
                ([worse, BROKEN], 1, '1 new failure')):
            found = of(BASE, *others)

            self.assertEqual(code, found.exit_code)
            self.assertEqual(said or found.conclusion, found.conclusion)

    def test_a_first_run_that_did_not_complete_is_no_yardstick(self):
        """What it did not run may have been broken all the time."""
        cut = run(by_hand.passed('a'), title='cut', planned=2)
        good = run(by_hand.passed('a'), title='good')
        for first in BROKEN, run(title='broken'), cut:
            found = of(first, good)

            self.assertEqual(3, found.exit_code, first.title)
            self.assertEqual(
                f'nothing new failed in what ran, but {first.title}, the '
                'first run, did not complete', found.conclusion)
        self.assertEqual(1, of(BROKEN, run(
            by_hand.failed('a'), title='bad')).exit_code)

    def test_fewer_tests_than_before_prove_nothing(self):
        names = [f't{number}' for number in range(400)]
        before = run(*map(by_hand.passed, names), title='before')
        for after, code in (
                ([by_hand.passed(names[0]),
                  *map(by_hand.skipped, names[1:])], 3),
                ([by_hand.passed(names[0])], 3),
                ([*map(by_hand.passed, names[1:]),
                  by_hand.skipped(names[0])], 3),
                # As in another release of Kubernetes.
                ([*map(by_hand.passed, names[1:]), by_hand.passed('z')], 0)):
            found = of(before, run(*after, title='after'))

            self.assertEqual(code, found.exit_code)
            self.assertEqual(code == 0,
                             found.conclusion == 'no new failures')

    def test_runs_without_a_common_test_prove_nothing(self):
        """Of different suites: as many were added as removed."""
        found = of(*(run(*(by_hand.passed(f'{suite}{number}')
                           for number in range(9)), title=suite)
                     for suite in 'ab'))

        self.assertEqual(3, found.exit_code)
        self.assertIn('9 tests of a did not run in b', found.conclusion)

    def test_records_that_cannot_be_read(self):
        found = dataclasses.replace(of(BASE, BASE), unreadable=(
            compare.Unreadable('c', 'truncated'),))

        self.assertEqual(3, found.exit_code)
        self.assertIn('1 record could not be read', found.conclusion)


class FormsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.found = of(
            run(by_hand.passed('[sig-a] x|y', 1), by_hand.failed('b'),
                by_hand.passed('c'), title='one', cluster=model.Cluster(
                    'v1.34.9', driver='k8s_capi_v1', cni='cal|ico')),
            run(by_hand.failed('[sig-b] x|y', seconds=9),
                by_hand.passed('b'), title='two\x1b[31m'))

    def terminal(self):
        out = io.StringIO()
        compare_report.show(self.found, console=rich.console.Console(
            file=out, width=80))
        return out.getvalue()

    def test_terminal(self):
        out = self.terminal()

        self.assertTrue(out.lstrip().startswith(
            'Comparison of conformance runs: 1 new failure'), out)
        self.assertIn('one → two: new failures: 1:\n'
                      '  [sig-b] x|y (was: [sig-a] x|y)\n', out)
        self.assertIn('one → two: fixed: 1:\n  b\n', out)
        self.assertIn('one → two: ran before, not known now: 1:\n  c\n', out)
        self.assertIn('Tests by cluster: 2 failed somewhere, 1 passed and '
                      'did not run everywhere, 0 passed everywhere', out)
        self.assertIn('  passed, failed: [sig-b] x|y\n', out)
        self.assertIn('one: FAILED: 1 of 3 specs failed (k8s_capi_v1, '
                      'cal|ico, v1.34.9)\n', out)
        self.assertNotIn('\x1b', out)

    def test_markdown(self):
        lines = compare_report.to_markdown(self.found).splitlines()

        self.assertIn('- passed, failed: \\[sig-b\\] x\\|y', lines)

    def test_json(self):
        data = json.loads(compare_report.to_json(self.found))

        difference, = data['differences']
        self.assertEqual(
            [{'name': '[sig-b] x|y', 'was': '[sig-a] x|y',
              'before': 'passed', 'after': 'failed', 'seconds': [1, 9]}],
            difference['new_failures'])
        self.assertEqual(1, data['exit_code'])
        self.assertEqual(
            {'[sig-b] x|y': ['passed', 'failed'], 'b': ['failed', 'passed'],
             'c': ['passed', 'absent']},
            {row['name']: row['cells'] for row in data['grid']['rows']})
