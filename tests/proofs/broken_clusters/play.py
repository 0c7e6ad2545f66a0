# SPDX-License-Identifier: Apache-2.0


"""Runs a case: breaks a cluster, runs the tests, reads the report."""

import contextlib
import dataclasses
import threading

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.kubeclient import kube
from tests.proofs.broken_clusters import cases

#: Shorter than the defaults: waiting does not help here.
LIMITS = watch.Limits(deadline=1500, stall=900, silence=300, stuck=90,
                      gone=60)

#: Seconds until the tests' pod runs.
_BEGINS = 300


def play(box, case, target, folder) -> tuple[str, int, str]:
    """Run the tests in a cluster that a case breaks.

    :param box: box.Box.
    :param folder: for the files of the run.
    :returns: the outcome, or cases.NOT_BEGUN; the exit code; the report.
    :raises MagnumCapiError: the cluster could not be broken.
    """
    with box.machines(target) as machines, contextlib.ExitStack() as stack:
        if case.prepare:
            case.prepare(machines)
        if case.when == cases.BEFORE:
            case.breaks(machines)
        else:
            breaker = stack.enter_context(_later(box, case, target, machines))
        found = _run(box, case, target, folder)
        if case.when == cases.DURING and breaker.error:
            raise breaker.error
    return found


def _run(box, case, target, folder):
    """Outcome, exit code and report of a run."""
    runtime = lifecycle.Runtime(
        progress=box.progress, connect=box.user, limits=LIMITS)
    # With a machine off, nothing of an earlier run can be removed.
    plan = dataclasses.replace(case.plan, namespace=f'conformance-{case.name}')
    try:
        ended = lifecycle.run(lifecycle.RunRequest(
            target, plan, (folder / case.name).absolute()), runtime)
    except errors.EnvironmentProblem as e:
        return cases.NOT_BEGUN, e.exit_code, str(e)
    written = report.write(folder / case.name, report.view(ended))
    return (ended.outcome, ended.exit_code,
            written['report.md'].read_text(encoding='utf-8'))


class _Breaker(threading.Thread):
    """Breaks the cluster as soon as the tests run."""

    error = None

    def __init__(self, box, case, target, machines):
        super().__init__(daemon=True)
        self._box, self._case = box, case
        self._target, self._machines = target, machines
        self.over = threading.Event()

    def run(self):
        try:
            with kubeconfigs.access(self._target,
                                    self._box.user) as access:
                self._wait(kube.Client(access.kubeconfig))
            if not self.over.is_set():
                self._box.progress.info(f'{self._case.broken}: now')
                self._case.breaks(self._machines)
        except errors.MagnumCapiError as e:
            self.error = e

    def _wait(self, reader):
        path = kube.pod_path(f'conformance-{self._case.name}')

        def phases():
            if self.over.is_set():
                return ['Running']
            try:
                return [p['status'].get('phase') for p in reader.items(
                    path, labelSelector='sonobuoy-plugin=e2e')]
            except kube.KubeError as e:
                return [str(e)]

        waiting.wait_for(phases, done=lambda found: 'Running' in found,
                         timeout=_BEGINS, what='the tests to begin')


@contextlib.contextmanager
def _later(box, case, target, machines):
    breaker = _Breaker(box, case, target, machines)
    breaker.start()
    try:
        yield breaker
    finally:
        breaker.over.set()
        breaker.join(timeout=300)
