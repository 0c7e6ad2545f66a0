# SPDX-License-Identifier: Apache-2.0

"""What is looked at before a run is created, and what stays if it is not."""

import dataclasses
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.kubeclient import kube
from tests.unit.conformance.run import run_box

REFUSED = run_box.REFUSED


class TestBeginning(run_box.TestCase):

    def test_half_a_run_is_removed(self):
        self.box.fails['run'] = REFUSED

        error = self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertIn('forbidden', str(error))
        self.assertEqual(['run', 'delete'], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_nothing_is_removed_when_somebody_was_quicker(self):
        self.box.fails['create'] = kube.KubeError('409', status=409)

        error = self.assertRaises(kube.KubeError, self.box.run)
        self.assertIn('someone else', str(error))
        self.assertEqual([], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_a_namespace_that_may_be_there_can_be_removed(self):
        self.box.fails['create'] = kube.KubeError('no answer')
        self.assertRaises(kube.KubeError, self.box.run)
        self.assertEqual(runs.STARTED, self.box.stage)
        self.box.fails.clear()
        mark = self.box.runtime.store.load('r').mark
        namespaces.create(self.box.reader(), 'sonobuoy', mark, {})

        lifecycle.abort('r', self.box.runtime)

        self.assertEqual([], self.box.lists['namespaces'])

    def test_nothing_is_built_for_a_cluster_that_is_not_fit(self):
        ensure = mock.Mock()
        self.box.runtime = dataclasses.replace(self.box.runtime, ensure=ensure)
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)

        ensure.assert_not_called()

    def test_what_is_replaced_is_looked_at_again(self):
        self.box.replace_namespace('sonobuoy')
        self.box.said = [run_box.COMPLETE]

        self.box.run(replace=True)

        self.assertEqual(['delete', 'run'], self.box.called[:2])

    def test_a_cluster_that_is_not_fit_is_not_touched(self):
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertEqual([], self.box.called)
        self.assertEqual([], self.box.runtime.store.all())
