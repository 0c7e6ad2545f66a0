# SPDX-License-Identifier: Apache-2.0

"""The state of a workload cluster, from its own API."""

import dataclasses

from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

_ROLE = 'node-role.kubernetes.io/'


@dataclasses.dataclass(frozen=True, order=True)
class Node:
    """A node of a workload cluster.

    ``version`` is the kubelet's, for example v1.34.2; ``roles`` are sorted;
    ``taints`` are triples of key, value (None without one) and effect;
    ``server`` is its id in Nova, empty if it is not a server
    (providerID, "openstack:///ID" or "openstack://REGION/ID":
    https://github.com/kubernetes/cloud-provider-openstack).
    """

    name: str
    ready: bool
    version: str
    roles: tuple[str, ...] = ()
    labels: dict[str, str] = dataclasses.field(
        default_factory=dict, compare=False)
    taints: tuple[tuple[str, str | None, str], ...] = dataclasses.field(
        default=(), compare=False)
    server: str = dataclasses.field(default='', compare=False)

    @property
    def control_plane(self) -> bool:
        return 'control-plane' in self.roles


def node(obj: json_types.Object) -> Node:
    """Return the Node for an object of the API."""
    metadata, status = obj['metadata'], obj.get('status') or {}
    provider, _, ident = ((obj.get('spec') or {}).get('providerID')
                          or '').partition('://')
    return Node(
        name=metadata['name'],
        ready=any(c['type'] == 'Ready' and c['status'] == 'True'
                  for c in status.get('conditions') or []),
        version=(status.get('nodeInfo') or {}).get('kubeletVersion', ''),
        roles=tuple(sorted(
            label.removeprefix(_ROLE)
            for label in metadata.get('labels') or {}
            if label.startswith(_ROLE))),
        labels=dict(metadata.get('labels') or {}),
        taints=tuple(
            (taint['key'], taint.get('value'), taint['effect'])
            for taint in (obj.get('spec') or {}).get('taints') or ()),
        server=ident.rpartition('/')[2] if provider == 'openstack' else '')


@dataclasses.dataclass(frozen=True, order=True)
class Pod:
    """A pod of a workload cluster.

    :param reason: why it is not ready, empty if it is.
    """

    namespace: str
    name: str
    phase: str
    ready: str
    restarts: int
    reason: str
    node: str

    def __str__(self) -> str:
        text = (f'{self.namespace}/{self.name} {self.phase}, '
                f'{self.ready} ready, {self.restarts} restarts, '
                f'on {self.node or "no node"}')
        return text + (f': {self.reason}' if self.reason else '')


def pod(obj: json_types.Object) -> Pod:
    """Return the Pod for an object of the API."""
    status = obj.get('status') or {}
    containers = [*(status.get('initContainerStatuses') or []),
                  *(status.get('containerStatuses') or [])]
    main = status.get('containerStatuses') or []
    reasons = [status.get('reason'), status.get('message')]
    for container in containers:
        for state in ('waiting', 'terminated'):
            found = (container.get('state') or {}).get(state) or {}
            if found.get('reason') != 'Completed':
                reasons += [found.get('reason'), found.get('message')]
    reasons += [condition.get('message')
                for condition in status.get('conditions') or []
                if condition.get('type') == 'PodScheduled'
                and condition.get('status') == 'False']
    return Pod(
        obj['metadata'].get('namespace', ''), obj['metadata']['name'],
        status.get('phase', ''),
        f'{sum(bool(c.get("ready")) for c in main)}/{len(main)}',
        sum(c.get('restartCount') or 0 for c in containers),
        ': '.join(' '.join(r.split()) for r in dict.fromkeys(reasons) if r),
        (obj.get('spec') or {}).get('nodeName') or '')


def pods(kubeconfig: str) -> list[Pod]:
    """List the pods of a kubeconfig's cluster: sorted list of Pod.

    :param kubeconfig: path.
    :raises: like :func:`nodes`.
    """
    return sorted(pod(obj) for obj in kube.Client(kubeconfig).core('pods'))


def nodes(kubeconfig: str) -> list[Node]:
    """List the nodes of a kubeconfig's cluster.

    :param kubeconfig: path.
    :returns: sorted list of Node.
    :raises KubeError: no answer, or refused (``status`` says how).
    :raises EnvironmentProblem: the client library is missing.
    :raises UsageError: the kubeconfig cannot be used.
    """
    return sorted(node(obj) for obj in kube.Client(kubeconfig).nodes())


def status_without_certificate(server: str, ca_pem: str) -> int:
    """List the nodes anonymously.

    :param server: URL of the Kubernetes API.
    :param ca_pem: certificate of the CA that signed the server's: it is
        verified, so that a refusal by another server does not count.
    :returns: HTTP status code; 401, or 403 if anonymous requests are
        accepted but have no rights (kubeadm's default).
    :raises KubeError: there was no answer.
    """
    try:
        kube.Endpoint(server, ca_pem).ask('GET', '/api/v1/nodes')
    except kube.KubeError as e:
        if e.status is None:
            raise
        return e.status
    return 200
