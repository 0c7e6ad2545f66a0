# SPDX-License-Identifier: Apache-2.0
"""Failures are run again by the same way as any run."""

import dataclasses
import pathlib
from unittest import mock

import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance import rerunning
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import by_hand

PLAN = runner.Plan(
    mode=model.CERTIFIED, timeout=77,
    images=runner.Images(mirror='registry.example.org'))
REQUEST = lifecycle.RunRequest(
    runs.Target(kubeconfig='/kube'), PLAN, pathlib.Path('/r'))
RUNTIME = lifecycle.Runtime(progress=progress.Silent())


class ExecuteTest(testtools.TestCase):

    def execute(self, first, *results, **kwargs):
        """Run again where each run gives the next result."""
        ended = [outcome.Outcome(None, one, verdict.judge(one))
                 for one in results]
        with mock.patch.object(lifecycle, 'run', side_effect=ended) as run:
            found = rerunning.execute(first, REQUEST, RUNTIME, **kwargs)
        self.wishes = [call.args[0] for call in run.call_args_list]
        return found

    def test_plan_of_the_first_run_narrowed(self):
        first = by_hand.result(by_hand.failed('[sig-a] x.y'),
                               by_hand.passed('b'))

        self.execute(first, by_hand.result(by_hand.passed('[sig-a] x.y')))

        request, = self.wishes
        self.assertEqual(dataclasses.replace(
            PLAN, mode=model.FOCUSED, expression='^Kubernetes e2e suite *('
            r'\[sig-a\] +x\.y) *$'), request.plan)
        self.assertEqual(REQUEST, dataclasses.replace(request, plan=PLAN))

    def test_real_runs(self):
        ended, results = self.execute(by_hand.real(by_hand.PARALLEL),
                                      by_hand.real(by_hand.RERUN))

        self.assertEqual((0, 4), (ended.exit_code, len(ended.again)))
        self.assertEqual([by_hand.real(by_hand.RERUN)], results)

    def test_twice(self):
        first = by_hand.result(by_hand.failed('a'))

        ended, results = self.execute(
            first, by_hand.result(by_hand.passed('a')),
            by_hand.result(by_hand.failed('a')), times=2)

        self.assertEqual([rerun.FAILED_AGAIN],
                         [one.outcome for one in ended.again])
        self.assertEqual(2, len(results))

    def test_nothing_failed_runs_nothing(self):
        self.assertRaises(errors.UsageError, self.execute,
                          by_hand.real(by_hand.QUICK))
