# SPDX-License-Identifier: Apache-2.0
"""A result in the common report: every form tells the same."""

import io
import json
import pathlib
from xml.etree import ElementTree

import fixtures
import rich.console
import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.report import terminal
from tests.unit.conformance import by_hand


def run_of(result, reruns=(), required=None):
    return by_hand.view(result, reruns, required).run


def document(result, **kwargs):
    """The part of the JSON report on conformance."""
    return json.loads(report.to_json(by_hand.view(
        result, **kwargs)))['conformance']


class RunTest(testtools.TestCase):

    def test_json_names_what_did_not_run(self):
        result = by_hand.result(
            by_hand.passed('a'), by_hand.skipped('c'), by_hand.skipped('b'))

        self.assertEqual(['b', 'c'], document(result)['skipped'])

    def test_run_is_green_exactly_when_the_verdict_is(self):
        infra = model.InfraError('e2e', 'timeout waiting')
        node = model.SuiteNode('[AfterSuite]', model.FAILED, 'broke')
        for result, mark in (
                (by_hand.result(by_hand.passed('a')), 'PASSED'),
                (by_hand.result(by_hand.failed('a')), 'FAILED'),
                (by_hand.result(), 'INCOMPLETE'),
                (by_hand.result(by_hand.skipped('a')), 'INCOMPLETE'),
                (by_hand.result(by_hand.unfinished('a')), 'INCOMPLETE'),
                (by_hand.result(by_hand.passed('a'), planned=2),
                 'INCOMPLETE'),
                (by_hand.result(by_hand.passed('a'), mode=model.CERTIFIED),
                 'PASSED'),
                (by_hand.result(by_hand.passed('a'), infra_errors=(infra,)),
                 'HARNESS ERROR'),
                (by_hand.result(by_hand.passed('a'), suite_nodes=(node,)),
                 'HARNESS ERROR')):
            judged = verdict.judge(result)
            run = run_of(result)

            self.assertEqual(mark, run.mark)
            self.assertEqual(judged.outcome == verdict.PASSED, run.ok)

    def test_certified_run_that_is_eligible(self):
        result = by_hand.result(by_hand.passed('a'), mode=model.CERTIFIED,
                                cluster=model.Cluster('v1.34.9'))
        run = run_of(result, required=('a',))

        self.assertEqual(('Eligible for certification',
                          ('every required test passed',)),
                         (run.sections[0].title, run.sections[0].lines))
        self.assertEqual('the one spec that ran passed', run.verdict)

    def test_run_of_few_tests_does_not_name_all_it_lacks(self):
        required = tuple(f'[sig-a] {i}' for i in range(51))
        for mode, titles in (
                (model.QUICK, ['NOT eligible for certification']),
                (model.NON_DISRUPTIVE, [
                    'NOT eligible for certification',
                    'Required tests that did not run or did not pass: 51'])):
            run = run_of(by_hand.result(by_hand.passed('a'), mode=mode),
                         required=required)

            self.assertEqual(titles, [s.title for s in run.sections])

    def test_the_terminal_shows_no_secret(self):
        """In a CI job, it is the published log."""
        token = 'token: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl'
        node = model.SuiteNode('[BeforeSuite]', model.FAILED, token)
        out = io.StringIO()
        for result in (
                by_hand.result(by_hand.failed(
                    'a', failure=f'no login with {token}')),
                by_hand.result(by_hand.passed('a'), suite_nodes=(node,)),
                by_hand.result(facts={'last lines of the e2e log': token})):
            terminal.show(run_of(result), console=rich.console.Console(
                file=out, width=400))

        self.assertNotIn('eyJ', out.getvalue())
        self.assertIn('no login with', out.getvalue())

    def test_harness_errors_are_no_tests(self):
        run = run_of(by_hand.result(
            by_hand.passed('a'),
            infra_errors=(model.InfraError('e2e/n1', 'gone'),),
            suite_nodes=(model.SuiteNode('[AfterSuite]', model.FAILED, 'x'),
                         model.SuiteNode('[Report]', model.PASSED))))

        self.assertEqual(['a'], [test.name for test in run.tests])
        section = run.sections[0]
        self.assertEqual('Errors of the harness, not of the cluster',
                         section.title)
        self.assertEqual(('e2e/n1: gone', '[AfterSuite]: x'),
                         section.lines)

    def test_failures_of_one_cause_stand_together_and_first(self):
        run = run_of(by_hand.result(
            by_hand.passed('p'), by_hand.failed('a', 'one'),
            by_hand.failed('b', 'two'), by_hand.failed('c', 'one'),
            by_hand.skipped('off', detail=model.SKIPPED_ITSELF,
                            failure='only for gce'),
            by_hand.skipped('not selected')))

        self.assertEqual(['a', 'c', 'b', 'off', 'p'],
                         [test.name for test in run.tests])
        self.assertEqual('only for gce', run.tests[3].reason)
        self.assertEqual('4 ran, 1 skipped themselves, 1 not selected',
                         run.facts['specs'])

    def test_failed_test_has_reason_failure_and_log(self):
        test, = run_of(by_hand.result(by_hand.failed(
            'a', '[FAILED] no 10.0.0.1\nand more', output='log\n[FAILED] no\n'
            'At 2026-11-21 09:39:08 +0000 UTC - event for p: {kubelet n2} '
            'Pulled: image'))).tests

        self.assertEqual(['reason', 'failure', 'log up to the failure',
                          'events of its namespace'],
                         [detail.name for detail in test.details])
        self.assertEqual('no 10.0.0.1', test.reason)

    def test_what_was_wrong_with_the_cluster(self):
        seen = ('cluster DNS: scaled to 0',)
        passed = by_hand.result(by_hand.passed('a'), cluster_warnings=seen)
        failed = by_hand.result(by_hand.failed('a'), cluster_warnings=seen)

        for result in (passed, failed):
            run = run_of(result)
            self.assertEqual(seen[0], run.facts['wrong with the cluster'])
        self.assertIn(f'seen in the cluster: {seen[0]}', run.problems)
        self.assertEqual(list(seen), document(passed)['cluster_warnings'])


class FormsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_every_form_of_a_real_run(self):
        result = by_hand.real(by_hand.PARALLEL)

        written = report.write(self.folder, by_hand.view(
            result, [by_hand.real(by_hand.RERUN)]))

        data = json.loads(written['report.json'].read_text())
        self.assertEqual(
            (False, 384, 4), (data['ok'], data['passed'], data['failed']))
        self.assertEqual(40, len(data['conformance']['missing']))
        self.assertEqual(['flaky'] * 4, [
            again['outcome'] for again in data['conformance']['reruns']])
        suites = ElementTree.parse(written['junit.xml']).getroot()
        self.assertEqual(('388', '4'),
                         (suites.get('tests'), suites.get('failures')))
        case = next(suites.iter('testcase'))
        self.assertEqual('conformance.sig-node', case.get('classname'))
        self.assertEqual(result.failures[0].name, case.get('name'))
        self.assertIn('STAND-IN IMAGES', written['report.md'].read_text())
        self.assertIn('STAND-IN IMAGES', written['report.html'].read_text())

    def test_incomplete_run_is_red_in_every_form(self):
        result = by_hand.result(by_hand.passed('a'), planned=5)

        written = report.write(self.folder, by_hand.view(result))

        said = '1 specs were started, but 5 were planned'
        self.assertIn(f'## ❌ INCOMPLETE: run: {said}',
                      written['report.md'].read_text())
        suites = ElementTree.parse(written['junit.xml']).getroot()
        self.assertEqual('1', suites.get('errors'))
        self.assertFalse(json.loads(written['report.json'].read_text())['ok'])
        self.assertIn(f'INCOMPLETE: {said}',
                      written['report.html'].read_text())
