# SPDX-License-Identifier: Apache-2.0

"""One cluster: the user's requests to Magnum, and what is observed."""

import contextlib
import dataclasses
import threading
import time

import requests

from magnum_capi.driver.desired import names
from tests.proofs import boxes
from tests.proofs.driver_faults import table

#: Seconds for which a failure must last: an old one may be visible for a
#: moment.
_QUIET = 15


class Case:
    """One cluster, its requests, and what is observed.

    :param when: when the fault strikes.
    """

    def __init__(self, bench, fault, when, remark=''):
        self.fault, self.when, self.remark = fault, when, remark
        self.uuid = None
        self.release = None
        self.goal = None
        self.again = None
        self.end = None
        self.seconds = 0.0
        self.untrue = set()
        self._bench = bench
        self._began = 0.0
        self._answers = {}
        self._seen = []
        self._reasons = []
        self._quiet_since = None
        self._pending = None
        self._may_be = ()

    def create(self, workers=1, flavor=None):
        """Request the cluster."""
        body = {'name': f'f{time.monotonic_ns():x}',
                'cluster_template_id': self._bench.templates[boxes.OLD],
                'keypair': 'demo', 'master_count': 1, 'node_count': workers}
        if flavor:
            body['flavor_id'] = flavor
        self._begin(self._old(workers), None)
        answer = self._ask('POST', 'clusters', body)
        answer.raise_for_status()
        self.uuid = answer.json()['uuid']
        self.release = names.cluster(self.uuid)

    def resize(self, workers):
        """Request another number of workers."""
        self._begin(self._old(workers),
                    lambda: self.resize(workers))
        self._ask('POST', f'clusters/{self.uuid}/actions/resize',
                  {'node_count': workers})

    def resize_beside(self, workers):
        """Request a resize while an upgrade is under way."""
        goal = dataclasses.replace(self.goal, workers=workers)
        self.resize(workers)
        self.goal, self.again = goal, lambda: self.upgrade(workers)

    def resize_twice(self, first, second, apart):
        """Request two resizes at nearly the same time.

        Magnum may take them in either order; its node group shows which.
        """
        self._begin(self._old(second),
                    lambda: self.resize(second))
        path = f'clusters/{self.uuid}/actions/resize'
        asked = []
        for workers in (first, second):
            asked.append(self._bench.pool.submit(
                self._ask, 'POST', path, {'node_count': workers}))
            threading.Event().wait(apart)
        for answer in asked:
            answer.result()
        self._may_be = first, second

    def upgrade(self, workers=1):
        """Request an upgrade, without waiting for Magnum's answer."""
        template = self._bench.templates[boxes.NEW]
        self._begin(table.Goal(workers, boxes.NEW, template),
                    lambda: self.upgrade(workers))
        self._pending = self._bench.pool.submit(
            self._ask, 'POST', f'clusters/{self.uuid}/actions/upgrade',
            # Without max_batch_size Magnum 23.0.0 answers 500.
            {'cluster_template': template, 'max_batch_size': 1}, 180)

    def delete(self):
        """Request the deletion."""
        self._begin(table.Goal(None), self.delete)
        self._ask('DELETE', f'clusters/{self.uuid}')

    def _old(self, workers):
        """The goal of so many workers, of the first template."""
        return table.Goal(workers, boxes.OLD,
                          self._bench.templates[boxes.OLD])

    def _begin(self, goal, again):
        self._began = time.monotonic()
        self.goal, self.again = goal, again
        self.end, self._quiet_since = None, None
        self._may_be = ()

    def mark(self):
        """Begin the case; drop earlier observations."""
        self.goal = self.end = None
        self._seen.clear()
        self._reasons.clear()
        self._answers.clear()

    def _ask(self, method, path, body=None, timeout=90):
        what = f'{method} {path.rpartition("/")[2]}'
        if path.count('/') == 1:
            what = f'{method} cluster'
        try:
            answer = self._bench.user.magnum(method, path, body, timeout)
        except requests.RequestException as e:
            self._answers[what] = 'no answer'
            self._reasons.append(f'no answer ({type(e).__name__})')
            return None
        self._answers[what] = answer.status_code
        if answer.status_code >= 400:
            with contextlib.suppress(ValueError, LookupError):
                self._reasons.append(answer.json()['errors'][0]['detail'])
        return answer

    @property
    def is_upgrade(self):
        return self.goal.version == boxes.NEW

    @property
    def is_told(self):
        """Whether all requests have been answered."""
        return self._pending is None or self._pending.done()

    @property
    def is_refused(self):
        return any(code == 'no answer' or code >= 400
                   for code in self._answers.values())

    def observe(self, truth):
        """Observe both sides once; sets ``end`` when the case has ended."""
        state = self._bench.user.observe(self.uuid, timeout=20)
        said = state.trouble or state.status or 'gone'
        if state.trouble:
            said = f'GET {state.trouble.partition(":")[0]}'
        if not self._seen or self._seen[-1] != said:
            self._seen.append(said)
        reason = state.status_reason
        if reason and not reason.startswith('Waiting for') and (
                reason not in self._reasons):
            self._reasons.append(reason)
        if self._may_be and state.nodegroup and (
                state.nodegroup['node_count'] in self._may_be):
            self._take_order(state.nodegroup['node_count'])
        after = truth().get(self.release, table.Truth())
        if not state.trouble and self.goal.workers is not None and (
                self.goal.is_said(state) and not self.goal.is_true(after)):
            # Machines that existed a moment ago may have just gone.
            self.untrue.add(f'{state.status} with {after}')
        if self.goal.is_reached(state, after):
            self._finish(table.REACHED, time.monotonic())
        elif (state.status or '').endswith('_FAILED'):
            self._unless_it_changes(table.FAILED)
        elif self.is_told and self.is_refused and (
                state.status or '').endswith('_COMPLETE'):
            self._unless_it_changes(table.REFUSED)
        else:
            self._quiet_since = None

    def _take_order(self, count):
        self.goal = dataclasses.replace(self.goal, workers=count)
        self.remark = '' if count == self._may_be[-1] else (
            'Magnum took them in the other order')

    def _unless_it_changes(self, end):
        now = time.monotonic()
        self._quiet_since = self._quiet_since or now
        if now - self._quiet_since >= _QUIET:
            self._finish(end, self._quiet_since)

    def _finish(self, end, when):
        self.end = end
        self.seconds = when - self._began

    def row(self) -> table.Row:
        """The result of the case."""
        return table.Row(
            self.fault, self.when, tuple(self._seen), tuple(self._reasons),
            tuple(f'{what} {code}' for what, code in self._answers.items()),
            self.end or table.HANGS, None, round(self.seconds, 1), (),
            tuple(sorted(self.untrue)), self.remark)
