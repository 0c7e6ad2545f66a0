# SPDX-License-Identifier: Apache-2.0

"""What objects of a Kubernetes API say of themselves, in a line each. Pure.

Messages quote output of programs: secrets and control characters are removed.
"""

import collections.abc
import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.evidence import events as events_
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import json_types
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

#: Most warnings of one reading, and most characters of a line.
_WARNINGS, _LINE = 20, 400

#: Reasons in events of a pod whose own status only says ContainerCreating.
_NO_SANDBOX = ('FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume')

#: Namespaces whose pods are essential; tests have other namespaces, in which
#: pods fail on purpose.
_SYSTEM = re.compile(r'kube-.*|(calico|antrea|cilium|openstack)-system|'
                     r'cilium|tigera-operator')
#: The normal start of every container.
_BEGINS = ('ContainerCreating', 'PodInitializing')

#: Labels of cluster DNS: kubeadm's, and that of every add-on since kube-dns.
_DNS = ('kube-dns', 'coredns')


@dataclasses.dataclass(frozen=True)
class Pod:
    """A pod of a run.

    :param plugin: whose tests it runs; empty if it holds the results.
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

    def __str__(self) -> str:
        return (f'pod {self.name} {self.reason or self.phase}'
                + (f' on {self.node}' if self.node else '')
                + (f': {self.message}' if self.message else ''))


def pod(obj: json_types.Object, plugin: str = '') -> Pod:
    """A pod, from its object."""
    status = obj.get('status') or {}
    reason, message = status.get('reason') or '', status.get('message') or ''
    for container in [*(status.get('initContainerStatuses') or ()),
                      *(status.get('containerStatuses') or ())]:
        waiting = (container.get('state') or {}).get('waiting') or {}
        if waiting.get('reason') not in (None, *_BEGINS):
            reason = waiting['reason']
            message = waiting.get('message') or message
    for condition in status.get('conditions') or ():
        if condition.get('type') == 'PodScheduled' \
                and condition.get('status') == 'False':
            reason = condition.get('reason') or 'Unschedulable'
            message = condition.get('message') or message
    return Pod(obj['metadata']['name'], plugin, status.get('phase') or '',
               reason, _line(message),
               (obj.get('spec') or {}).get('nodeName') or '')


def with_cause(pod: Pod, events: list[json_types.Object]) -> Pod:
    """A pod that waits for its sandbox or a volume, with the newest reason.

    Its own status does not have it (Sonobuoy issue 1578).

    :param events: of its namespace.
    """
    mine = [event for event in map(events_.event, events)
            if event.name == pod.name and event.reason in _NO_SANDBOX]
    if not mine:
        return pod
    newest = max(mine, key=lambda event: event.at)
    return dataclasses.replace(pod, reason=newest.reason,
                               message=_line(newest.message))


def not_ready(node: json_types.Object) -> str:
    """Why a node is not ready; empty if it is."""
    for condition in (node.get('status') or {}).get('conditions') or ():
        if condition.get('type') == 'Ready':
            if condition.get('status') == 'True':
                return ''
            return _line(': '.join(filter(None, (
                condition.get('reason'), condition.get('message'))))
                or 'it does not say why')
    return 'it has never reported its status'


def stand_in(nodes: collections.abc.Iterable[json_types.Object]) -> bool:
    """Whether nodes are made from stand-ins for upstream's images.

    Their image says so in /etc/os-release, which kubelet repeats.
    """
    return any(model.STAND_IN in (((node.get('status') or {}).get(
        'nodeInfo') or {}).get('osImage') or '') for node in nodes)


def serves_dns(obj: json_types.Object) -> bool:
    """Whether a pod is one of cluster DNS, and ready."""
    labels = obj['metadata'].get('labels') or {}
    return labels.get('k8s-app') in _DNS and is_ready(obj)


def is_ready(obj: json_types.Object) -> bool:
    """Whether a pod is ready."""
    return any(c.get('type') == 'Ready' and c.get('status') == 'True'
               for c in (obj.get('status') or {}).get('conditions') or ())


def warnings(nodes: collections.abc.Iterable[json_types.Object] = (),
             pods: list[json_types.Object] | None = None) -> tuple[str, ...]:
    """What is wrong with a cluster, a line each, at most 20.

    A broken cluster makes specs fail in a hundred ways, none of which names
    the cause. Nothing here changes a verdict.

    :param nodes: objects of the API.
    :param pods: objects of all pods; None if they were not read.
    """
    found = [str(one) for node in nodes for one in _conditions(node)]
    if pods and not any(map(serves_dns, pods)):
        found.append('cluster DNS: none of its pods is ready')
    for obj in pods or ():
        seen = workload.pod(obj)
        if (_SYSTEM.fullmatch(seen.namespace) and seen.phase != 'Succeeded'
                and seen.reason not in ('', *_BEGINS) and not is_ready(obj)):
            found.append(f'pod {seen.namespace}/{seen.name} not ready: '
                         f'{seen.reason}')
    return tuple(map(_line, dict.fromkeys(found)))[:_WARNINGS]


def test_namespaces(spaces: list[json_types.Object]) -> tuple[str, ...]:
    """Names of the namespaces that tests of any run made, and not removed."""
    return tuple(sorted(
        space['metadata']['name'] for space in spaces
        if 'e2e-run' in (space['metadata'].get('labels') or {})
        and (space.get('status') or {}).get('phase') != 'Terminating'))


def test_runs(log: str) -> set[str]:
    """Values of the label ``e2e-run`` of the namespaces that tests made.

    Each Ginkgo process has one, and writes it at its start
    (test/e2e/e2e.go of Kubernetes).

    :param log: of the container with the tests.
    """
    return set(_TEST_RUN.findall(log))


_TEST_RUN = re.compile(
    r'Starting e2e run "([0-9a-f-]{36})" on Ginkgo node \d')
_PLANNED = re.compile(r'^Will run (\d+) of \d+ specs', re.MULTILINE)
_BAD = re.compile(
    r'• \[(?:FAILED|PANICKED|INTERRUPTED|ABORTED|TIMEDOUT)\]')


def counts(log: str) -> tuple[int, int, int] | None:
    """How many specs will run, have passed, and have failed.

    Ginkgo writes one bullet for every spec that has ended, and appends the
    status of a bad one (ginkgo/v2/reporters/default_reporter.go)::

        Will run 388 of 7144 specs
        SSSS•SSS•
        • [FAILED] [4.407 seconds]

    :param log: of the tests' container, from its beginning.
    :returns: None until the log says how many will run.
    """
    planned = _PLANNED.search(log)
    if not planned:
        return None
    rest = log[planned.end():].partition('\nSummarizing ')[0]
    failed = len(_BAD.findall(rest))
    return int(planned.group(1)), rest.count('•') - failed, failed


def _conditions(node: json_types.Object) -> list[conditions.Condition]:
    found = conditions.bad('Node', node)
    # If its kubelet is gone, all of them are unknown.
    return [one for one in found if one.type == 'Ready'] or found


def _line(text: str) -> str:
    return texts.line(redact.redact(text), _LINE)
