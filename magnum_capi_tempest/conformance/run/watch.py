# SPDX-License-Identifier: Apache-2.0

"""Watches a run until it is done, lost or stuck.

Sonobuoy's ``wait`` gives up after one error of the API, and waits for a plugin
whose node is gone until the aggregator's timeout (issue 1978); its counts stay
at 0 for whole runs (issue 1966). So the run is watched here: :func:`observe`
observes it once, :func:`step` adds that to a :class:`State`, which knows
whether the run is over. A failed query becomes part of an observation and
never raises: a watch continues while the API server restarts.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi import waiting
from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import objects
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: Outcomes of a watch. All but COMPLETE leave the results in the cluster, or
#: lose them.
COMPLETE = 'complete'
FAILED = 'failed'
LOST = 'lost'
STUCK = 'stuck'
STALLED = 'stalled'
DEADLINE = 'deadline'
#: Neither the runner nor the API answers, and: the API does.
UNREACHABLE = 'unreachable'
SILENT = 'silent'

#: Reasons of a waiting container from which it does not recover by itself;
#: kubernetes/kubernetes, pkg/kubelet/images/types.go and
#: pkg/kubelet/kuberuntime; the last three are of events.
_STUCK_REASONS = frozenset((
    'ImagePullBackOff', 'ErrImagePull', 'ErrImageNeverPull',
    'InvalidImageName', 'ImageInspectError', 'RegistryUnavailable',
    'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError',
    'CrashLoopBackOff', 'Unschedulable',
    'FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'))

#: How often to observe. Sonobuoy itself updates its status every 5 s.
PACE = waiting.Pace(first=2, factor=1.5, most=15)

#: Seconds between two readings of nodes, test namespaces and log.
_SLOW = 60

#: Most bytes of a log that are read to count in it; 388 specs wrote 93 KiB.
_LOG = 16 << 20

#: Most warnings that are kept for a run.
_WARNINGS = 50

#: Place of a duration in a text.
_SECONDS = '{seconds}'


@dataclasses.dataclass(frozen=True)
class Limits:
    """Timeouts in seconds.

    :param deadline: for the whole run.
    :param stall: without any progress.
    :param silence: without any answer from the API.
    :param stuck: of a pod in a state from which it does not recover, or on a
        node that is not ready.
    :param gone: of pods that the API reports as missing; not only a moment, as
        one of several API servers may lag behind.
    """

    deadline: float
    stall: float = 2700
    silence: float = 1800
    stuck: float = 300
    gone: float = 60


@dataclasses.dataclass(frozen=True)
class Observation:
    """One observation of a run.

    :param at: seconds of a monotonic clock.
    :param status: of the runner; None if it did not answer.
    :param error: why it did not.
    :param pods: of the run; None if they could not be listed.
    :param nodes: why each is not ready, by name; empty if it is; None if they
        were not read this time.
    :param counts: of specs that will run, passed and failed according to the
        log; None if it was not read.
    :param movement: what changes while tests run although nothing is counted:
        size of the log, namespaces of tests. Parallel tests write bullets
        without line ends, and the container runtime stores a log only at a
        line end, or when its buffer is full: after seven minutes it had
        stored none of 383 specs (containerd 1.6).
    :param warnings: problems of the cluster, a line each.
    """

    at: float
    status: runner.Status | None = None
    error: str = ''
    pods: tuple[objects.Pod, ...] | None = None
    nodes: typing.Mapping[str, str] | None = None
    counts: tuple[int, int, int] | None = None
    movement: tuple[object, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Counts:
    """The progress of the tests.

    :param source: "sonobuoy", or "log" if that counts nothing.
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
class State:
    """What is known of a run so far.

    :param began: the run, seconds of the watch's clock.
    :param moved: when anything last changed.
    :param heard: when anything last answered.
    :param seen: the last known parts of observations.
    :param since: when each present trouble began, by its key.
    :param started: a pod of the tests was seen.
    :param outcome: empty while the run continues.
    :param reason: of the outcome, for people.
    :param notes: what a user should know now; only changes since the previous
        step.
    """

    began: float
    moved: float
    heard: float
    seen: Observation
    counts: Counts = Counts()
    since: typing.Mapping[str, float] = dataclasses.field(
        default_factory=dict)
    warnings: tuple[str, ...] = ()
    started: bool = False
    outcome: str = ''
    reason: str = ''
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class _Trouble:
    """Something that ends a run if it lasts.

    :param patience: seconds.
    :param what: _SECONDS in it becomes how long it has lasted.
    :param since: when it began, None if only the watch knows.
    """

    key: str
    outcome: str
    patience: float
    what: str
    why: str = ''
    since: float | None = None


