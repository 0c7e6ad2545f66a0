# SPDX-License-Identifier: Apache-2.0


"""Reads a cluster before a run, for :mod:`.preflight` to judge."""

import dataclasses
import datetime

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import observe
from magnum_capi_tempest.conformance.run import symptoms as symptoms_
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

#: The taint that Sonobuoy's pod tolerates, according to "sonobuoy gen" of
#: v0.57.5. The pod of its plugin e2e tolerates more, but comes after it.
_TOLERATED = 'kubernetes.io/e2e-evict-taint-key'

#: Images that a kubelet lists, by default at most (nodeStatusMaxImages).
_MOST_IMAGES = 50


@dataclasses.dataclass(frozen=True)
class Node:
    """A node, and what is already requested from it.

    :param free_pods: number of further pods that it accepts.
    :param free_cpu: CPUs that no pod has requested.
    :param free_memory: bytes that no pod has requested.
    :param images: names of the images that its kubelet lists.
    :param images_cut: that list may lack images.
    :param cordoned: no pods are scheduled on it.
    :param taints: keys of those that keep pods away.
    :param why: it is not ready, or not schedulable.
    :param families: of its addresses, "IPv4" and "IPv6", in its order.
    :param system: description of its operating system.
    :param runtime: its container runtime, "containerd://2.1.4".
    """

    name: str
    ready: bool
    schedulable: bool
    version: str = ''
    free_pods: int = 0
    free_cpu: float = 0.0
    free_memory: int = 0
    images: frozenset[str] = frozenset()
    labels: frozenset[tuple[str, str]] = frozenset()
    why: str = ''
    system: str = ''
    cordoned: bool = False
    taints: frozenset[str] = frozenset()
    families: tuple[str, ...] = ()
    images_cut: bool = False
    runtime: str = ''


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The cluster before a run.

    :param version: of the API server, ``v1.34.9``.
    :param namespace: phase of the run's namespace if it exists; else empty.
    :param e2e: namespaces of tests that are running, or were left behind.
    :param dns: pods of the cluster's DNS that are ready.
    :param signs: other problems, a line each.
    :param services: IP families of services, in their order, as far as the
        service of the API server shows them.
    :param has_run: the namespace has the sign of a run.
    :param unstarted: number of pods that are Running, if a container runtime
        has started none of the containers of the cluster; else 0.
    """

    version: str
    nodes: tuple[Node, ...]
    namespace: str = ''
    e2e: tuple[str, ...] = ()
    dns: int = 1
    signs: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    has_run: bool = False
    unstarted: int = 0

    @property
    def stand_in(self) -> bool:
        """Are nodes made from stand-ins for upstream's images?"""
        return any(model.STAND_IN in node.system for node in self.nodes)


def look(reader: kube.Client, namespace) -> Snapshot:
    """Read a cluster.

    :raises EnvironmentProblem: the API cannot be used; says why.
    """
    now = datetime.datetime.now(datetime.timezone.utc)
    try:
        version = (reader.get('/version') or {}).get('gitVersion') or ''
        pods = reader.items('/api/v1/pods')
        nodes = reader.items('/api/v1/nodes')
        spaces = reader.items('/api/v1/namespaces')
    except kube.KubeError as e:
        raise errors.EnvironmentProblem(
            'The Kubernetes API of the cluster cannot be used: '
            f'{e.what}', where=e.where, last_seen=e.last_seen,
            hint='Nothing was created') from e
    space = next((s for s in spaces if s['metadata']['name'] == namespace),
                 None)
    # A run takes the place of what is in its namespace.
    others = [p for p in pods if p['metadata'].get('namespace') != namespace]
    return Snapshot(
        version, tuple(_node(n, others) for n in nodes),
        _phase(space) if space else '',
        namespaces.of_tests(spaces),
        sum(_serves_dns(p) for p in pods),
        symptoms_.signs(nodes, pods, now),
        _families(_service(reader)),
        bool(space) and _has_run(reader, space, pods), _unstarted(others))


def _unstarted(pods):
    """The number of pods that only their status says to be running.

    A kubelet reports the container runtime's id of each container that was
    started (convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go of
    Kubernetes); simulated nodes have no container runtime. Without any pods
    nothing is known.
    """
    started = any(status.get('containerID') for pod in pods for status in (
        pod.get('status') or {}).get('containerStatuses') or ())
    return 0 if started else sum(
        observe.pod(pod).phase == 'Running' for pod in pods)


def _has_run(reader, space, pods):
    """Whether a namespace certainly has the sign of a run."""
    try:
        return namespaces.has_run(reader, space, pods)
    except kube.KubeError:
        return False


def _service(reader):
    """Addresses of the service of the API server."""
    try:
        found = reader.get('/api/v1/namespaces/default/services/kubernetes')
    except kube.KubeError:
        return ()
    spec = (found or {}).get('spec') or {}
    return spec.get('clusterIPs') or [spec.get('clusterIP')]


def _families(addresses):
    return tuple(dict.fromkeys(
        'IPv6' if ':' in address else 'IPv4' for address in addresses
        if isinstance(address, str) and address))


def _phase(space):
    return (space.get('status') or {}).get('phase') or 'Active'


def _serves_dns(pod):
    return symptoms_.serves_dns(pod) and any(
        c.get('type') == 'Ready' and c.get('status') == 'True'
        for c in (pod.get('status') or {}).get('conditions') or ())


def _node(obj, pods):
    name, spec = obj['metadata']['name'], obj.get('spec') or {}
    status = obj.get('status') or {}
    there = status.get('allocatable') or {}
    mine = [p for p in pods if (p.get('spec') or {}).get('nodeName') == name
            and observe.pod(p).phase not in ('Succeeded', 'Failed')]
    requests = [c.get('resources', {}).get('requests') or {}
                for p in mine for c in p['spec'].get('containers') or ()]
    info = status.get('nodeInfo') or {}
    why = symptoms_.not_ready(obj)
    taints = [t.get('key') or '' for t in spec.get('taints') or ()
              if t.get('effect') in ('NoSchedule', 'NoExecute')]
    bad = [key for key in taints if key != _TOLERATED]
    return Node(
        name, not why, not spec.get('unschedulable') and not bad,
        info.get('kubeletVersion') or '',
        int(quantity(there.get('pods', 0))) - len(mine),
        quantity(there.get('cpu', 0)) - sum(
            quantity(r.get('cpu', 0)) for r in requests),
        int(quantity(there.get('memory', 0)) - sum(
            quantity(r.get('memory', 0)) for r in requests)),
        frozenset(n for i in status.get('images') or ()
                  for n in i.get('names') or ()),
        frozenset((obj['metadata'].get('labels') or {}).items()),
        why or ', '.join(bad), texts.line(info.get('osImage') or ''),
        bool(spec.get('unschedulable')), frozenset(taints),
        _families(a.get('address') for a in status.get('addresses') or ()
                  if a.get('type') == 'InternalIP'),
        len(status.get('images') or ()) >= _MOST_IMAGES,
        texts.line(info.get('containerRuntimeVersion') or ''))


def quantity(text) -> float:
    """A Kubernetes quantity as a number: "500m" is 0.5, "2Gi" 2147483648.

    0 if malformed: free resources only matter for warnings.
    """
    from kubernetes import utils
    try:
        return float(utils.parse_quantity(text))
    except ValueError:
        return 0.0
