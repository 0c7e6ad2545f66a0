# SPDX-License-Identifier: Apache-2.0


"""The real Sonobuoy, run against a scripted cluster.

We survive errors at which Sonobuoy's own ``wait`` gives up.
"""

import dataclasses
import pathlib
import time

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import finishing
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.kubeclient import kube
from tests.functional import boxes
from tests.functional.conformance import base as base
from tests.functional.conformance import scripted_cluster as scripted


def others_run(namespace='theirs'):
    """Another person's run, with a namespace of the tests themselves."""
    labels = {'component': 'sonobuoy', 'namespace': namespace}
    role = f'sonobuoy-serviceaccount-{namespace}'
    return {
        '/api/v1/namespaces/pods-4711': {'metadata': {
            'name': 'pods-4711', 'labels': {
                'e2e-framework': 'pods', 'e2e-run': 'theirs'}}},
        f'/api/v1/namespaces/{namespace}': {'metadata': {
            'name': namespace}},
        **{f'{scripted.RBAC}/{kind}/{role}': {'metadata': {
            'name': role, 'labels': labels}}
            for kind in ('clusterroles', 'clusterrolebindings')}}


class TestStatus(base.BaseTest):
    """Ten states; Sonobuoy's exit codes say little about them."""

    def observe(self, now, **parts):
        cluster = self.cluster(now, running=True, **parts)
        return self.look_at(cluster)

    def look_at(self, cluster):
        return watch.observe(self.program(cluster),
                             kube.Client(cluster.kubeconfig), time)

    def test_words_of_the_aggregator(self):
        for word in ('running', 'post-processing', 'complete', 'failed'):
            seen = self.observe(base.running(word))
            # Nothing is complete without an archive.
            self.assertEqual(('post-processing' if word == 'complete'
                              else word, ''), (
                seen.status and seen.status.state, seen.error))

    def test_prose_in_the_place_of_json(self):
        """Exit code 0 in all cases except a failed pod."""
        for phase, words in (('Pending', 'Pending'),
                             ('Running', 'unable to obtain'),
                             ('Succeeded', 'ran successfully but')):
            seen = self.observe(phase)
            self.assertEqual('', seen.status.state)
            self.assertIn(words, seen.status.message)
            self.assertEqual('', seen.error)

    def test_a_failed_pod(self):
        seen = self.observe('Failed')
        self.assertIn('Failed', seen.error)

    def test_nothing_that_is_there(self):
        cluster = self.cluster()
        seen = self.look_at(cluster)

        self.assertEqual((None, '', ()), (seen.status, seen.error, seen.pods))

    def test_only_what_belongs_to_the_run_is_read(self):
        cluster = self.cluster(base.running(), running=True)
        self.look_at(cluster)
        watch.observe(self.program(cluster), kube.Client(cluster.kubeconfig),
                      time, whole=False)

        for path in ('/api/v1/pods', '/api/v1/events',
                     '/apis/apps/v1/deployments'):
            self.assertNotIn(f'GET {path}', cluster.asked)
        self.assertEqual(1, cluster.asked.count('GET /api/v1/nodes'))