def start(at: float, elapsed: float = 0.0,
          nodes: collections.abc.Collection[str] = ()) -> State:
    """Start or resume watching.

    :param elapsed: how long the run has already been in progress, seconds.
    :param nodes: names of the nodes before the run, if known.
    """
    return State(at - elapsed, at, at, Observation(
        at, nodes=dict.fromkeys(nodes, '') if nodes else None))


def follow(driven: runner.Runner, reader: kube.Client, state: State,
           limits: Limits, progress: progress_.Progress,
           clock: waiting.Clock, pace: waiting.Pace = PACE) -> State:
    """Watch a run to its end.

    :param progress: gets the notes.
    """
    slow: float | None = None
    with progress.step(f'run in the namespace {driven.namespace}') as note:
        def poll() -> State:
            nonlocal state, slow
            now = clock.monotonic()
            whole = slow is None or now - slow >= _SLOW
            slow = now if whole else slow
            state = step(state, observe(driven, reader, clock, whole), limits)
            for text in state.notes:
                progress.info(text)
            note(messages.line(state, clock.monotonic()))
            return state

        # The watch itself ends every wait; this timeout is a safety net.
        return waiting.wait_for(
            poll, done=lambda s: bool(s.outcome),
            timeout=limits.deadline + limits.silence + 600,
            what='the run', pace=pace, clock=clock,
            describe=lambda s: messages.line(s, clock.monotonic()))


def observe(driven: runner.Runner, reader: kube.Client, clock: waiting.Clock,
            whole: bool = True) -> Observation:
    """Observe once. Takes up to the timeouts of its calls.

    :param whole: also read nodes, namespaces of tests and the log.
    """
    status = found = pods = nodes = counts = None
    error = ''
    movement: tuple[object, ...] = ()
    warnings: tuple[str, ...] = ()
    try:
        found = reader.items(kube.pod_path(driven.namespace))
        pods = _pods(driven, reader, found)
    except kube.KubeError as e:
        error = str(e)
    if whole and pods is not None:
        there = _readable(reader, '/api/v1/nodes')
        if there is not None:
            nodes = {n['metadata']['name']: objects.not_ready(n)
                     for n in there}
            warnings = objects.warnings(there)
        log = _log(driven, reader, pods)
        counts = objects.counts(log)
        movement = (len(log), *objects.test_namespaces(_readable(
            reader, '/api/v1/namespaces', labelSelector='e2e-run') or []))
    try:
        if pods is None or any(not pod.plugin for pod in pods):
            status = driven.status(found)
            error = '' if status is not None else error
    except errors.CommandFailed as e:
        error = driven.failure_message(e.output) or str(e.what)
    return Observation(clock.monotonic(), status, error, pods, nodes, counts,
                       movement, warnings)


def _readable(reader: kube.Client, path: str, **query: str
              ) -> list[json_types.Object] | None:
    """The objects of a list; None if it cannot be read."""
    try:
        return reader.items(path, **query)
    except kube.KubeError:
        return None


def _pods(driven: runner.Runner, reader: kube.Client,
          found: list[json_types.Object]) -> tuple[objects.Pod, ...]:
    """The run's pods; those that wait without a reason get one from events."""
    pods = [driven.pod(obj) for obj in found]
    if not any(p.phase == 'Pending' and p.node and not p.reason
               for p in pods):
        return tuple(pods)
    events = _readable(
        reader, f'/api/v1/namespaces/{driven.namespace}/events') or []
    return tuple(objects.with_cause(p, events) if p.phase == 'Pending'
                 and not p.reason else p for p in pods)


def _log(driven: runner.Runner, reader: kube.Client,
         pods: tuple[objects.Pod, ...]) -> str:
    """The log of the tests, from its beginning; empty if it has none."""
    for pod in pods:
        if pod.plugin == driven.tests and pod.phase != 'Pending':
            try:
                return reader.text(
                    kube.log_path(driven.namespace, pod.name),
                    container=driven.container, limitBytes=_LOG)
            except kube.KubeError:
                # It is only the fallback for a hint.
                return ''
    return ''


def step(state: State, seen: Observation, limits: Limits) -> State:
    """Add an observation; sets ``outcome`` at the end. Pure."""
    before, now = state.seen, seen.at
    merged = dataclasses.replace(
        seen, status=seen.status or before.status,
        pods=before.pods if seen.pods is None else seen.pods,
        nodes=before.nodes if seen.nodes is None else seen.nodes,
        counts=seen.counts or before.counts,
        movement=seen.movement or before.movement)
    new = [w for w in seen.warnings if w not in state.warnings]
    moved = _mark(merged) != _mark(before)
    notes = [*messages.changes(before, merged, now - state.heard),
             *(f'the cluster: {one}' for one in new)]
    state = dataclasses.replace(
        state, seen=merged, moved=now if moved else state.moved,
        heard=state.heard if seen.error else now,
        counts=_counts(state.counts, merged),
        warnings=(*state.warnings, *new)[:_WARNINGS],
        started=state.started or any(p.plugin for p in merged.pods or ()))
    outcome, reason, since = _judge(state, seen, limits)
    return dataclasses.replace(state, outcome=outcome, reason=reason,
                               since=since, notes=tuple(notes))


