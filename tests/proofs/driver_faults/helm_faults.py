# SPDX-License-Identifier: Apache-2.0

"""Helm is missing, is killed halfway, or has left a release pending."""

from magnum_capi_tempest import resources
from tests.proofs.driver_faults import bench as bench_module
from tests.proofs.driver_faults import steps

#: Seconds for which helm is missing.
MISSING = 20

_BY_NAME = {
    operation: {step.text: step for step in getattr(steps, operation.upper())}
    for operation in ('create', 'upgrade', 'delete')}


def missing(box):
    """The program is missing for a while."""
    with bench_module.Bench(box) as bench:
        name = f'helm missing, for {MISSING} s'
        created, resized, upgraded, deleted = cases = [
            bench.case(name, what)
            for what in ('create', 'resize', 'upgrade', 'delete')]
        bench.ready(cases[1:])
        box.helm_away()
        try:
            created.create()
            resized.resize(2)
            upgraded.upgrade()
            deleted.delete()
            bench.settle(cases, MISSING)
        finally:
            box.helm_back()
        yield from bench.finish()


def killed(box):
    """SIGKILL only for helm; the conductor sees it end."""
    chosen = [('create', 'helm has noted its revision'),
              ('create', 'helm has made the Cluster'),
              ('upgrade', 'helm has noted its revision'),
              ('upgrade', 'helm has changed the control plane'),
              ('delete', 'helm has noted what it does'),
              ('delete', 'helm has deleted the Cluster')]
    with bench_module.Bench(box) as bench:
        cases = [bench.case('helm killed -9', f'{operation}: {text}')
                 for operation, text in chosen]
        bench.ready([case for case, (operation, _) in zip(cases, chosen)
                     if operation != 'create'])
        with bench.held(*((case, getattr(case, operation),
                           _BY_NAME[operation][text])
                          for case, (operation, text)
                          in zip(cases, chosen))) as holds:
            for case, hold in zip(cases, holds):
                box.kill_helms(case.release)
                hold.release(False)
        yield from bench.finish()


def pending(box):
    """A release that an operator's helm left pending, then a resize.

    It is a real helm, killed when it has noted its revision. pending-install
    is left by a create (see kills) and impossible for a complete cluster.
    """
    with bench_module.Bench(box) as bench:
        upgraded, rolled_back = cases = [
            bench.case(f'release left {status}', 'before a resize')
            for status in ('pending-upgrade', 'pending-rollback')]
        bench.ready(cases, workers=2)
        # A rollback needs an earlier revision.
        rolled_back.resize(1)
        bench.ready_again(rolled_back)
        chart = resources.find('sandbox/charts/sandbox-cluster')
        _leave_pending(
            bench, upgraded, 'upgrade', str(chart), '--reuse-values')
        _leave_pending(bench, rolled_back, 'rollback')
        upgraded.resize(1)
        rolled_back.resize(2)
        yield from bench.finish()


def _leave_pending(bench, case, verb, *argv):
    """Start an operator's helm command on a release, and kill it."""
    hold = bench.box.proxy.hold(_BY_NAME['upgrade'][
        'helm has noted its revision'].rule(case.release))
    try:
        with bench.box.helm_of_operator(
                bench.namespace(case), verb, case.release, *argv):
            bench.wait_held([hold])
    finally:
        bench.box.proxy.forget(hold)