class TestRun(base.BaseTest):

    def test_a_run_with_hiccups_to_its_verdict(self):
        cluster = self.cluster(
            'Pending', base.running(), 500, None, 503, base.running(),
            base.running('post-processing'), base.complete(base.QUICK),
            execs=[self.sent(base.QUICK)])

        ended = lifecycle.run(self.request(cluster), self.runtime)

        self.assertEqual(verdict.PASSED, ended.outcome)
        self.assertEqual(1, len(ended.result.ran))
        self.assertTrue(ended.result.sha256)
        source = pathlib.Path(ended.result.source)
        self.assertEqual(base.QUICK.read_bytes(), source.read_bytes())
        self.assertTrue(any('answers again' in line
                            for line in self.progress.lines))
        # Nothing is left in the cluster or on this machine.
        self.assertEqual({}, cluster.objects)
        self.assertEqual(runs.ENDED, self.record.stage)
        self.assertEqual(
            [base.QUICK.name, runs.FILE],
            sorted(path.name for path in source.parent.iterdir()))

    @boxes.LONG
    def test_what_is_created(self):
        cluster = self.cluster(base.running(), base.complete(base.QUICK),
                               execs=[self.sent(base.QUICK)])
        lifecycle.run(self.request(cluster, keep=True, plan=runner.Plan(
            mode=model.FOCUSED, expression=runner.exactly(['[sig-x] a (b)']),
            parallel=2,
            env=(('E2E_EXTRA_ARGS', '--allowed-not-ready-nodes=1'),
                 ('KUBE_TEST_REPO', 'r.example/m')))), self.runtime)

        self.assertEqual(
            ['ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'ConfigMap',
             'Namespace', 'Pod', 'Service', 'ServiceAccount'],
            sorted(o['kind'] for o in cluster.objects.values()))
        plugin = cluster.objects[
            f'{scripted.SPACE}/configmaps/sonobuoy-plugins-cm']['data'][
            'plugin-0.yaml']
        for words in (r'(\[sig-x\] +a +\(b\)) *$', '--procs=2',
                      '--allowed-not-ready-nodes=1 --progress-report-url=',
                      'r.example/m', 'registry.k8s.io/conformance:v1.34.9'):
            self.assertIn(words, plugin)
        self.assertEqual(runs.FETCHED, self.record.stage)

    def test_a_namespace_that_exists_is_not_touched(self):
        cluster = self.cluster(base.running(), running=True)
        error = self.assertRaises(errors.EnvironmentProblem, lifecycle.run,
                                  self.request(cluster), self.runtime)

        self.assertIn('abort', str(error))
        self.assertEqual([], [a for a in cluster.asked
                              if not a.startswith('GET')])
        self.assertFalse((self.base / 'r1').exists())

    def test_what_others_run_in_the_cluster_stays(self):
        cluster = self.cluster(base.running(), base.complete(base.QUICK),
                               execs=[self.sent(base.QUICK)])
        theirs = others_run()
        cluster.objects.update(theirs)

        lifecycle.run(self.request(cluster), self.runtime)

        self.assertEqual(theirs, cluster.objects)

    def test_who_was_quicker_keeps_the_namespace(self):
        cluster = self.cluster(base.running())
        theirs = others_run(scripted.NAMESPACE)
        told = self.progress.info

        def tell(text):
            # After the preflight.
            if text.startswith('run quick on '):
                cluster.objects.update(theirs)
            told(text)

        self.progress.info = tell

        self.assertRaises(errors.MagnumCapiError, lifecycle.run,
                          self.request(cluster), self.runtime)

        self.assertEqual(theirs, cluster.objects)
        self.assertEqual(runs.ENDED, self.record.stage)

    def test_a_run_of_others_in_the_place_of_ours_stays(self):
        cluster = self.cluster(base.running(), base.complete(base.QUICK),
                               execs=[self.sent(base.QUICK)])
        lifecycle.run(self.request(cluster, keep=True), self.runtime)
        cluster.objects.clear()
        theirs = others_run(scripted.NAMESPACE)
        cluster.objects.update(theirs)

        lifecycle.abort(self.base / 'r1', self.runtime)

        self.assertEqual(theirs, cluster.objects)

    def test_a_cluster_that_does_not_answer(self):
        cluster = self.cluster()
        cluster.kubeconfig.write_text(cluster.kubeconfig.read_text().replace(
            cluster.url, 'http://127.0.0.1:1'))

        self.assertRaises(errors.EnvironmentProblem, lifecycle.run,
                          self.request(cluster), self.runtime)
        self.assertFalse((self.base / 'r1').exists())

    @boxes.LONG
    def test_logs_of_a_run_that_stalls_are_saved(self):
        tests = {**base.TESTS, 'spec': {
            'nodeName': 'n1', 'containers': [{'name': 'e2e'}]}}
        cluster = self.cluster(base.running(), plugin_pods=[tests],
                               log='Will run 3 of 9 specs\n')
        runtime = dataclasses.replace(
            self.runtime, limits=watch.Limits(600, stall=2))

        ended = lifecycle.run(self.request(cluster), runtime)

        self.assertEqual((verdict.HARNESS_ERROR, 3), (
            ended.outcome, ended.exit_code))
        self.assertIn('nothing has changed', ' '.join(ended.reasons))
        self.assertIn('Will run 3 of 9 specs\n',
                      (self.base / 'r1' / finishing.LOGS).read_text())
        self.assertTrue(cluster.objects)
        lifecycle.abort(self.base / 'r1', runtime)
        self.assertEqual({}, cluster.objects)
