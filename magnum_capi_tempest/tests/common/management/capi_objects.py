# SPDX-License-Identifier: Apache-2.0

"""Changes clusters behind Magnum's back.

In the management cluster (:class:`Management`) and in the cluster itself
(:class:`Workload`), machines are deleted, nodes fail and owner references are
lost. The corresponding checks are those of Cluster API's own end-to-end tests
(https://github.com/kubernetes-sigs/cluster-api, test/framework of v1.14).
"""

import collections.abc
import dataclasses
import functools
from urllib import parse
import uuid

from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

_GROUP_END = 'cluster.x-k8s.io'
_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
_CONTROL_PLANE = 'cluster.x-k8s.io/control-plane'
_DEPLOYMENT = 'cluster.x-k8s.io/deployment-name'

#: Long enough ago for every health check.
LONG_AGO = '2020-01-01T00:00:00Z'


@dataclasses.dataclass(frozen=True)
class Found:
    """An object of the management cluster.

    :param path: of the object in the API.
    :param body: of the object.
    """

    kind: str
    path: str
    body: json_types.Object

    @property
    def name(self) -> str:
        return str(self.body['metadata']['name'])

    @property
    def going(self) -> bool:
        """Whether its deletion was requested."""
        return bool(self.body['metadata'].get('deletionTimestamp'))

    def __str__(self) -> str:
        return f'{self.kind} {self.name}'


@dataclasses.dataclass(frozen=True)
class Machine:
    """A Machine of Cluster API.

    :param phase: "Running" if it has a ready node.
    :param node: name of its Node, empty without one.
    :param version: desired Kubernetes version.
    :param group: name of its MachineDeployment, empty without one.
    """

    name: str
    path: str
    control_plane: bool
    phase: str
    node: str
    version: str
    going: bool = False
    group: str = ''

    def __str__(self) -> str:
        return (f'{self.name} {"going" if self.going else self.phase}'
                f'{" (control plane)" if self.control_plane else ""}')


def machine(found: Found) -> Machine:
    """Return the Machine for a Found."""
    body = found.body
    spec, status = body.get('spec') or {}, body.get('status') or {}
    labels = body['metadata'].get('labels') or {}
    return Machine(
        found.name, found.path, _CONTROL_PLANE in labels,
        status.get('phase', ''),
        (status.get('nodeRef') or {}).get('name') or '',
        spec.get('version', ''), found.going, labels.get(_DEPLOYMENT, ''))


def replacement(before: collections.abc.Collection[str], lost: Machine,
                machines: collections.abc.Sequence[Machine]) -> Machine | None:
    """Return the Machine that replaced another one, or None so far.

    :param before: names of the machines before, including the lost one.
    :param machines: the current ones.
    """
    if len(machines) != len(before) or any(
            m.name == lost.name or m.going or m.phase != 'Running'
            for m in machines):
        return None
    came = [m for m in machines if m.name not in before]
    if [m.control_plane for m in came] != [lost.control_plane]:
        return None
    return came[0]


def in_service(machines: collections.abc.Iterable[Machine], control_plane: bool
               ) -> int:
    """Return how many machines are running and not being deleted."""
    return sum(m.phase == 'Running' and not m.going for m in machines
               if m.control_plane is control_plane)


class Management(kube.Client):
    """Changes a cluster's objects in the management cluster.

    :param kubeconfig: path; its user may change all of these objects.
    """

    @functools.cached_property
    def _cluster_api(self) -> list[tuple[str, str, str, str]]:
        return self.kinds(lambda group: group == _GROUP_END
                          or group.endswith(f'.{_GROUP_END}'))

    def may_change(self) -> bool:
        """Return whether the user may delete machines in any namespace."""
        return bool(self.ask('POST', _REVIEWS, {
            'apiVersion': 'authorization.k8s.io/v1',
            'kind': 'SelfSubjectAccessReview',
            'spec': {'resourceAttributes': {
                'group': _GROUP_END, 'resource': 'machines',
                'verb': 'delete'}}})['status']['allowed'])

    def objects(self, stack_id: str,
                kinds: collections.abc.Container[str] | None = None
                ) -> list[Found]:
        """Return the objects of Cluster API and its providers for a cluster.

        :param kinds: the kinds to return, None for all.
        :returns: sorted by kind and name.
        """
        found = [
            Found(kind, _path(f'/apis/{group}/{version}', plural, obj), obj)
            for group, version, plural, kind in self._cluster_api
            if kinds is None or kind in kinds
            for obj in self.custom(group, version, plural)
            if owners.belongs(obj['metadata'], stack_id)]
        return sorted(found, key=lambda f: (f.kind, f.name))

    def secrets(self, stack_id: str) -> list[Found]:
        """Return the Secrets of a cluster: list of Found without data."""
        return [Found('Secret', _path('/api/v1', 'secrets', obj),
                      {'metadata': obj['metadata']})
                for obj in self.core('secrets')
                if owners.belongs(obj['metadata'], stack_id)]

    def machines(self, stack_id: str) -> list[Machine]:
        """Return a sorted list of Machine."""
        return sorted(map(machine, self.objects(stack_id, ('Machine',))),
                      key=lambda m: m.name)

    def fail_machine(self, path: str, message: str) -> None:
        """Make a Machine look as if its provider had given up on it.

        Sets Cluster API's fields for that, which no controller clears
        (https://cluster-api.sigs.k8s.io/developer/providers/contracts/
        infra-machine: "terminal failures").

        :param path: of the Machine.
        """
        def change(found: json_types.Object) -> None:
            status = found['status']
            if not found['apiVersion'].endswith('/v1beta1'):
                status = status.setdefault('deprecated', {}).setdefault(
                    'v1beta1', {})
            status.update(failureReason='UpdateError', failureMessage=message)

        self.replace(path, change, '/status')

    def pause(self, stack_id: str, paused: bool) -> None:
        """Pause or resume the reconciliation of a cluster by Cluster API."""
        cluster, = [f for f in self.objects(stack_id, ('Cluster',))
                    if f.name == stack_id]
        self.patch(cluster.path, {
            'op': 'add', 'path': '/spec/paused', 'value': paused})


