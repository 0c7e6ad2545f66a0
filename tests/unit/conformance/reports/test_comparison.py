# SPDX-License-Identifier: Apache-2.0
"""Runs side by side: outcome, exit code and forms."""

import io
import json

import rich.console
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import comparison_forms
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand


def of(*results):
    return comparison.of(comparison.Judged(result, verdict.judge(result))
                         for result in results)


def run(*specs, title, **kwargs):
    return by_hand.result(*specs, title=title, **kwargs)


BASE = run(by_hand.passed('a'), by_hand.failed('b'), title='base')
BROKEN = run(title='broken', infra_errors=(
    model.InfraError('lost', 'e2e', 'pod is gone'),))


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

    def test_yardstick_may_be_broken(self):
        self.assertEqual(0, of(BROKEN, run(by_hand.passed('a'),
                                           title='good')).exit_code)

    def test_one_run_is_no_comparison(self):
        self.assertRaises(errors.UsageError, of, BASE)


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
        comparison_forms.show(self.found, console=rich.console.Console(
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
        self.assertRegex(out, r'\[sig-b\] x\|y +passed +failed')
        self.assertNotIn('\x1b', out)

    def test_markdown_table_keeps_its_cells(self):
        lines = comparison_forms.to_markdown(self.found).splitlines()

        self.assertIn('| test | one k8s\\_capi\\_v1 cal\\|ico v1.34.9 | two |',
                      lines)
        self.assertIn('| \\[sig-b\\] x\\|y | passed | failed |', lines)

    def test_json(self):
        data = json.loads(comparison_forms.to_json(self.found))

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

    def test_no_difference(self):
        same = run(by_hand.passed('a'), title='base')
        self.found = of(same, same)

        self.assertIn('base → base:\n  no difference', self.terminal())

    def test_long_grid_is_cut_and_says_so(self):
        self.found = of(
            run(*(by_hand.passed(f't{i}') for i in range(60)), title='one'),
            run(*(by_hand.failed(f't{i}') for i in range(60)), title='two'))

        for said in (self.terminal(),
                     comparison_forms.to_markdown(self.found)):
            self.assertIn('... and 20 more.', said)
