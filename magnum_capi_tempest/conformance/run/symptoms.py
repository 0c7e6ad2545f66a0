# SPDX-License-Identifier: Apache-2.0


"""The problems of a cluster in its own words, which explain failed tests.

If a node's network plugin is gone, the cluster DNS is scaled to 0, or a disk
is full, specs fail in a hundred ways, none of which names the cause. The
objects of the cluster do. Pure; nothing here changes a verdict.
"""

import dataclasses
import datetime
import re

from magnum_capi import redact
from magnum_capi_tempest.conformance.results import documents
from magnum_capi_tempest import texts

NODE = 'node'
NETWORK = 'network'
DISK = 'disk'
DNS = 'dns'
EVICTED = 'evicted'
POD = 'pod'
#: The kinds, in the order of how much they explain.
KINDS = (NODE, DISK, NETWORK, DNS, EVICTED, POD)

#: Most symptoms reported from one observation.
MOST = 20

#: Seconds that a system pod may take to become ready.
_PATIENCE = 90

_TEXT = 400

#: Namespaces whose pods are essential; tests have other namespaces, in which
#: pods fail on purpose.
_SYSTEM = re.compile(r'kube-.*|(calico|antrea|cilium|openstack)-system|'
                     r'cilium|tigera-operator')

#: Terms for the pod network in messages of kubelets and plugins:
#: kubernetes/kubernetes, pkg/kubelet/kuberuntime/kuberuntime_sandbox.go, and
#: go-cni of containerd.
_NETWORK_WORDS = re.compile(r'NetworkReady=false|NetworkPluginNotReady|'
                            r'\bcni\b|network plugin|network for sandbox|'
                            r'plugin type=', re.I)
_DISK_WORDS = re.compile(r'no space left on device|DiskPressure|'
                         r'disk pressure|ephemeral-storage|'
                         r'disk usage on|free (up )?\d+ bytes|disk space',
                         re.I)
#: Conditions of a node that are bad when True, and their kinds.
_PRESSURES = {'DiskPressure': DISK, 'MemoryPressure': NODE,
              'PIDPressure': NODE, 'NetworkUnavailable': NETWORK}
#: Warnings that say why something does not run.
_REASONS = {
    'FailedCreatePodSandBox': POD, 'Evicted': EVICTED,
    'EvictionThresholdMet': DISK, 'FreeDiskSpaceFailed': DISK,
    'ImageGCFailed': DISK, 'FailedMount': POD,
    'FailedScheduling': POD, 'FailedCreatePodContainer': POD,
    'SystemOOM': NODE,
}
#: Parts that differ between reports of one problem: ids of pods and sandboxes.
_IDS = re.compile(r'\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12,64}\b')


@dataclasses.dataclass(frozen=True)
class Symptom:
    """A problem of the cluster.

    :param kind: one of KINDS.
    :param where: the object: "node n1", "pod kube-system/coredns-x".
    :param text: one line, the cluster's own words.
    """

    kind: str
    where: str
    text: str

    def __str__(self):
        return f'{self.where}: {self.text}'


@dataclasses.dataclass(frozen=True)
class Objects:
    """Objects of the cluster at one moment, as returned by the API.

    :param events: warnings only.
    """

    nodes: tuple[dict, ...] = ()
    pods: tuple[dict, ...] = ()
    deployments: tuple[dict, ...] = ()
    events: tuple[dict, ...] = ()


def diagnose(seen: Objects, namespace='', now=None,
             since=None) -> tuple[Symptom, ...]:
    """The problems, the most important first, no more than MOST.

    :param namespace: of the run, whose pods count as well.
    :param now: aware datetime; without it, any pod may be new.
    :param since: aware datetime; earlier events are ignored.
    """
    def ours(name):
        return name == namespace or bool(_SYSTEM.fullmatch(name))

    found = [*_nodes(seen.nodes), *_dns(seen), *_pods(seen.pods, ours, now),
             *_events(seen, ours, since)]
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda s: KINDS.index(s.kind)))[:MOST]


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
    metadata = pod['metadata']
    mine = [e for e in events
            if (e.get('involvedObject') or {}).get('name') == metadata['name']
            and e.get('reason') in ('FailedCreatePodSandBox', 'FailedMount',
                                    'FailedAttachVolume')]
    if not mine:
        return '', ''
    newest = max(mine, key=lambda e: _when(e) or _LONG_AGO)
    return newest['reason'], _line(newest.get('message') or '')


def _nodes(nodes):
    for node in nodes:
        where = f'node {node["metadata"]["name"]}'
        why = not_ready(node)
        if why:
            kind = NETWORK if _NETWORK_WORDS.search(why) else NODE
            yield Symptom(kind, where, f'not ready: {why}')
        for condition in (node.get('status') or {}).get('conditions') or ():
            kind = _PRESSURES.get(condition.get('type'))
            if kind and condition.get('status') == 'True':
                yield Symptom(
                    kind, where, _line(f'{condition["type"]}: '
                                       f'{condition.get("message") or "?"}'))


