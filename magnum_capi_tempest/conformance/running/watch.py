# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""When is a run over, and is it still moving? Pure.

Sonobuoy's ``wait`` gives up on one error of the API, its counts stay at 0
for whole runs (issue 1966), a plugin whose node has gone is waited for until
the aggregator's timeout (issue 1978), and nothing says why a pod does not
start (issue 1578). So the run is watched here: every look makes an
:class:`Observation`, and :func:`step` folds it into a :class:`Watch`.
"""

import dataclasses

from magnum_capi_tempest.conformance.running import sonobuoy
from magnum_capi_tempest.conformance.running import symptoms as symptoms_
from magnum_capi_tempest.conformance.running import telling

#: Outcomes of a watch. All but COMPLETE leave the results in the cluster, or
#: nowhere.
COMPLETE = 'complete'
AGGREGATOR_FAILED = 'aggregator failed'
LOST = 'lost'
STUCK = 'stuck'
STALLED = 'stalled'
DEADLINE = 'deadline'
UNREACHABLE = 'unreachable'

#: Reasons of a waiting container from which it does not recover by itself;
#: kubernetes/kubernetes, pkg/kubelet/images/types.go and
#: pkg/kubelet/kuberuntime.
STUCK_REASONS = frozenset((
    'ImagePullBackOff', 'ErrImagePull', 'ErrImageNeverPull',
    'InvalidImageName', 'ImageInspectError', 'RegistryUnavailable',
    'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError',
    'CrashLoopBackOff', 'Unschedulable',
    # Reasons of events, of pods whose own status says ContainerCreating.
    'FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'))

#: Symptoms that are kept of a run.
_SYMPTOMS = 50


@dataclasses.dataclass(frozen=True)
class Pod:
    """A pod of the run.

    :param plugin: "" for the aggregator.
    :param phase: Pending, Running, Succeeded, Failed, Unknown.
    :param reason: why it waits or has failed, ``ImagePullBackOff``,
        ``Evicted``; empty when it does neither.
    """

    name: str
    plugin: str = ''
    phase: str = ''
    reason: str = ''
    message: str = ''
    node: str = ''


@dataclasses.dataclass(frozen=True)
class Counts:
    """How far the tests are.

    :param source: "sonobuoy", or "e2e log" where Sonobuoy counts nothing.
    :param updated: seconds, of the watch's clock, when they last changed.
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
class Observation:
    """One look at a run.

    :param at: seconds, a clock's that only goes forward.
    :param status: what Sonobuoy said, None when it said nothing usable.
    :param said: its prose when it said no status.
    :param error: why there was no answer at all; empty when there was one.
    :param gone: the API answered that namespace or aggregator are not there.
    :param pods: the pods of the run; None when they could not be listed.
    :param log: total, passed, failed as the log of the tests has them; None
        when it was not read.
    :param log_size: of that log, bytes.
    :param nodes: names of all nodes; None when they could not be listed.
    :param bad: nodes that are not ready, and why: (name, text) pairs.
    :param symptoms: what is wrong with the cluster, :mod:`.symptoms`; None
        when nobody looked.
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
    symptoms: tuple[symptoms_.Symptom, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Limits:
    """Patience, in seconds.

    :param deadline: for the whole run.
    :param stall: without any sign of progress.
    :param silence: without any answer of the API.
    :param stuck: of a pod in one of STUCK_REASONS, or on a node that is not
        ready.
    :param gone: of a namespace or pod that the API says is not there; longer
        than a moment, as an API behind several servers may be behind.
    """

    deadline: float
    stall: float = 2700
    silence: float = 1800
    stuck: float = 300
    gone: float = 60


@dataclasses.dataclass(frozen=True)
class Watch:
    """What is known of a run so far.

    :param lost: pods on nodes that are not ready: name, time since when, and
        why.
    :param symptoms: what was wrong with the cluster so far.
    :param outcome: empty while the run goes on.
    :param reason: of the outcome, for people.
    :param notes: what a person should know now, changes from the step
        before only.
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
    symptoms: tuple[symptoms_.Symptom, ...] = ()
    gone: float | None = None
    plugin_gone: float | None = None
    plugin_seen: bool = False
    error: str = ''
    outcome: str = ''
    reason: str = ''
    notes: tuple[str, ...] = ()

    @property
    def signs(self) -> tuple[str, ...]:
        """What was wrong with the cluster, a line each."""
        return tuple(map(str, self.symptoms))

    @property
    def tarball(self) -> sonobuoy.Tarball:
        return self.status.tarball if self.status else sonobuoy.Tarball()


def start(at: float, nodes=None, elapsed=0.0) -> Watch:
    """Begin, or begin again, to watch.

    :param nodes: names of the nodes before the run, where they are known.
    :param elapsed: seconds that the run has been going on already.
    """
    return Watch(at - elapsed, at, at, nodes_before=nodes)


