# SPDX-License-Identifier: Apache-2.0


"""What is known of a run so far, and is it still moving? Pure.

Sonobuoy's counts stay at 0 for whole runs (issue 1966), and nothing says why a
pod does not start (issue 1578). So the run is watched here: each observation
is an :class:`Observation`, which :func:`step` folds into a :class:`Watch`.
:mod:`.completion` decides whether the run is over.
"""

import dataclasses

from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import sonobuoy

#: Most problems of the cluster to keep for a run.
_SIGNS = 50


@dataclasses.dataclass(frozen=True)
class Pod:
    """A pod of the run.

    :param plugin: "" for the aggregator.
    :param phase: Pending, Running, Succeeded, Failed, Unknown.
    :param reason: why it waits or has failed, ``ImagePullBackOff``,
        ``Evicted``; otherwise empty.
    """

    name: str
    plugin: str = ''
    phase: str = ''
    reason: str = ''
    message: str = ''
    node: str = ''

    @property
    def state(self) -> tuple[str, str]:
        """Phase and reason; the two reasons of a failing pull count as one."""
        return self.phase, ('ImagePullBackOff' if self.reason == 'ErrImagePull'
                            else self.reason)


@dataclasses.dataclass(frozen=True)
class Observation:
    """One observation of a run.

    :param at: seconds of a monotonic clock.
    :param status: Sonobuoy's status, None if it was unusable.
    :param said: its prose if it reported no status.
    :param error: why there was no answer at all; empty if there was one.
    :param gone: the API reports that namespace or aggregator do not exist.
    :param pods: the pods of the run; None if they could not be listed.
    :param log: total, passed, failed according to the log of the tests; None
        if it was not read.
    :param log_size: of that log, bytes.
    :param nodes: names of all nodes; None if they could not be listed.
    :param bad: nodes that are not ready, and why: (name, text) pairs.
    :param signs: problems of the cluster, :mod:`.symptoms`; None if not
        checked.
    :param tests: namespaces of tests. They come and go although parallel tests
        write bullets without line ends, and the container runtime stores a log
        only at a line end, or when its buffer is full: after seven minutes it
        had stored none of 383 specs (containerd 1.6).
    """

    at: float
    status: sonobuoy.Status | None = None
    said: str = ''
    error: str = ''
    gone: bool = False
    pods: tuple[Pod, ...] | None = None
    log: tuple[int, int, int] | None = None
    log_size: int = 0
    nodes: frozenset[str] | None = None
    bad: tuple[tuple[str, str], ...] = ()
    signs: tuple[str, ...] | None = None
    tests: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Counts:
    """The progress of the tests.

    :param source: "sonobuoy", or "e2e log" if Sonobuoy counts nothing.
    :param updated: when they last changed, seconds of the watch's clock.
    """

    total: int = 0
    passed: int = 0
    failed: int = 0
    source: str = ''
    updated: float = 0.0

    @property
    def done(self) -> int:
        return self.passed + self.failed


@dataclasses.dataclass(frozen=True)
class Watch:
    """What is known of a run so far.

    :param lost: pods on nodes that are not ready: name, since when, and why.
    :param signs: problems of the cluster so far, a line each.
    :param outcome: empty while the run continues.
    :param reason: of the outcome, for people.
    :param notes: what a user should know now; only changes since the
        previous step.
    """

    began: float
    moved: float
    heard: float
    mark: tuple = ()
    status: sonobuoy.Status | None = None
    said: str = ''
    counts: Counts = Counts()
    pods: tuple[Pod, ...] = ()
    nodes_before: frozenset[str] | None = None
    nodes: frozenset[str] | None = None
    stuck: tuple[tuple[str, float], ...] = ()
    lost: tuple[tuple[str, float, str], ...] = ()
    signs: tuple[str, ...] = ()
    gone: float | None = None
    plugin_gone: float | None = None
    plugin_seen: bool = False
    error: str = ''
    outcome: str = ''
    reason: str = ''
    notes: tuple[str, ...] = ()

    @property
    def tarball(self) -> sonobuoy.Tarball:
        return self.status.tarball if self.status else sonobuoy.Tarball()


def start(at: float, nodes=None, elapsed=0.0) -> Watch:
    """Start or resume watching.

    :param nodes: names of the nodes before the run, if known.
    :param elapsed: how long the run has already been in progress, seconds.
    """
    return Watch(at - elapsed, at, at, nodes_before=nodes)


