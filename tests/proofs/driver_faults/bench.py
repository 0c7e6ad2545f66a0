# SPDX-License-Identifier: Apache-2.0

"""The clusters of one batch, observed in turn."""

import collections
import concurrent.futures
import contextlib
import dataclasses

from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi import errors
from magnum_capi import waiting
from tests.functional import cloud
from tests.proofs import boxes
from tests.proofs.driver_faults import case as case_module
from tests.proofs.driver_faults import leaks
from tests.proofs.driver_faults import steps
from tests.proofs.driver_faults import table

_CLUSTERS = '/apis/cluster.x-k8s.io/v1beta1/clusters'
_MACHINES = '/apis/cluster.x-k8s.io/v1beta1/machines'

#: Seconds until a case must end.
PATIENCE = 300

#: Seconds for a cluster without any fault, and for its deletion.
WELL = 480

#: Seconds until operations have reached the steps at which they stop.
HELD = 90

#: Seconds after which the sender of a held request may have given up:
#: read_timeout is 30 s.
STALE = 25

_PACE = waiting.Pace(0.3, 1.3, 1.0)
_FAST = waiting.Pace(0.02, 1.2, 0.2)


class Bench:
    """The user and the clusters of one batch; a context manager.

    :param box: box.Box.
    """

    def __init__(self, box):
        self.box = box
        self.cases = []
        self.user = cloud.Cloud(box.sandbox)
        self.templates = boxes.templates(self.user)
        self.search = leaks.Search(box, self.user)
        self.pool = concurrent.futures.ThreadPoolExecutor(16)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_args):
        if kind is not None and issubclass(kind, errors.MagnumCapiError):
            # The next batch needs an intact and empty sandbox.
            self.box.up()
            self._delete([c for c in self.cases if c.uuid])
        self.pool.shutdown(wait=False, cancel_futures=True)

    def case(self, fault, when, remark='') -> case_module.Case:
        found = case_module.Case(self, fault, when, remark)
        self.cases.append(found)
        return found

    def operations(self, fault):
        """A case for each operation, ready to be requested.

        :returns: cases of a status, create, resize, upgrade and delete; the
            first one is a cluster whose creation Cluster API has taken over.
        """
        cases = [self.case(fault, what) for what in (
            'status: creation under way', 'create', 'resize', 'upgrade',
            'delete')]
        self.ready(cases[2:])
        cases[0].create(flavor='slow.node')
        self.wait_helm_ended(cases[0])
        return cases

    def ready(self, cases, workers=1):
        """Create clusters and wait until they are complete."""
        for case in cases:
            case.create(workers)
        self.ready_again(*cases)

    def ready_again(self, *cases):
        """Wait until clusters are in their desired state, without any fault.

        :raises MagnumCapiError: one is not.
        """
        self.settle(cases, WELL)
        for case in cases:
            if case.end != table.REACHED:
                raise errors.MagnumCapiError(
                    'A cluster without any fault is not ready',
                    last_seen=case.row())
            case.mark()

    def namespace(self, case):
        """Namespace of the objects of a cluster."""
        found, = [c['metadata']['namespace']
                  for c in self.box.api.get(_CLUSTERS)['items']
                  if c['metadata']['name'] == case.release]
        return found

    def wait_helm_ended(self, case):
        """Wait until a creation has been handed to Cluster API."""
        hold = self.box.proxy.hold(steps.UNLOCK.rule(case.release))
        try:
            self.wait_held([hold])
        finally:
            hold.release()
            self.box.proxy.forget(hold)

    @contextlib.contextmanager
    def held(self, *stops):
        """Request operations, each to be stopped at a step.

        :param stops: tuples of a case, a function without arguments that
            sends the request, and the steps.Step.
        :returns: proxy.Hold of each, in a context manager.
        """
        proxy, holds = self.box.proxy, []
        try:
            # A new cluster has no uuid before its request.
            with proxy.gate():
                for case, ask, step in stops:
                    ask()
                    holds.append(proxy.hold(step.rule(case.release)))
            self.wait_held(holds)
            yield holds
        finally:
            for hold in holds:
                proxy.forget(hold)

    def wait_held(self, holds):
        """Wait until all are stopped.

        :raises MagnumCapiError: one is not, or is stopped for too long.
        """
        waiting.wait_for(
            lambda: [h.rule.pattern for h in holds if not h.reached],
            done=lambda missing: not missing, timeout=HELD,
            what='operations to reach their steps', pace=_FAST)
        stale = {h.rule.pattern: round(h.age) for h in holds
                 if h.age > STALE}
        if stale:
            raise errors.MagnumCapiError(
                'Operations were held for too long until the others had '
                'reached their steps', last_seen=stale)

    def settle(self, cases, timeout=PATIENCE):
        """Observe cases until all have ended, or for ``timeout`` s."""
        def poll():
            waits = [c for c in cases if c.end is None]
            for case in waits:
                case.observe(self.truth)
            return [c for c in cases if c.end is None]

        with contextlib.suppress(errors.WaitTimeout):
            waiting.wait_for(poll, done=lambda left: not left,
                             timeout=timeout, what='the cases to end',
                             pace=_PACE)
        for case in cases:
            if case.end is None:
                case.seconds = timeout

    def finish(self) -> list[table.Row]:
        """Wait for the cases to end, cure, delete, and search leftovers."""
        self.settle(self.cases)
        rows = {case: case.row() for case in self.cases}
        self._cure(rows)
        self._delete([c for c in self.cases if c.end != table.REACHED
                      or c.goal.workers is not None])
        left = {case: self.search.wait_gone(case.uuid) for case in rows}
        others = self.search.wait_no_others()
        return [dataclasses.replace(row, left=(*left[case], *others))
                for case, row in rows.items()]

    def _delete(self, cases):
        for case in cases:
            case.mark()
            case.delete()
        self.settle(cases, WELL)

    def _cure(self, rows):
        """Do what a user would do after a failure."""
        ill = [case for case in rows
               if case.end in (table.FAILED, table.REFUSED)]
        again = {case: case.again or case.delete for case in ill}
        # Magnum does not upgrade clusters in UPDATE_FAILED, but resizes them
        # (magnum 23.0.0, cluster_conductor.py, allow_update_status).
        stuck = [case for case in ill
                 if case.end == table.FAILED and case.is_upgrade]
        for case in stuck:
            case.resize(case.goal.workers)
        self.settle(stuck)
        for case in ill:
            again[case]()
        self.settle(ill)
        for case in ill:
            what = 'delete' if case.goal.workers is None else 'ask again'
            if case in stuck:
                what = 'resize to the same size, then ask again'
            rows[case] = dataclasses.replace(
                rows[case], cure=(what, case.end == table.REACHED))

    def truth(self) -> dict:
        """Current Truth of the management cluster, by release."""
        found = collections.defaultdict(list)
        for machine in self.box.api.get(_MACHINES)['items']:
            found[machine['spec']['clusterName']].append(machine)
        return {release: _truth(of) for release, of in found.items()}


def _truth(found):
    running = [m for m in found
               if m.get('status', {}).get('phase') == 'Running']
    masters = sum(machines.CONTROL_PLANE in conditions.labels(m)
                  for m in running)
    return table.Truth(
        masters, len(running) - masters, len(found) - len(running),
        frozenset(m['spec'].get('version') for m in found))
