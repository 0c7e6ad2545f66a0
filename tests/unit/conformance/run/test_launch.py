# SPDX-License-Identifier: Apache-2.0

"""What is looked at before a run is created, and what stays if it is not."""

import dataclasses
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import runner
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

    def test_half_a_run_that_cannot_be_removed_is_told(self):
        self.box.fails.update(run=REFUSED, delete=REFUSED)

        error = self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertNotIn('have been removed', str(error))
        self.assertIn('magnum-capi conformance abort r', str(error))
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_nothing_is_removed_when_somebody_was_quicker(self):
        self.box.fails['create'] = kube.KubeError('409', status=409)

        error = self.assertRaises(kube.KubeError, self.box.run)
        self.assertIn('someone else', str(error))
        self.assertEqual([], self.box.called)
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_a_namespace_that_may_be_there_can_be_removed(self):
        # A proxy gives up on an API server that is still at work, and that
        # on its etcd.
        for status in None, 500, 504:
            self.box.fails['create'] = kube.KubeError('no answer',
                                                      status=status)
            name = f'r{status}'
            self.assertRaises(kube.KubeError, self.box.run, name=name)
            store = self.box.runtime.store
            self.assertEqual(runs.STARTED, store.load(name).stage)
            self.box.fails.clear()
            mark = store.load(name).mark
            namespaces.create(self.box.reader(), 'sonobuoy', mark, {})

            lifecycle.abort(name, self.box.runtime)

            self.assertEqual([], self.box.lists['namespaces'])

    def test_nothing_is_built_for_a_cluster_that_is_not_fit(self):
        ensure = mock.Mock()
        self.box.runtime = dataclasses.replace(self.box.runtime, ensure=ensure)
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)

        ensure.assert_not_called()

    def test_what_is_replaced_is_looked_at_again(self):
        self.box.plain_run()
        self.box.said = [run_box.COMPLETE]

        self.box.run(replace=True)

        self.assertEqual(['delete', 'run'], self.box.called[:2])

    def refused(self, **kwargs):
        error = self.assertRaises(errors.EnvironmentProblem, self.box.run,
                                  replace=True, **kwargs)
        self.assertEqual([], self.box.called)
        return str(error)

    def test_a_namespace_without_a_run_is_not_replaced(self):
        self.box.replace_namespace('monitoring')
        self.box.plain_run()

        said = self.refused(plan=runner.Plan(
            mode=model.QUICK, namespace='monitoring'))

        self.assertIn('another --namespace', said)
        self.assertNotIn('--replace', said)
        self.assertNotIn('belongs to', said)

    def test_each_sign_of_a_run(self):
        configuration = ('/api/v1/namespaces/conformance/configmaps/'
                         'sonobuoy-config-cm')
        for annotations, pod, maps in (
                ({namespaces.MARK: 'm'}, {}, {}),
                ({}, {'labels': {'sonobuoy-component': 'aggregator'}}, {}),
                ({}, {'name': 'e2e-conformance-test'}, {}),
                ({}, {}, {configuration: {}})):
            self.box.lists['namespaces'] = [{'metadata': {
                'name': 'conformance', 'annotations': annotations}}]
            self.box.lists['pods'] = [{'metadata': {
                'name': 'p', 'namespace': 'conformance', **pod}}]
            self.box.maps = maps
            self.box.called.clear()

            self.box.run(replace=True, backend=model.HYDROPHONE,
                         name=f'r{len(self.box.runtime.store.all())}')

            self.assertEqual(['/hydrophone'] * 2, self.box.called)

    def test_a_namespace_whose_content_is_unknown_is_not_replaced(self):
        self.box.replace_namespace('sonobuoy')
        self.box.maps['/api/v1/namespaces/sonobuoy/configmaps/'
                      'sonobuoy-config-cm'] = kube.KubeError('forbidden')

        self.refused()

    def test_nothing_is_replaced_in_a_cluster_that_is_not_fit(self):
        self.box.plain_run()
        self.box.lists['nodes'] = []

        self.assertIn('no node', self.refused())

    def test_what_is_replaced_takes_no_room(self):
        self.box.plain_run()
        self.box.lists['pods'] *= 109
        for pod in self.box.lists['pods']:
            pod['spec'] = {'nodeName': 'n1'}
        self.box.said = [run_box.COMPLETE]

        self.box.run(replace=True)

        self.assertEqual('delete', self.box.called[0])

    def test_a_cluster_that_is_not_fit_is_not_touched(self):
        self.box.lists['nodes'] = []

        self.assertRaises(errors.EnvironmentProblem, self.box.run)
        self.assertEqual([], self.box.called)
        self.assertEqual([], self.box.runtime.store.all())