def _judge(state: State, seen: Observation, limits: Limits
           ) -> tuple[str, str, dict[str, float]]:
    """Outcome and reason, empty while it continues; present troubles."""
    troubles = list(_troubles(state, seen, limits))
    since = {t.key: state.since.get(t.key, seen.at)
             if t.since is None else t.since for t in troubles}
    if seen.pods is None:
        # Nothing is known of the others: they are neither over nor judged.
        since = {**state.since, **since}
    if seen.status is not None and seen.status.state == runner.COMPLETE:
        return COMPLETE, '', since
    for trouble in troubles:
        lasted = seen.at - since[trouble.key]
        if lasted >= trouble.patience:
            return trouble.outcome, (
                trouble.what.replace(_SECONDS, f'{lasted:.0f}')
                + (f': {trouble.why}' if trouble.why else '')), since
    return '', '', since


def _troubles(state: State, seen: Observation, limits: Limits
              ) -> collections.abc.Iterator[_Trouble]:
    """Yield what is wrong with a run, the most certain first."""
    if seen.status is not None and seen.status.state == runner.FAILED:
        yield _Trouble('failed', FAILED, 0,
                       'the aggregator reports that it has failed')
    if seen.pods is not None:
        yield from _of_pods(state, seen.pods, limits)
    if seen.error:
        yield _Trouble(
            'silence', UNREACHABLE if seen.pods is None else SILENT,
            limits.silence, f'no answer for {_SECONDS} s', seen.error,
            state.heard)
        # It may have ended in time.
        return
    yield _Trouble('deadline', DEADLINE, limits.deadline,
                   f'the run took longer than {limits.deadline:.0f} s',
                   since=state.began)
    yield _Trouble('stall', STALLED, limits.stall,
                   f'nothing has changed for {_SECONDS} s', since=state.moved)


def _of_pods(state: State, pods: tuple[objects.Pod, ...], limits: Limits
             ) -> collections.abc.Iterator[_Trouble]:
    status = state.seen.status
    holders = [p for p in pods if not p.plugin]
    if not holders:
        yield _Trouble('gone', LOST, limits.gone,
                       'the namespace or the pod with the results is gone')
    for pod in holders:
        if pod.phase in ('Failed', 'Succeeded'):
            yield _Trouble('ended', LOST, 0,
                           'the pod with the results has ended', str(pod))
    if state.started and holders == list(pods) and status is not None \
            and status.state == runner.RUNNING:
        yield _Trouble('tests', LOST, limits.stuck,
                       'the pod of the tests is gone; Sonobuoy would wait '
                       'for it until its own timeout')
    for pod in _needed(pods):
        why = (state.seen.nodes or {}).get(pod.node)
        if why:
            yield _Trouble(
                f'node of {pod.name}', LOST, limits.stuck,
                f'the node {pod.node} of pod {pod.name} has not been ready '
                f'for {_SECONDS} s', why)
        if pod.reason in _STUCK_REASONS:
            yield _Trouble(f'pod {pod.name}', STUCK, limits.stuck,
                           'it cannot start', str(pod))


def _needed(pods: collections.abc.Sequence[objects.Pod]
            ) -> collections.abc.Sequence[objects.Pod]:
    """The pods without which a run cannot end.

    A run ends without the pods of other plugins than the tests: Sonobuoy
    gives such a plugin up five minutes after its image could not be pulled
    (seen with 0.57.5), otherwise at its own timeout.
    """
    if not any(p.plugin == runner.TESTS for p in pods):
        return pods
    return [p for p in pods if p.plugin in ('', runner.TESTS)]


def _mark(seen: Observation) -> tuple[object, ...]:
    """What changes when a run moves."""
    status = seen.status
    return (status and (status.state, status.plugins), seen.counts,
            seen.movement,
            tuple(sorted((p.name, *p.state) for p in seen.pods or ())))


def _counts(old: Counts, seen: Observation) -> Counts:
    plugins = seen.status.plugins if seen.status else ()
    found = Counts(sum(p.total for p in plugins),
                   sum(p.completed for p in plugins),
                   sum(p.failed for p in plugins), 'sonobuoy')
    if not found.done and seen.counts is not None:
        total, passed, failed = seen.counts
        found = Counts(total or found.total, passed, failed, 'log')
    same = (found.total, found.passed, found.failed) == (
        old.total, old.passed, old.failed)
    return dataclasses.replace(found,
                               updated=old.updated if same else seen.at)
