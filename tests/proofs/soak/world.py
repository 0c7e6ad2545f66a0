# SPDX-License-Identifier: Apache-2.0

"""Plays stories in the sandbox, and judges the results."""

import concurrent.futures
import dataclasses
import functools
import threading
import time

from magnum_capi.driver import correction
from magnum_capi import errors
from magnum_capi import waiting
from tests.proofs.driver_faults import leaks
from tests.proofs.soak import faults
from tests.proofs.soak import model
from tests.proofs.soak import observer
from tests.proofs.soak import stories
from tests.proofs.soak import users

#: Seconds until a cluster must be in its desired state, including cures.
PATIENCE = 420

#: Seconds for which all must be well, and the same if a request may still be
#: on its way.
CALM, DOUBTFUL_CALM = 4, 25

#: Seconds for which a failure must last before it is cured, and how often that
#: is tried.
FAILED, CURES = 20, 4


class Broken(Exception):
    """An invariant is broken; the argument has the texts."""


@dataclasses.dataclass
class Outcome:
    """The result of a story.

    :param requests, accepted: numbers of requests.
    :param faults: how many of each kind affected something.
    :param judged: how often a cluster was judged in a quiet period.
    :param broken: texts on broken invariants.
    :param played: number of steps.
    """

    requests: int = 0
    accepted: int = 0
    faults: dict = dataclasses.field(default_factory=dict)
    judged: int = 0
    broken: tuple[str, ...] = ()
    played: int = 0
    seconds: float = 0.0


