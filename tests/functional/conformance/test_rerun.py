# SPDX-License-Identifier: Apache-2.0
"""Failures run again with the real Sonobuoy, in a scripted cluster."""

import json
import re
import subprocess
import sys

import yaml

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance import rerunning
from magnum_capi_tempest.conformance.run import runner
from tests.functional import boxes
from tests.functional.conformance import base as base
from tests.functional.conformance import scripted_cluster as scripted
from tests.unit.conformance import by_hand

PLUGIN = f'{scripted.SPACE}/configmaps/sonobuoy-plugins-cm'


class TestRerun(base.BaseTest):

    def variables(self, cluster):
        """Variables of the e2e plugin in the created run."""
        plugin, = cluster.objects[PLUGIN]['data'].values()
        return {one['name']: one.get('value', '')
                for one in yaml.safe_load(plugin)['spec']['env']}

    def cluster_of(self, archive):
        return self.cluster(base.running(), base.complete(archive),
                            execs=[self.sent(archive)])

    def test_sonobuoy_is_asked_for_exactly_the_failures(self):
        first = by_hand.real(by_hand.PARALLEL)
        cluster = self.cluster_of(by_hand.RERUN)
        request = self.request(cluster, keep=True, plan=runner.Plan(
            mode=model.NON_DISRUPTIVE, skip='ConfigMap', parallel=2))

        ended, results = rerunning.execute(first, request, self.runtime)

        given = self.variables(cluster)
        matched = [s.name for s in first.specs if re.search(
            given['E2E_FOCUS'], f'{rerun.SUITE} {s.name}')]
        self.assertEqual(sorted(rerun.wanted(first)), sorted(matched))
        # A skip of the first run must not hide a failure of it.
        self.assertNotIn('E2E_SKIP', given)
        self.assertEqual((0, ()), (ended.exit_code, ended.deviations))
        self.assertEqual({rerun.FLAKY}, {one.outcome for one in ended.again})
        self.assertEqual([4], [len(result.ran) for result in results])

    @boxes.LONG
    def test_something_else_ran(self):
        first = by_hand.real(by_hand.PARALLEL)
        cluster = self.cluster_of(by_hand.QUICK)

        ended, _ = rerunning.execute(
            first, self.request(cluster), self.runtime)

        self.assertEqual(3, ended.exit_code)
        self.assertIn('[sig-node] Pods should be submitted and removed '
                      '[NodeConformance] [Conformance] ran and was not asked '
                      'for', ended.deviations)

    @boxes.LONG
    def test_command(self):
        cluster = self.cluster_of(by_hand.RERUN)
        page = self.base / 'page.html'

        process = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main',
             'conformance', 'rerun', by_hand.PARALLEL, '--kubeconfig',
             cluster.kubeconfig, '--results', self.base / 'results',
             '--html', page, '-f', 'json'],
            stdout=subprocess.PIPE, timeout=600)

        self.assertEqual(0, process.returncode)
        data = json.loads(process.stdout)
        self.assertEqual('failed', data['conformance']['outcome'])
        self.assertEqual(['flaky'] * 4, [
            one['outcome'] for one in data['conformance']['reruns']])
        self.assertIn('The verdict above remains that of the first run',
                      page.read_text())
        self.assertEqual({}, cluster.objects)
