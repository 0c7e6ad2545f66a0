# SPDX-License-Identifier: Apache-2.0

"""What becomes of a run, by the way in which it ends."""

import dataclasses
from unittest import mock

from magnum_capi import processes
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
from tests.unit.conformance.run import run_box

COMPLETE = run_box.COMPLETE
NODE = run_box.NODE
REFUSED = run_box.REFUSED
RUNNING = run_box.RUNNING


class TestFinishing(run_box.TestCase):

    def test_it_can_be_kept(self):
        self.box.said = [COMPLETE]
        self.box.run(keep=True)

        self.assertNotIn('delete', self.box.called)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_results_count_although_the_rest_cannot_be_removed(self):
        self.box.said = [COMPLETE]
        self.box.fails['delete'] = REFUSED

        self.assertEqual(verdict.FAILED, self.box.run().verdict.outcome)
        self.assertEqual(runs.RETRIEVED, self.box.stage)

    def test_namespaces_of_tests_are_named_and_left(self):
        self.box.said = [COMPLETE]
        self.box.lists['namespaces'].append(
            {'metadata': {'name': 'pods-1', 'labels': {'e2e-run': 'x'}}})
        with mock.patch.object(self.box.runtime.progress, 'info') as info:
            self.box.run()

        self.assertEqual(['pods-1'], [
            s['metadata']['name'] for s in self.box.lists['namespaces']])
        self.assertIn('kubectl delete namespace pods-1',
                      info.call_args.args[0])

    def test_a_deadline_leaves_the_run_to_be_looked_at(self):
        self.box.log = run_box.LOG.decode()
        ended = self.box.run(plan=runner.Plan(mode=model.QUICK, timeout=60))

        self.assertEqual(verdict.HARNESS_ERROR, ended.verdict.outcome)
        self.assertIn('longer than 60 s', ended.verdict.reasons[0])
        self.assertEqual('Will run 1 of 2 specs\n' * 2, (
            self.box.base / 'results' / 'r.log').read_text())
        self.assertNotIn('delete', self.box.called)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_an_api_that_is_away_for_good_keeps_the_run(self):
        self.box.said = [RUNNING, REFUSED]
        self.box.runtime = dataclasses.replace(
            self.box.runtime, limits=completion.Limits(9999, silence=60))
        items = self.box.lists['pods']

        def away(path, **query):
            if 'status' in self.box.called:
                raise kube.KubeError('no route')
            return [NODE] if path.endswith('nodes') else (
                [] if path.endswith('events') else items)

        reader = self.box.reader()
        reader.items.side_effect = away
        with mock.patch.object(kube, 'Client', return_value=reader):
            ended = self.box.run()

        self.assertEqual(verdict.HARNESS_ERROR, ended.verdict.outcome)
        self.assertEqual(runs.STARTED, self.box.stage)

    def test_what_was_wrong_with_the_cluster_is_in_the_verdict(self):
        self.box.lists['pods'].append(
            {'metadata': {'name': 'p', 'namespace': 'default'}})
        self.box.said = [RUNNING, COMPLETE]

        ended = self.box.run()

        sign = 'cluster DNS: none of its pods is ready'
        self.assertEqual((sign,), ended.result.cluster_warnings)
        self.assertIn(f'seen in the cluster: {sign}', ended.verdict.reasons)
        self.assertEqual((sign,), self.box.runtime.store.load('r').signs)

    def test_files_of_hydrophone_that_broke_off_are_fetched_again(self):
        """The API server goes away while they are downloaded."""
        files = self.box.base / 'results' / 'r'

        def cut(argv, **kwargs):
            (files / 'e2e.log').write_bytes(run_box.LOG)
            (files / 'junit_01.xml').write_bytes(run_box.JUNIT[:50])
            raise REFUSED

        with mock.patch.object(processes, 'run', cut):
            ended = self.box.run(backend=model.HYDROPHONE)
        self.assertEqual(verdict.HARNESS_ERROR, ended.verdict.outcome)
        self.assertEqual(runs.STARTED, self.box.stage)

        ended = lifecycle.resume('r', self.box.runtime)
        self.assertEqual(1, len(ended.result.ran))
        self.assertEqual(runs.ENDED, self.box.stage)

    def test_hydrophone_gives_the_same_kind_of_result(self):
        ended = self.box.run(backend=model.HYDROPHONE)

        self.assertEqual((model.HYDROPHONE, 1), (
            ended.result.backend, len(ended.result.ran)))
        # Its log has no end.
        self.assertEqual(verdict.INCOMPLETE, ended.verdict.outcome)
        self.assertEqual(runs.ENDED, self.box.stage)