class World:
    """A sandbox with its users.

    :param box: box.Box.
    :param say: function that prints a text.
    """

    def __init__(self, box, say=print):
        self._box, self._say = box, say
        self._pool = concurrent.futures.ThreadPoolExecutor(16)
        self._users = users.Users(box, self._pool)
        self._observer = observer.Observer(box, self._users)

    def close(self):
        self._pool.shutdown()

    def play(self, story) -> Outcome:
        """Play a story, delete its clusters, and judge everything.

        :raises MagnumCapiError: the sandbox is not intact and empty.
        """
        began, its = time.monotonic(), self._users
        sent, accepted = its.sent, its.accepted
        self._outcome = outcome = Outcome()
        #: Clusters by their names in the story, and all that may still exist.
        self._by_name, self._all = {}, []
        self._faults, self._kills, self._broke = {}, [], False
        #: Maximum number of certificates that Magnum itself may leave.
        self._orphans = 0
        self._search = {name: leaks.Search(self._box, of)
                        for name, of in its.clouds.items()}
        before = self._observer.objects()
        over = threading.Event()
        watcher = self._pool.submit(self._watch, over)
        try:
            for step in story:
                self._say(f'  {step}')
                outcome.played += 1
                self._do(step)
            self._quiet()
            for name in sorted(self._by_name):
                self._do(stories.step('delete', name))
            self._quiet()
            self._nothing_left(before)
        except Broken as e:
            outcome.broken = tuple(e.args[0])
            self._say('\n'.join(f'  BROKEN {text}' for text in e.args[0]))
        finally:
            self._mend()
            its.empty(self._all, PATIENCE)
            over.set()
            watcher.result()
        outcome.requests = its.sent - sent
        outcome.accepted = its.accepted - accepted
        outcome.seconds = round(time.monotonic() - began, 1)
        return outcome

    def _do(self, step):
        cluster = self._by_name.get(step.args[0]) if step.args else None
        if step.op == 'quiet':
            self._quiet()
        elif step.op == 'fault':
            self._break(*step.args)
        elif step.op == 'create':
            cluster = self._users.create(step)
            self._by_name[step.args[0]] = cluster
            self._all.append(cluster)
        elif step.op == 'wait' and cluster:
            if not self._users.wait(cluster):
                self._say('    it is still in progress')
        elif cluster:
            self._users.ask(cluster, step)
            if step.op == 'delete':
                del self._by_name[step.args[0]]

    # Faults.

    def _break(self, kind, of, seconds):
        cluster, what = self._by_name.get(of), kind.partition('-')[0]
        if what in self._faults:
            self._faults.pop(what).result()
        self._broke = True
        if cluster:
            cluster.hit = True
        begun = threading.Event()
        self._faults[what] = self._pool.submit(
            self._fault, kind, of, cluster, float(seconds), begun)
        begun.wait()

    def _fault(self, kind, of, cluster, seconds, begun):
        def workers():
            return self._observer.workers(cluster) if cluster else []

        try:
            if kind in stories.CONDUCTORS:
                self._kills.append(time.monotonic())
            with faults.begin(kind, of, self._box, workers) as met:
                begun.set()
                threading.Event().wait(seconds)
        finally:
            begun.set()
        if met:
            met_before = self._outcome.faults.get(kind, 0)
            self._outcome.faults[kind] = met_before + 1
        if met and kind == 'machine-gone':
            cluster.expected = model.without(cluster.expected, met)

    def _mend(self):
        """Wait until all faults have ended, and repair the sandbox."""
        for what in list(self._faults):
            self._faults.pop(what).result()
        if self._broke:
            self._box.repair()

    # Invariants.

    def _watch(self, over):
        """Note which clusters fail, even if they recover."""
        while not over.wait(2):
            for cluster in list(self._all):
                row = self._users.row(cluster) or {}
                if (row.get('status') or '').endswith('_FAILED') and (
                        correction.ROTATION_REFUSED
                        not in (row.get('status_reason') or '')):
                    cluster.has_failed = True

    def _quiet(self):
        """End all faults, and wait until all clusters are as desired.

        :raises Broken: they are not.
        """
        self._mend()
        for cluster in self._all:
            self._users.find(cluster)
            self._fold(cluster)
            cluster.well = cluster.ill = cluster.last = None
            cluster.cures = 0
        found = {}
        try:
            waiting.wait_for(
                functools.partial(self._judge, found),
                done=lambda left: not left, timeout=PATIENCE,
                what='all clusters to be as they have to',
                pace=waiting.Pace(0.5, 1.2, 1.5))
        except errors.WaitTimeout as e:
            raise Broken([f'{cluster.name}: {text}' for cluster, texts
                          in e.state.items() for text in texts]) from None
        self._outcome.judged += len(found)
        _must(self._observer.misplaced(
            [c for c, seen in found.items() if seen.status]))
        for cluster, seen in found.items():
            cluster.expected = model.quiet(seen)
            cluster.hit = cluster.has_failed = False
            if seen.status is None:
                self._forget(cluster)
        self._broke = False

    def _fold(self, cluster):
        new = any(r.step.op == 'create' for r in cluster.requests)
        cluster.fold(self._kills, self._say)
        if new and cluster.expected.there.doubt:
            # Magnum makes four, one after the other, and keeps their ids in
            # memory until it calls the driver (magnum 23.0.0,
            # conductor/handlers/common/cert_manager.py).
            self._orphans += 4
        if self._broke:
            cluster.expected = dataclasses.replace(
                cluster.expected, excused=True)

    def _forget(self, cluster):
        """Check that nothing is left of a deleted cluster.

        :raises Broken: something is left.
        """
        self._all.remove(cluster)
        if self._by_name.get(cluster.story) is cluster:
            del self._by_name[cluster.story]
        if cluster.uuid:
            _must(f'left: {text}' for text in
                  self._search[cluster.user].wait_gone(cluster.uuid))

    def _judge(self, found):
        """Observe once; returns texts on problems by cluster.

        :param found: gets model.Seen by cluster.
        """
        states, left = self._observer.observe_all(self._all), {}
        for cluster in self._all:
            if cluster not in states:
                left[cluster] = ['no answer of Magnum, Keystone or Kubernetes']
                continue
            found[cluster] = states[cluster]
            self._check_said(cluster, states[cluster])
            texts = self._problems(cluster, states[cluster])
            if texts:
                left[cluster] = texts
        return left

    def _problems(self, cluster, seen):
        """Texts on problems of a cluster, which is cured if necessary."""
        now = time.monotonic()
        if cluster.has_failed:
            cluster.expected = model.failed(cluster.expected)
        texts = model.problems(cluster.expected, seen)
        if texts:
            cluster.well = None
            cluster.ill = seen.has_failed and (cluster.ill or now) or None
            if cluster.ill and now - cluster.ill > FAILED and (
                    # The driver itself corrects that.
                    correction.ROTATION_REFUSED not in seen.reason):
                self._cure(cluster, seen, texts)
            return texts
        cluster.ill, cluster.well = None, cluster.well or now
        if now - cluster.well < (
                DOUBTFUL_CALM if model.doubtful(cluster.expected) else CALM):
            return ['not well for long yet']
        if seen.status and not cluster.expected.there.values[-1]:
            # The request was lost with a conductor.
            self._ask(cluster, stories.step('delete', cluster.story))
            cluster.expected = dataclasses.replace(
                cluster.expected, there=model.Field((False,)))
            return ['its deletion was asked for again']
        return []

    def _check_said(self, cluster, seen):
        """Check that Magnum's claims before and after observing others hold.

        :raises Broken: they do not.
        """
        before, cluster.last = cluster.last, seen
        if before and not cluster.hit and before.said == seen.said:
            _must(f'{cluster.name}: {text}' for text in model.untrue(before))

    def _cure(self, cluster, seen, texts):
        """Do what a user would do after a failure.

        :raises Broken: it had no reason to fail, or to remain failed.
        """
        if not cluster.expected.excused or not seen.reason or (
                cluster.cures == CURES):
            raise Broken([f'{cluster.name}: {text}, after {cluster.cures} '
                          'cures' for text in texts])
        cluster.cures += 1
        cluster.ill = None
        self._say(f'    {seen.status}: {seen.reason[:200]}')
        self._ask(cluster, model.cure(seen, cluster.story))

    def _ask(self, cluster, step):
        self._users.ask(cluster, step)
        self._fold(cluster)

    def _nothing_left(self, before):
        """Check that nothing of any cluster is left.

        :param before: earlier objects of projects.
        :raises Broken: something is left.
        """
        try:
            waiting.wait_for(
                lambda: sorted(self._observer.objects() - before),
                done=lambda left: not left, timeout=leaks.COLLECTED,
                what='the namespaces to be empty')
        except errors.WaitTimeout as e:
            _must(f'left: {text}' for text in e.state)
        for search in self._search.values():
            _must(f'left: {text}' for text in search.wait_no_others()
                  if not self._is_magnums(text))

    def _is_magnums(self, text):
        return (text.endswith('certificates in Magnum')
                and int(text.split()[0]) <= self._orphans)


def _must(texts):
    if texts := list(texts):
        raise Broken(texts)