def step(watch: Watch, seen: Observation,
         limits: completion.Limits) -> Watch:
    """Fold in an observation; sets ``outcome`` at the end."""
    now = seen.at
    notes = []
    if seen.error and not watch.error:
        notes.append(f'no answer, asking again: {seen.error}')
    elif watch.error and not seen.error:
        notes.append(f'answers again after {now - watch.heard:.0f} s')
    watch = dataclasses.replace(
        _seen(watch, seen, notes), error=seen.error,
        heard=watch.heard if seen.error else now)
    outcome, reason = completion.judge(watch, seen, limits)
    return dataclasses.replace(watch, outcome=outcome, reason=reason,
                               notes=tuple(notes))


def _seen(watch, seen, notes):
    """Update the watch; the cluster may answer even if Sonobuoy does not."""
    now = seen.at
    nothing = bool(seen.error) and seen.pods is None
    status = seen.status or watch.status
    pods = watch.pods if seen.pods is None else seen.pods
    nodes = watch.nodes if seen.nodes is None else seen.nodes
    before = nodes if watch.nodes_before is None else watch.nodes_before
    if seen.said and seen.said != watch.said:
        notes.append(seen.said)
    notes += messages.pods(watch.pods, pods)
    notes += messages.waits(watch.status, status)
    notes += messages.nodes(watch.nodes or before, nodes)
    new = [s for s in seen.signs or () if s not in watch.signs]
    notes += [f'the cluster: {sign}' for sign in new]
    plugins = [p for p in pods if p.plugin]
    waits = watch.plugin_seen and seen.pods is not None and not plugins \
        and status is not None and status.status == sonobuoy.RUNNING
    mark = _mark(status, pods, seen)
    return dataclasses.replace(
        watch, status=status, pods=pods, nodes=nodes,
        said=watch.said if seen.error else seen.said,
        nodes_before=before, counts=_counts(watch.counts, status, seen),
        stuck=_stuck(watch, pods, now), lost=_lost(watch, pods, seen),
        signs=(*watch.signs, *new)[:_SIGNS],
        gone=_since(watch.gone, now, seen.gone, nothing),
        plugin_seen=watch.plugin_seen or bool(plugins),
        plugin_gone=_since(watch.plugin_gone, now, waits, nothing),
        mark=mark, moved=now if mark != watch.mark else watch.moved)


def _since(before, now, holds, unknown):
    """Since when something holds; None if it does not."""
    if unknown or holds and before is not None:
        return before
    return now if holds else None


def _mark(status, pods, seen):
    """What changes when a run moves."""
    return (status and (status.status, status.plugins), seen.log,
            seen.log_size, seen.tests,
            tuple(sorted((p.name, *p.state) for p in pods)))


def _counts(old, status, seen):
    total = passed = failed = 0
    for plugin in status.plugins if status else ():
        total += plugin.total
        passed += plugin.completed
        failed += plugin.failed
    found = Counts(total, passed, failed, 'sonobuoy')
    if not found.done and seen.log is not None and sum(seen.log):
        found = Counts(seen.log[0] or total, *seen.log[1:], 'e2e log')
    elif not found.done and old.source == 'e2e log' and old.done:
        # Do not reset the counts if the log was not read this time.
        found = old
    same = (found.total, found.passed, found.failed) == (
        old.total, old.passed, old.failed)
    return dataclasses.replace(found,
                               updated=old.updated if same else seen.at)


def _stuck(watch, pods, now):
    since = dict(watch.stuck)
    return tuple((p.name, since.get(p.name, now)) for p in _needed(pods)
                 if p.reason in completion.STUCK_REASONS)


def _needed(pods):
    """The pods without which a run cannot end.

    A run ends without the pods of other plugins than the tests: Sonobuoy
    gives such a plugin up five minutes after its image could not be pulled
    (seen with 0.57.5), otherwise at its own timeout.
    """
    if not any(p.plugin == sonobuoy.PLUGIN for p in pods):
        return pods
    return [p for p in pods if p.plugin in ('', sonobuoy.PLUGIN)]


def _lost(watch, pods, seen):
    """Pods whose node does not answer, and which stay Running forever."""
    if seen.nodes is None:
        return watch.lost
    since = {name: when for name, when, _ in watch.lost}
    bad = dict(seen.bad)
    return tuple((p.name, since.get(p.name, seen.at), bad[p.node])
                 for p in _needed(pods) if p.node in bad)
