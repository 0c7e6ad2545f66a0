# SPDX-License-Identifier: Apache-2.0


"""Runs conformance tests and a workload inside the clusters of a test."""

import collections.abc
import contextlib
import dataclasses
import json
import os
import pathlib
import time

import fixtures
from tempest import config

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import json_types
from magnum_capi_tempest import option_files
from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common.workloads import serving

CONF = config.CONF

#: Of the workload, unless the fixture names one that the nodes have.
IMAGE = 'registry.k8s.io/e2e-test-images/agnhost:2.56'

#: File in the results with the seconds that each phase of a test took.
PHASES = 'phases.json'


def plan() -> option_files.ConformancePlan:
    """What tempest.conf wants to be run.

    :raises UsageError: it wants nothing, or its file cannot be read.
    """
    found = option_files.conformance_plan(CONF.magnum_capi.conformance_plan)
    if not found:
        raise errors.UsageError('conformance_plan is not set',
                                where='[magnum_capi] of tempest.conf')
    return found


def results() -> str:
    """Folder of archives and reports; empty: they are not kept."""
    artefacts = CONF.magnum_capi.artifact_dir
    return plan().results or (
        os.path.join(artefacts, 'conformance') if artefacts else '')


def _run(wanted: option_files.ConformancePlan) -> runner.Plan:
    """The conformance run of a plan."""
    return runner.Plan(
        mode=wanted.mode, expression=wanted.focus, skip=wanted.skip,
        parallel=wanted.parallel, timeout=wanted.timeout,
        stand_in=os.environ.get(model.STAND_IN_VARIABLE) == model.STAND_IN)


class Inside(fixtures.Fixture):
    """What a test does in clusters that run pods, and how long it took."""

    def __init__(self, test: operations.BaseOperationsTest) -> None:
        self._test = test
        self._phases: dict[str, float] = {}

    def _setUp(self) -> None:
        self.addCleanup(self._tell_phases)

    @contextlib.contextmanager
    def phase(self, what: str) -> collections.abc.Iterator[None]:
        """Measure a phase of a test."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._phases[what] = round(time.monotonic() - began, 1)

    def _tell_phases(self) -> None:
        """Attach how long each phase took, and store it with the results."""
        if not self._phases:
            return
        self._test.addDetail('seconds by phase', details.text(self._phases))
        folder = results()
        if folder:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, PHASES), 'w',
                      encoding='utf-8') as file:
                json.dump(self._phases, file, indent=1)

    def assert_conforms(self, cluster: json_types.Object, when: str = ''
                        ) -> None:
        """Assert that the conformance tests run in a cluster, and all pass.

        :param when: what was done to the cluster; names a results folder.
        """
        ended = self.run_conformance(cluster, when)
        self._test.assertEqual(verdict.PASSED, ended.outcome,
                               ', '.join(ended.reasons))
        self._test.assertGreater(len(ended.result.ran), 0)

    def run_conformance(self, cluster: json_types.Object, when: str = ''
                        ) -> verdict.Verdict:
        """Run the conformance tests in a cluster and keep their results."""
        private = self.useFixture(fixtures.TempDir()).path
        folder = pathlib.Path(results() or private, cluster['name'],
                              when)
        ended = lifecycle.run(lifecycle.RunRequest(
            runs.Target(kubeconfig=self._test.kubeconfig(cluster)),
            _run(plan()), folder.absolute()), lifecycle.Runtime())
        ended = self._named(ended, cluster)
        shown = report.view(ended)
        report.write(folder, shown)
        self._test.addDetailUniqueName('conformance', details.text(
            {'verdict': shown.run.verdict,
             'counts': dict(ended.result.counts),
             'reasons': ended.reasons,
             'facts': dict(shown.run.facts)}))
        return ended

    def _named(self, ended: verdict.Verdict, cluster: json_types.Object
               ) -> verdict.Verdict:
        """The results of a run, with what Magnum knows about its cluster."""
        template = self._test.magnum.templates.show_cluster_template(
            cluster['cluster_template_id'])
        known = ended.result.cluster
        result = dataclasses.replace(
            ended.result, cluster=dataclasses.replace(
                known, name=cluster['name'],
                driver=template.get('driver') or '',
                cni=known.cni or template.get('network_driver') or '',
                image=template.get('image_id') or ''))
        return verdict.judge(result)

    def start_workload(self, cluster: json_types.Object) -> serving.Serving:
        """Start a workload that serves traffic: serving.Serving."""
        workload = serving.Serving(
            self._test.kubeconfig(cluster),
            flags.fixture().workload_image or IMAGE,
            CONF.magnum_capi.build_timeout)
        workload.start()
        return workload

    def assert_serves(self, workload: serving.Serving) -> None:
        """Assert that every node's pods can reach those of all other nodes."""
        workload.wait()
        self._test.assertGreater(workload.reach_each_other(), 0,
                                 'There is only one node')

    @contextlib.contextmanager
    def answering(self, workload: serving.Serving
                  ) -> collections.abc.Iterator[None]:
        """Assert that a workload answers until the block ends.

        The measurements are attached to the results.
        """
        with workload.watched() as found:
            try:
                yield
            finally:
                # Even if the change has failed.
                seen = found.stop()
                self._test.addDetailUniqueName(
                    'answers of the workload', details.text(str(seen)))
                self._phases['longest without an answer'] = round(
                    seen.ways['address'].gap, 1)
        answers = seen.ways['address']
        self._test.assertGreater(
            answers.rounds, 0, 'No client of the workload logged anything')
        self._test.assertLessEqual(
            answers.gap, plan().workload_gap,
            f'The workload did not answer: {seen}')
