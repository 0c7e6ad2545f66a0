# SPDX-License-Identifier: Apache-2.0
"""Failures run again with the real Sonobuoy, in a scripted cluster."""

import re
import subprocess
import sys

import yaml

from magnum_capi_tempest.conformance import rerun
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
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

    def rerun(self, archive, *arguments):
        """Have the command rerun failures; returns code, output, cluster."""
        cluster = self.cluster(base.running(), base.complete(archive),
                               execs=[self.sent(archive)])
        process = subprocess.run(
            [sys.executable, '-m', 'magnum_capi.cli.main', 'conformance',
             'run', '--rerun', by_hand.PARALLEL, '--kubeconfig',
             cluster.kubeconfig, '--output', self.base / 'again',
             *arguments], stdout=subprocess.PIPE, text=True, timeout=600)
        return process.returncode, process.stdout, cluster

    def test_sonobuoy_is_asked_for_exactly_the_failures(self):
        code, said, cluster = self.rerun(
            by_hand.RERUN, '--keep', '--parallel', '2')

        first = by_hand.real(by_hand.PARALLEL)
        given = self.variables(cluster)
        matched = [s.name for s in first.specs if re.search(
            given['E2E_FOCUS'], f'{runner.SUITE} {s.name}')]
        self.assertEqual(sorted(rerun.wanted(first)), sorted(matched))
        # A skip could hide one of them.
        self.assertNotIn('E2E_SKIP', given)
        self.assertEqual(0, code, said)
        self.assertIn('The verdict of the first run remains: ', said)
        self.assertEqual(4, said.count('flaky'), said)
        self.assertIn(str(self.base / 'again'), said)

    @boxes.LONG
    def test_the_first_run_says_how(self):
        """Its run.json names cluster and options."""
        _, _, cluster = self.rerun(by_hand.RERUN, '--parallel', '2')
        self.assertEqual({}, cluster.objects)
        record = runs.load(self.base / 'again')

        self.assertEqual((2, str(cluster.kubeconfig)), (
            record.plan.parallel, record.target.kubeconfig))
