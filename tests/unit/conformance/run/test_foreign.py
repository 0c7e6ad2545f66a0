# SPDX-License-Identifier: Apache-2.0

"""Runs that something else has begun: "sonobuoy run", or another machine."""

import contextlib

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import foreign
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
from tests.unit.conformance.run import run_box


class TestPlainRun(run_box.TestCase):

    def setUp(self):
        super().setUp()
        self.results = self.box.base / 'results'

    def retrieved(self):
        return lifecycle.retrieve(
            self.where(), self.box.runtime, self.results).run.name

    def where(self, **kwargs):
        return foreign.Where(
            runs.Target(kubeconfig=str(self.box.kubeconfig)), **kwargs)

    def refused(self, kind=errors.UsageError, **kwargs):
        error = self.assertRaises(kind, lifecycle.status, self.where(**kwargs),
                                  self.box.runtime)
        self.assertEqual([], self.box.called)
        return str(error)

    def test_status_writes_nothing(self):
        self.box.plain_run()

        record, state = lifecycle.status(self.where(), self.box.runtime)

        self.assertEqual(
            ('kubeconfig-20261123-100000', model.CERTIFIED, 7800, 'v1.34.9',
             'running', ''),
            (record.name, record.plan.mode, record.plan.timeout,
             record.about.kubernetes, state.status.status,
             ' '.join(n for n in state.notes if 'node' in n)))
        self.assertEqual([], self.box.runtime.store.all())

    def test_watched_and_fetched_it_stays(self):
        self.box.plain_run(timeout=10 ** 9)
        self.box.said = [run_box.RUNNING, run_box.COMPLETE]

        ended = lifecycle.resume(
            self.where(), self.box.runtime, self.results)

        self.assertEqual(verdict.FAILED, ended.verdict.outcome)
        self.assertEqual(['status', 'status', 'retrieve'], self.box.called)
        record, = self.box.runtime.store.all()
        self.assertEqual((runs.RETRIEVED, 'uid-sonobuoy'),
                         (record.stage, record.uid))

    def test_retrieved_and_ended_by_its_name(self):
        self.box.plain_run()
        self.box.said = [run_box.COMPLETE]
        name = self.retrieved()

        lifecycle.abort(name, self.box.runtime)

        self.assertEqual(['status', 'retrieve', 'delete'], self.box.called)
        self.assertEqual([], self.box.lists['namespaces'])

    def test_taken_up_twice_it_is_one_run(self):
        self.box.plain_run()
        self.box.said = [run_box.COMPLETE]

        names = {self.retrieved() for _ in range(2)}

        self.assertEqual(1, len(names))

    def test_a_namespace_that_came_after_it_is_left_alone(self):
        self.box.plain_run()
        self.box.said = [run_box.COMPLETE]
        name = self.retrieved()
        self.box.called.clear()
        self.box.replace_namespace('sonobuoy')

        lifecycle.abort(name, self.box.runtime)

        self.assertEqual([], self.box.called)

    def test_what_there_is_so_far(self):
        self.box.plain_run()
        self.box.log = 'Will run 3 of 9 specs\n'

        self.assertEqual(self.box.log, lifecycle.logs(
            self.where(), self.box.runtime, 'e2e'))
        self.assertEqual((['logs'], []), (self.box.called,
                                          self.box.runtime.store.all()))

    def test_our_own_run_is_known_by_its_mark(self):
        self.box.said = [KeyboardInterrupt()]
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run()
        self.box.lists['pods'].append({'metadata': {
            'name': 'sonobuoy', 'namespace': 'sonobuoy', 'labels': {
                'sonobuoy-component': 'aggregator'}}})
        self.box.said = [run_box.RUNNING]

        self.assertEqual('r', lifecycle.status(
            self.where(), self.box.runtime)[0].name)

    def test_modes(self):
        for focus, mode in (
                ('Pods should be submitted and removed', model.QUICK),
                ('[sig-storage]', model.FOCUSED), ('', model.FOCUSED)):
            self.box.lists['namespaces'].clear()
            self.box.lists['pods'].clear()
            self.box.plain_run(focus)
            record = foreign.find(self.where(), self.box.runtime)
            self.assertEqual(mode, record.plan.mode)

    def test_config_maps_that_nobody_may_read(self):
        self.box.plain_run()
        self.box.maps = dict.fromkeys(self.box.maps)

        record = foreign.find(self.where(), self.box.runtime)

        self.assertEqual((model.FOCUSED, 21600 + 600),
                         (record.plan.mode, record.plan.timeout))

    def test_one_of_several(self):
        self.box.plain_run()
        self.box.plain_run(name='mine')

        self.assertIn('mine, sonobuoy', self.refused())
        self.assertEqual('mine', foreign.find(self.where(
            namespace='mine'), self.box.runtime).plan.namespace)

    def test_there_is_none(self):
        self.assertIn('no run of Sonobuoy', self.refused())
        self.assertIn('namespace x', self.refused(namespace='x'))

    def test_a_cluster_that_does_not_answer(self):
        self.box.lists = Unreadable(kube.KubeError('no answer', where='https'))

        self.assertIn('no answer', self.refused(errors.EnvironmentProblem))


class Unreadable(dict):

    def __init__(self, error):
        self.error = error

    def __contains__(self, name):
        raise self.error