def _dns(seen):
    pods = [p for p in seen.pods if serves_dns(p)]
    if any(_ready(p) for p in pods):
        return
    for deployment in seen.deployments:
        name = deployment['metadata']['name']
        if serves_dns(deployment) \
                and (deployment.get('spec') or {}).get('replicas') == 0:
            yield Symptom(DNS, 'cluster DNS',
                          f'the Deployment kube-system/{name} is scaled to 0')
            return
    if seen.pods and not pods:
        yield Symptom(DNS, 'cluster DNS',
                      'no pod has its label, k8s-app=kube-dns')
    elif pods:
        yield Symptom(DNS, 'cluster DNS', 'none of its pods is ready')


def serves_dns(obj) -> bool:
    """Is it part of the cluster DNS?

    Decided by the label of kubeadm, and of every DNS add-on since kube-dns.
    """
    labels = obj['metadata'].get('labels') or {}
    return labels.get('k8s-app') in ('kube-dns', 'coredns')


def _ready(pod):
    return any(c.get('type') == 'Ready' and c.get('status') == 'True'
               for c in (pod.get('status') or {}).get('conditions') or ())


def _pods(pods, ours, now):
    for pod in pods:
        metadata, status = pod['metadata'], pod.get('status') or {}
        if not ours(metadata.get('namespace', '')):
            continue
        where = f'pod {metadata["namespace"]}/{metadata["name"]}'
        if status.get('reason') == 'Evicted':
            message = status.get('message') or ''
            yield Symptom(DISK if _DISK_WORDS.search(message) else EVICTED,
                          where, _line(f'Evicted: {message}'))
        elif _SYSTEM.fullmatch(metadata['namespace']):
            waits = _waits(status)
            if waits and not _ready(pod) and _is_old(metadata, now):
                yield Symptom(POD, where, f'not ready: {waits}')


def _waits(status):
    """Why a pod's containers do not run: reasons and messages."""
    if status.get('phase') == 'Succeeded':
        return ''
    found = [status.get('reason')]
    for container in [*(status.get('initContainerStatuses') or ()),
                      *(status.get('containerStatuses') or ())]:
        for state in ('waiting', 'terminated'):
            part = (container.get('state') or {}).get(state) or {}
            if part.get('reason') not in (None, 'Completed'):
                found += [part['reason'], part.get('message')]
    for condition in status.get('conditions') or ():
        if condition.get('type') == 'PodScheduled' \
                and condition.get('status') == 'False':
            found.append(condition.get('message'))
    return _line(': '.join(dict.fromkeys(filter(None, found)))
                 or status.get('phase') or '')


def _is_old(metadata, now):
    created = documents.moment(metadata.get('creationTimestamp'))
    return now is None or created is None or (
        now - created).total_seconds() >= _PATIENCE


def _events(seen, ours, since):
    waiting = {(p['metadata'].get('namespace'), p['metadata']['name'])
               for p in seen.pods
               if (p.get('status') or {}).get('phase') == 'Pending'}
    found = {}
    for event in seen.events:
        thing = event.get('involvedObject') or {}
        message = event.get('message') or ''
        full = _DISK_WORDS.search(message)
        reason = event.get('reason') or ''
        kind = DISK if full else _REASONS.get(reason)
        if kind is None or not (thing.get('kind') == 'Node' or ours(
                thing.get('namespace') or '')):
            continue
        when = _when(event)
        if since is not None and (when is None or when < since):
            continue
        if kind == POD and not full and thing.get('kind') == 'Pod' and (
                thing.get('namespace'), thing.get('name')) not in waiting:
            # It has what it waited for by now, or is gone.
            continue
        if kind == POD and _NETWORK_WORDS.search(message):
            kind = NETWORK
        # If hundreds of pods have the same problem, one is reported.
        key = (reason, _IDS.sub('...', message.replace(
            thing.get('name') or '\0', '...')))
        found.setdefault(key, (kind, thing, message))
    for (reason, _), (kind, thing, message) in found.items():
        name = '/'.join(filter(None, (thing.get('namespace')
                                      if thing.get('kind') != 'Node' else '',
                                      thing.get('name'))))
        yield Symptom(
            kind, f'{(thing.get("kind") or "object").lower()} {name}',
            _line(f'{reason}: {_IDS.sub("...", message)}'))


_LONG_AGO = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)


def _when(event):
    series = event.get('series') or {}
    return documents.moment(
        series.get('lastObservedTime') or event.get('lastTimestamp')
        or event.get('eventTime')
        or event['metadata'].get('creationTimestamp'))


def _line(text):
    # Events quote output of programs.
    return texts.line(redact.redact(text), _TEXT)