def new_name(kind: str) -> str:
    """Return a new name for an object in a workload cluster.

    Not with Tempest's prefix of resource names: an operator may have chosen
    one that Kubernetes forbids.
    """
    return f'{kind}-{uuid.uuid4().hex[:12]}'


class Workload(kube.Client):
    """Changes a workload cluster from the inside, as its administrator."""

    def fail_node(self, name: str) -> None:
        """Make a node look as if its kubelet had long been silent.

        A node that is gone cannot fail. A running kubelet reports again
        within seconds.
        """
        def change(node: json_types.Object) -> None:
            for condition in node['status']['conditions']:
                if condition['type'] == 'Ready':
                    condition.update(
                        status='Unknown', reason='NodeStatusUnknown',
                        message='Kubelet stopped posting node status.',
                        lastTransitionTime=LONG_AGO)

        if self.get(_node(name)):
            self.replace(_node(name), change, '/status')

    def delete_node(self, name: str) -> None:
        """Delete a Node, as "kubectl delete node" does."""
        self.delete(_node(name))

    def create_pod(self, name: str, node: str | None = None,
                   labels: dict[str, str] | None = None,
                   claim: str | None = None) -> None:
        """Create a pod that does nothing.

        :param node: the node to place it on, whether it can run there or not;
            None: Kubernetes chooses one.
        :param claim: name of a volume claim that it uses.
        """
        container: json_types.Object = {'name': 'pause', 'image': _PAUSE}
        spec = {'terminationGracePeriodSeconds': 0, 'containers': [container]}
        if node:
            spec['nodeName'] = node
        if claim:
            spec['volumes'] = [{'name': 'data', 'persistentVolumeClaim': {
                'claimName': claim}}]
            container['volumeMounts'] = [
                {'name': 'data', 'mountPath': '/data'}]
        self._create(_PODS, 'Pod', name, spec, labels or {})

    def delete_pod(self, name: str) -> None:
        self.delete(f'{_PODS}/{name}')

    def has_pod(self, name: str) -> bool:
        """Return whether a pod exists and is not being deleted."""
        found = self.get(f'{_PODS}/{name}')
        return found is not None and not found['metadata'].get(
            'deletionTimestamp')

    def create_service(self, name: str) -> None:
        """Create a Service with a load balancer, but without pods."""
        self._create(_SERVICES, 'Service', name, {
            'type': 'LoadBalancer', 'selector': {'app': name},
            'ports': [{'port': 80, 'protocol': 'TCP'}]})

    def delete_service(self, name: str) -> None:
        self.delete(f'{_SERVICES}/{name}')

    def balancer_address(self, name: str) -> str | None:
        """Return the address of a Service's load balancer, or None."""
        status = self.ask('GET', f'{_SERVICES}/{name}').get('status') or {}
        ingress = (status.get('loadBalancer') or {}).get('ingress') or [{}]
        found: str | None = ingress[0].get('ip') or ingress[0].get('hostname')
        return found

    def create_claim(self, name: str) -> str:
        """Create a claim for a volume of 1 GiB of the default class.

        :returns: its uid, which is in the name of the volume.
        """
        created = self._create(_CLAIMS, 'PersistentVolumeClaim', name, {
            'accessModes': ['ReadWriteOnce'],
            'resources': {'requests': {'storage': '1Gi'}}})
        return str(created['metadata']['uid'])

    def delete_claim(self, name: str) -> None:
        self.delete(f'{_CLAIMS}/{name}')

    def _create(self, path: str, kind: str, name: str, spec: json_types.Object,
                labels: dict[str, str] | None = None) -> json_types.Object:
        return self.ask('POST', path, {
            'apiVersion': 'v1', 'kind': kind, 'spec': spec,
            'metadata': {'name': name, 'namespace': 'default',
                         'labels': labels or {}}})


_PODS = '/api/v1/namespaces/default/pods'
_SERVICES = '/api/v1/namespaces/default/services'
_CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
#: kubeadm pulls it on every node.
_PAUSE = 'registry.k8s.io/pause:3.10'


def _node(name: str) -> str:
    return f'/api/v1/nodes/{parse.quote(name, safe="")}'


def _path(api: str, plural: str, obj: json_types.Object) -> str:
    metadata = obj['metadata']
    return (f'{api}/namespaces/{metadata["namespace"]}/{plural}/'
            f'{metadata["name"]}')
