# SPDX-License-Identifier: Apache-2.0

"""Runs of plain "sonobuoy run" on a real API server are found."""

import datetime

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest import toolchain
from tests.functional import real_api


class TestForeign(testtools.TestCase):

    def setUp(self):
        super().setUp()
        server = self.useFixture(real_api.RealApi())
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(server.folder / 'state')))
        self.program = toolchain.ensure(
            ['sonobuoy'], progress.Silent())['sonobuoy']
        self.kubeconfig, self.api = server.kubeconfig, server.api
        self.runtime = lifecycle.Runtime(progress=progress.Silent())

    def begin(self, *arguments):
        processes.run([self.program, 'run', '--kubeconfig', self.kubeconfig,
                       '--skip-preflight', *arguments], timeout=180)

    def where(self, namespace=''):
        return elsewhere.Elsewhere(
            runs.Target(kubeconfig=str(self.kubeconfig)), namespace)

    def test_runs_are_told_apart_and_looked_at(self):
        self.begin('--mode', 'certified-conformance')
        self.begin('--namespace', 'mine', '--plugin', 'e2e')

        for where, namespace in ((self.where(), 'sonobuoy'),
                                 (self.where('mine'), 'mine')):
            record, state = lifecycle.observe(where, self.runtime)
            began = datetime.datetime.fromisoformat(record.started)
            now = datetime.datetime.now(datetime.timezone.utc)
            space = self.api.get(f'/api/v1/namespaces/{namespace}')
            self.assertEqual(
                (namespace, model.SONOBUOY, space['metadata']['uid'], True,
                 ''),
                (record.plan.namespace, record.backend, record.uid,
                 0 <= (now - began).total_seconds() < 300, state.outcome))
            # There is no scheduler.
            self.assertEqual(['Pending'], [
                pod.phase for pod in state.seen.pods])
        error = self.assertRaises(errors.UsageError, lifecycle.observe,
                                  self.where('default'), self.runtime)
        self.assertIn('no run in the namespace default', str(error))
