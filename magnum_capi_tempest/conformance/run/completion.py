# SPDX-License-Identifier: Apache-2.0

"""Is a run over, and why? Pure.

Sonobuoy's ``wait`` gives up after one error of the API, and waits for a plugin
whose node is gone until the aggregator's timeout (issue 1978). This module
defines how long to wait in each of these cases, and what the outcome is called
then.
"""

import dataclasses

from magnum_capi_tempest.conformance.run import messages
from magnum_capi_tempest.conformance.run import sonobuoy

#: Outcomes of a watch. All but COMPLETE leave the results in the cluster, or
#: lose them.
COMPLETE = 'complete'
AGGREGATOR_FAILED = 'aggregator failed'
LOST = 'lost'
STUCK = 'stuck'
STALLED = 'stalled'
DEADLINE = 'deadline'
UNREACHABLE = 'unreachable'
SILENT = 'silent'

#: Reasons of a waiting container from which it does not recover by itself;
#: kubernetes/kubernetes, pkg/kubelet/images/types.go and
#: pkg/kubelet/kuberuntime.
STUCK_REASONS = frozenset((
    'ImagePullBackOff', 'ErrImagePull', 'ErrImageNeverPull',
    'InvalidImageName', 'ImageInspectError', 'RegistryUnavailable',
    'CreateContainerConfigError', 'CreateContainerError', 'RunContainerError',
    'CrashLoopBackOff', 'Unschedulable',
    # Reasons in events, for pods whose own status says ContainerCreating.
    'FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'))


@dataclasses.dataclass(frozen=True)
class Limits:
    """Patience, in seconds.

    :param deadline: for the whole run.
    :param stall: without any progress.
    :param silence: without any answer from the API.
    :param stuck: of a pod in one of STUCK_REASONS, or on a node that is not
        ready.
    :param gone: of a namespace or pod that the API reports as missing; not
        only a moment, as one of several API servers may lag behind.
    """

    deadline: float
    stall: float = 2700
    silence: float = 1800
    stuck: float = 300
    gone: float = 60


def judge(watch, seen, limits: Limits) -> tuple[str, str]:
    """Whether a run is over after this observation.

    :param watch: :class:`.watch.Watch`, including this observation.
    :param seen: :class:`.watch.Observation`.
    :returns: outcome, empty while the run continues, and its reason for
        people.
    """
    now, status = seen.at, watch.status
    if not seen.error and seen.status is not None:
        if status.status == sonobuoy.COMPLETE and status.tarball.ready:
            return COMPLETE, ''
        if status.status == sonobuoy.FAILED:
            return (AGGREGATOR_FAILED,
                    'the aggregator reports that it has failed')
    if watch.gone is not None and now - watch.gone >= limits.gone:
        return (LOST, 'the namespace or the aggregator is gone, and the '
                      'results with it')
    dead = [p for p in watch.pods
            if not p.plugin and p.phase in ('Failed', 'Succeeded')]
    if dead and seen.pods is not None:
        return LOST, f'the aggregator has ended: {messages.trouble(dead[0])}'
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
            return STUCK, messages.trouble(pod)
    if seen.error and now - watch.heard >= limits.silence:
        # If the cluster answers, there is something left to save.
        return UNREACHABLE if seen.pods is None else SILENT, \
            f'no answer for {now - watch.heard:.0f} s: {seen.error}'
    if now - watch.began >= limits.deadline:
        return DEADLINE, f'the run took longer than {limits.deadline:.0f} s'
    if not seen.error and now - watch.moved >= limits.stall:
        return STALLED, f'nothing has changed for {now - watch.moved:.0f} s'
    return '', ''
