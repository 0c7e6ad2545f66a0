# SPDX-License-Identifier: Apache-2.0


"""The problems of a cluster in its own words, which explain failed tests.

If a node's network plugin is gone, the cluster DNS is scaled to 0, or a disk
is full, specs fail in a hundred ways, none of which names the cause. The
objects of the cluster do, as :mod:`...evidence` reads them. Nothing here
changes a verdict.
"""

import re

from magnum_capi_tempest.conformance import documents
from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.evidence import events as events_
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

#: Most signs of one observation.
MOST = 20

#: Seconds that a system pod may take to become ready.
_PATIENCE = 90

_TEXT = 400

#: Namespaces whose pods are essential; tests have other namespaces, in which
#: pods fail on purpose.
_SYSTEM = re.compile(r'kube-.*|(calico|antrea|cilium|openstack)-system|'
                     r'cilium|tigera-operator')


def signs(nodes, pods, now=None) -> tuple[str, ...]:
    """What is wrong with a cluster, a line each, no more than MOST.

    :param nodes: objects of the API; ``pods`` too.
    :param now: aware datetime; without it, any pod may be new.
    """
    found = [str(one) for node in nodes for one in _conditions(node)]
    if pods and not any(serves_dns(pod) and _ready(pod) for pod in pods):
        found.append('cluster DNS: none of its pods is ready')
    for obj in pods:
        pod = workload.pod(obj)
        if (_SYSTEM.fullmatch(pod.namespace) and pod.reason
                and not _ready(obj) and _is_old(obj['metadata'], now)):
            found.append(f'pod {pod.namespace}/{pod.name} not ready: '
                         f'{pod.reason}')
    return tuple(map(_line, dict.fromkeys(found)))[:MOST]


def _conditions(node):
    found = conditions.bad('Node', node)
    # If its kubelet is gone, all of them are unknown.
    return [one for one in found if one.type == 'Ready'] or found


def not_ready(node: dict) -> str:
    """Why a node is not ready, one line; empty if it is."""
    for condition in (node.get('status') or {}).get('conditions') or ():
        if condition.get('type') == 'Ready':
            if condition.get('status') == 'True':
                return ''
            return _line(': '.join(filter(None, (
                condition.get('reason'), condition.get('message'))))
                or 'it does not say why')
    return 'it has never reported its status'


def cannot_start(pod: dict, events) -> tuple[str, str]:
    """Why a waiting pod gets no sandbox or no volume, from its events.

    Its own status only says ContainerCreating (Sonobuoy issue 1578).

    :param events: of its namespace.
    :returns: reason and message of the newest such event; empty if there is
        none.
    """
    mine = [event for event in map(events_.event, events)
            if event.name == pod['metadata']['name']
            and event.reason in ('FailedCreatePodSandBox', 'FailedMount',
                                 'FailedAttachVolume')]
    if not mine:
        return '', ''
    newest = max(mine, key=lambda event: event.at)
    return newest.reason, _line(newest.message)


def serves_dns(obj) -> bool:
    """Is it part of the cluster DNS?

    Decided by the label of kubeadm, and of every DNS add-on since kube-dns.
    """
    labels = obj['metadata'].get('labels') or {}
    return labels.get('k8s-app') in ('kube-dns', 'coredns')


def _ready(pod):
    return any(c.get('type') == 'Ready' and c.get('status') == 'True'
               for c in (pod.get('status') or {}).get('conditions') or ())


def _is_old(metadata, now):
    created = documents.moment(metadata.get('creationTimestamp'))
    return now is None or created is None or (
        now - created).total_seconds() >= _PATIENCE


def _line(text):
    # They quote output of programs.
    return texts.line(redact.redact(text), _TEXT)
