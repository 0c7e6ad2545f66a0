# SPDX-License-Identifier: Apache-2.0


import pathlib

import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner


class TestPlan(testtools.TestCase):

    def refused(self, words, **request):
        error = self.assertRaises(errors.UsageError, runner.Plan, **request)
        self.assertIn(words, str(error))

    def test_a_certified_run_skips_nothing(self):
        self.refused('skips nothing', mode=model.CERTIFIED, skip='x')

        plan = runner.Plan(mode=model.CERTIFIED, parallel=2)
        self.assertEqual((r'\[Conformance\]', ''),
                         (plan.focus_expression, plan.skip_expression))

    def test_a_lite_run_has_a_skip_of_its_own(self):
        self.refused('Sonobuoy decides what', mode=model.LITE, skip='x')

    def test_mode_and_focus_belong_together(self):
        self.refused('focus', mode=model.FOCUSED)
        self.refused('does not allow a focus', mode=model.QUICK,
                     expression='x')
        self.refused('Unknown mode', mode=model.UNKNOWN)

    def test_nonsense_is_refused(self):
        self.refused('process', parallel=0)
        self.refused('positive', stall=0)
        self.refused('namespace', namespace='-x')
        self.refused('Kubernetes', kubernetes='latest')
        self.refused('variable', env=(('A-B', ''),))
        self.refused('option of its own', env=(('E2E_SKIP', ''),))
        self.refused('control', mode=model.FOCUSED, expression='a\nb')

    def test_a_focus_that_no_variable_holds_is_refused(self):
        self.refused('131', mode=model.FOCUSED,
                     expression='x' * (128 * 1024))

    def test_own_arguments_do_not_switch_progress_off(self):
        plan = runner.Plan(env=(('E2E_EXTRA_ARGS', '--allowed=1'),))

        self.assertEqual(
            '--allowed=1 --progress-report-url=http://localhost:8099/progress',
            plan.variables['E2E_EXTRA_ARGS'])

    def test_own_progress_and_separator_are_kept(self):
        own = '--progress-report-url=http://x'
        self.assertEqual({'E2E_EXTRA_ARGS': own}, runner.Plan(
            env=(('E2E_EXTRA_ARGS', own),)).variables)
        self.assertIn(';--progress', runner.Plan(env=(
            ('E2E_EXTRA_ARGS', '--a'), ('E2E_EXTRA_ARGS_SEP', ';')
        )).variables['E2E_EXTRA_ARGS'])

    def test_files_that_are_not_there_are_refused_before_a_run(self):
        plan = runner.Plan(images=runner.Images(
            mirrors=pathlib.Path('/nowhere/mirrors.yaml')))

        self.assertRaises(errors.UsageError, runner.check_files, plan)

    def test_without_a_time_each_mode_has_its_own(self):
        self.assertEqual(1800, runner.Plan(mode=model.QUICK).seconds)
        self.assertEqual(60, runner.Plan(timeout=60).seconds)