def step(watch: Watch, seen: Observation, limits: Limits) -> Watch:
    """Fold an observation into what is known; sets ``outcome`` at the end."""
    now = seen.at
    notes = []
    if seen.error:
        if not watch.error:
            notes.append(f'no answer, asking again: {seen.error}')
        watch = dataclasses.replace(watch, error=seen.error)
    else:
        if watch.error:
            notes.append(
                f'answers again after {now - watch.heard:.0f} s')
        watch = dataclasses.replace(_heard(watch, seen, notes), heard=now,
                                    error='')
    outcome, reason = _judge(watch, seen, limits)
    return dataclasses.replace(watch, outcome=outcome, reason=reason,
                               notes=tuple(notes))


def _heard(watch, seen, notes):
    now = seen.at
    status = seen.status or watch.status
    pods = watch.pods if seen.pods is None else seen.pods
    nodes = watch.nodes if seen.nodes is None else seen.nodes
    before = nodes if watch.nodes_before is None else watch.nodes_before
    if seen.said and seen.said != watch.said:
        notes.append(seen.said)
    notes += telling.pods(watch.pods, pods)
    notes += telling.nodes(watch.nodes or before, nodes)
    new = [s for s in seen.symptoms or () if s not in watch.symptoms]
    notes += [f'the cluster: {symptom}' for symptom in new]
    plugins = [p for p in pods if p.plugin]
    waits = watch.plugin_seen and seen.pods is not None and not plugins \
        and status is not None and status.status == sonobuoy.RUNNING
    mark = _mark(status, pods, seen.log, seen.log_size)
    return dataclasses.replace(
        watch, status=status, said=seen.said, pods=pods, nodes=nodes,
        nodes_before=before, counts=_counts(watch.counts, status, seen),
        stuck=_stuck(watch, pods, now), lost=_lost(watch, pods, seen),
        symptoms=(*watch.symptoms, *new)[:_SYMPTOMS],
        gone=(watch.gone if watch.gone is not None else now)
        if seen.gone else None,
        plugin_seen=watch.plugin_seen or bool(plugins),
        plugin_gone=(watch.plugin_gone if watch.plugin_gone is not None
                     else now) if waits else None,
        mark=mark, moved=now if mark != watch.mark else watch.moved)


def _mark(status, pods, log, size):
    """What changes when a run moves; a time stamp alone is no movement."""
    plugins = () if status is None else tuple(
        (p.name, p.node, p.status, p.result, p.total, p.completed, p.failed,
         p.message) for p in status.plugins)
    return (status and status.status, plugins, log, size,
            tuple(sorted((p.name, p.phase, p.reason) for p in pods)))


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
        # Not back to nothing when the log was not read this time.
        found = old
    same = (found.total, found.passed, found.failed) == (
        old.total, old.passed, old.failed)
    return dataclasses.replace(found,
                               updated=old.updated if same else seen.at)


def _stuck(watch, pods, now):
    since = dict(watch.stuck)
    return tuple((p.name, since.get(p.name, now)) for p in pods
                 if p.reason in STUCK_REASONS)


def _lost(watch, pods, seen):
    """Pods whose node does not answer: they say Running for ever."""
    if seen.nodes is None:
        return watch.lost
    since = {name: when for name, when, _ in watch.lost}
    bad = dict(seen.bad)
    return tuple((p.name, since.get(p.name, seen.at), bad[p.node])
                 for p in pods if p.node in bad)


def _judge(watch, seen, limits):
    now, status = seen.at, watch.status
    if not seen.error and seen.status is not None:
        if status.status == sonobuoy.COMPLETE and status.tarball.ready:
            return COMPLETE, ''
        if status.status == sonobuoy.FAILED:
            return AGGREGATOR_FAILED, 'the aggregator says that it has failed'
    if watch.gone is not None and now - watch.gone >= limits.gone:
        return LOST, 'namespace or aggregator are gone, and the results with '\
                     'them'
    dead = [p for p in watch.pods
            if not p.plugin and p.phase in ('Failed', 'Succeeded')]
    if dead and not seen.error:
        return LOST, f'the aggregator has ended: {telling.trouble(dead[0])}'
    if watch.plugin_gone is not None \
            and now - watch.plugin_gone >= limits.stuck:
        return LOST, 'the pod of the tests is gone; Sonobuoy would wait for '\
                     'it until its own timeout'
    for name, since, why in watch.lost:
        if now - since >= limits.stuck:
            pod = next(p for p in watch.pods if p.name == name)
            return LOST, (f'the node {pod.node} of pod {name} has not been '
                          f'ready for {now - since:.0f} s: {why}')
    for name, since in watch.stuck:
        if now - since >= limits.stuck:
            pod = next(p for p in watch.pods if p.name == name)
            return STUCK, telling.trouble(pod)
    if seen.error and now - watch.heard >= limits.silence:
        return UNREACHABLE, \
            f'no answer for {now - watch.heard:.0f} s: {seen.error}'
    if now - watch.began >= limits.deadline:
        return DEADLINE, f'the run took longer than {limits.deadline:.0f} s'
    if not seen.error and now - watch.moved >= limits.stall:
        return STALLED, f'nothing has changed for {now - watch.moved:.0f} s'
    return '', ''
