# SPDX-License-Identifier: Apache-2.0
"""What is run again, and what is said of it afterwards."""

import re

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand

NAME = '[sig-apps] Job should (not) a.b*c? {1|2} ^$ +x \\d [Conformance]'


class WantedTest(testtools.TestCase):

    def test_failed_and_unfinished_but_no_suite_node(self):
        result = by_hand.result(
            by_hand.failed('a'), by_hand.unfinished('b'),
            by_hand.passed('c'), by_hand.skipped('d'), by_hand.failed('a'),
            suite_nodes=(model.SuiteNode('[AfterSuite]', model.FAILED),))

        self.assertEqual(('a', 'b'), rerun.wanted(result))

    def test_nothing_failed(self):
        error = self.assertRaises(
            errors.UsageError, rerun.wanted, by_hand.real(by_hand.QUICK))

        self.assertIn('No spec failed: there is nothing to rerun',
                      str(error))
        self.assertIn('quick-e2e', str(error))

    def test_harness_failed_says_so(self):
        error = self.assertRaises(
            errors.UsageError, rerun.wanted, by_hand.result(
                infra_errors=(model.InfraError('e2e', 't'),)))

        self.assertIn('The harness failed', str(error))


class ExpressionsTest(testtools.TestCase):

    def matches(self, expression, name):
        return bool(re.search(expression, f'{runner.SUITE} {name}'))

    def test_matches_the_name_and_nothing_else(self):
        expression = runner.exactly([NAME, 'other'])

        self.assertTrue(self.matches(expression, NAME))
        # Ginkgo does not strip names.
        self.assertTrue(self.matches(expression, NAME + ' '))
        for name in (NAME + ' more', 'before ' + NAME, NAME[:-1],
                     NAME.replace('a.b', 'axb'), 'another', ''):
            self.assertFalse(self.matches(expression, name), name)

    def test_finds_a_name_with_several_blanks(self):
        # Ginkgo has it as it was written, the reader with one blank each.
        for named in ('[sig-a] several blanks', '[sig-a]  several   blanks'):
            expression = runner.exactly([named])

            self.assertTrue(self.matches(
                expression, '[sig-a]  several   blanks'))
            self.assertFalse(self.matches(
                expression, '[sig-a] severalblanks'))

    def test_every_certified_test_fits_into_one_variable(self):
        names = [s.name for s in by_hand.real(by_hand.PARALLEL).specs
                 if s.conformance]

        self.assertLess(len(runner.exactly(names).encode()),
                        runner.LONGEST)

    def test_empty_set_is_refused(self):
        self.assertRaises(errors.UsageError, runner.exactly, [])


class DeviationsTest(testtools.TestCase):

    def test_what_ran_and_what_was_asked_for(self):
        passed, failed = by_hand.passed, by_hand.failed
        skipped = by_hand.skipped
        for names, specs, deviations in (
                ('ab', [passed('a'), failed('b'), skipped('c')], ()),
                # vmware-tanzu/sonobuoy issue 1387.
                ('a', [passed('a'), passed('b')],
                 ('2 specs were planned, but 1 were requested',
                  'b ran and was not asked for')),
                ('ab', [passed('a'), skipped('b')],
                 ('1 specs were planned, but 2 were requested',
                  'b did not run')),
                # Two specs of one name.
                ('a', [passed('a'), passed('a')], ())):
            self.assertEqual(deviations, rerun.deviations(
                list(names), by_hand.result(*specs)))

    def test_log_without_a_plan(self):
        found = rerun.deviations(['a'], by_hand.result(
            by_hand.passed('a'), planned=None))

        self.assertEqual(
            ('The run did not report how many specs it would run',), found)


class ConcludeTest(testtools.TestCase):

    FIRST = by_hand.result(by_hand.failed('a'), by_hand.passed('b'))

    def conclude(self, result):
        return rerun.conclude(self.FIRST, ('a',), verdict.judge(result))

    def test_what_a_rerun_shows(self):
        for specs, outcome, code in (
                ([by_hand.passed('a')], rerun.FLAKY, 0),
                ([by_hand.failed('a')], rerun.FAILED_AGAIN, 1),
                ([by_hand.skipped('a')], rerun.NOT_RERUN, 3),
                # More ran than was asked for.
                ([by_hand.passed('a'), by_hand.passed('z')], rerun.FLAKY, 3)):
            ended = self.conclude(by_hand.result(*specs))

            again, = ended.again
            self.assertEqual((outcome, code),
                             (again.outcome, ended.exit_code))

    def test_one_that_passes_now_and_then_still_fails(self):
        passed, failed = (by_hand.result(kind('a')) for kind in (
            by_hand.passed, by_hand.failed))

        again, = rerun.label(self.FIRST, [passed, failed])

        self.assertEqual((rerun.FAILED_AGAIN, ('passed', 'failed')),
                         (again.outcome, again.statuses))

    def test_harness_failed(self):
        ended = self.conclude(by_hand.result(
            infra_errors=(model.InfraError('e2e', 'gone'),)))

        self.assertEqual((('e2e: gone',), 3),
                         (ended.broken, ended.exit_code))

    def test_a_record_that_cannot_be_trusted(self):
        for changes in ({'finished': False},
                        {'problems': ('it was a dry run',)}):
            ended = self.conclude(by_hand.result(by_hand.passed('a'),
                                                 **changes))

            self.assertEqual((1, 3), (len(ended.broken), ended.exit_code))
