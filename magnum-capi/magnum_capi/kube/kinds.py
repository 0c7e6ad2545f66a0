# SPDX-License-Identifier: Apache-2.0

"""The kinds that this driver uses, and their versions and paths.

A management cluster may serve v1beta1, v1beta2 or both of Cluster API, and may
lack the addon operator. So versions are not hard-coded: the server says what
it has and prefers. Pure.
"""

import collections.abc
import dataclasses
import typing

#: An object, or another JSON response of a Kubernetes API.
Object: typing.TypeAlias = dict[str, typing.Any]
Objects: typing.TypeAlias = list[Object]

#: (API group, plural) of each kind whose version is looked up.
DISCOVERED = {
    'Cluster': ('cluster.x-k8s.io', 'clusters'),
    'Machine': ('cluster.x-k8s.io', 'machines'),
    'MachineDeployment': ('cluster.x-k8s.io', 'machinedeployments'),
    'MachineHealthCheck': ('cluster.x-k8s.io', 'machinehealthchecks'),
    'MachineSet': ('cluster.x-k8s.io', 'machinesets'),
    'KubeadmControlPlane': (
        'controlplane.cluster.x-k8s.io', 'kubeadmcontrolplanes'),
    'KubeadmConfigTemplate': (
        'bootstrap.cluster.x-k8s.io', 'kubeadmconfigtemplates'),
    'OpenStackCluster': (
        'infrastructure.cluster.x-k8s.io', 'openstackclusters'),
    'OpenStackMachine': (
        'infrastructure.cluster.x-k8s.io', 'openstackmachines'),
    'OpenStackMachineTemplate': (
        'infrastructure.cluster.x-k8s.io', 'openstackmachinetemplates'),
    'OpenStackServer': (
        'infrastructure.cluster.x-k8s.io', 'openstackservers'),
    'DevCluster': ('infrastructure.cluster.x-k8s.io', 'devclusters'),
    'DevMachineTemplate': (
        'infrastructure.cluster.x-k8s.io', 'devmachinetemplates'),
    'HelmRelease': ('addons.stackhpc.com', 'helmreleases'),
    'Manifests': ('addons.stackhpc.com', 'manifests'),
    'HelmChartProxy': ('addons.cluster.x-k8s.io', 'helmchartproxies'),
    # Who has installed Cluster API: clusterctl, or its operator.
    'Provider': ('clusterctl.cluster.x-k8s.io', 'providers'),
    'CoreProvider': ('operator.cluster.x-k8s.io', 'coreproviders'),
}
_NAMES = {resource: name for name, resource in DISCOVERED.items()}

#: Groups of the above. Others are ignored.
GROUPS = frozenset(group for group, _ in DISCOVERED.values())

#: Group of the control planes of all providers. Providers other than kubeadm
#: are found by the kind that a Cluster names.
_CONTROL_PLANES = 'controlplane.cluster.x-k8s.io'
_CONTROL_PLANE = 'ControlPlane'

#: Kinds that are installed together, of optional providers. One
#: infrastructure provider must exist.
_INFRASTRUCTURES = (
    frozenset(('OpenStackCluster', 'OpenStackMachine',
               'OpenStackMachineTemplate')),
    frozenset(('DevCluster', 'DevMachineTemplate')))
_ADDONS = (frozenset(('HelmRelease', 'Manifests')),
           frozenset(('HelmChartProxy',)))


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind as a server has it."""

    name: str
    api_version: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None = None,
             name: str | None = None) -> str:
        """Path of the collection, or of one object.

        :param namespace: None: the collection of all namespaces, which can
            only be listed and watched.
        """
        root = 'apis' if '/' in self.api_version else 'api'
        path = f'/{root}/{self.api_version}'
        if self.namespaced and namespace is not None:
            path += f'/namespaces/{namespace}'
        path += f'/{self.plural}'
        return path if name is None else f'{path}/{name}'


#: Kinds of Kubernetes itself, which every server has.
BUILT_IN = {kind.name: kind for kind in (
    Kind('Namespace', 'v1', 'namespaces', namespaced=False),
    Kind('Secret', 'v1', 'secrets'),
    Kind('ConfigMap', 'v1', 'configmaps'),
    Kind('Event', 'v1', 'events'),
    Kind('Lease', 'coordination.k8s.io/v1', 'leases'),
)}


def discovered(answer: Object) -> dict[str, Kind]:
    """Find the kinds in an APIGroupDiscoveryList.

    One request returns every kind of every version; servers support it since
    Kubernetes 1.27 (https://kubernetes.io/docs/concepts/overview/
    kubernetes-api/#aggregated-discovery). The first version of a group that
    has a kind is the one that the server prefers for it.

    :returns: by name.
    """
    found: dict[str, Kind] = {}
    for item in answer['items']:
        group = item['metadata']['name']
        for version in item['versions']:
            for resource in version.get('resources', ()):
                name = _name(group, resource)
                if name is not None:
                    found.setdefault(name, Kind(
                        name, f'{group}/{version["version"]}',
                        resource['resource']))
    return found


def is_optional(name: str,
                served: collections.abc.Collection[str]) -> bool:
    """Whether a server without this kind may never have had it.

    All other kinds belong to Cluster API, without which there is no cluster.

    :param name: of a kind that is not served.
    :param served: names of the served kinds.
    """
    if name in ('OpenStackServer', 'Provider', 'CoreProvider'):
        # Older providers only have OpenStackMachines. Cluster API may have
        # been installed by hand.
        return True
    if name == 'KubeadmControlPlane':
        return any(kind.endswith(_CONTROL_PLANE) for kind in served)
    provider = next((kinds for kinds in (*_INFRASTRUCTURES, *_ADDONS)
                     if name in kinds), None)
    if provider is None or not provider.isdisjoint(served):
        # If only half of a provider is missing, it is installed.
        return False
    return provider in _ADDONS or any(
        other.issubset(served) for other in _INFRASTRUCTURES)


def _name(group: str, resource: Object) -> str | None:
    """The name of a resource's kind, None when it does not matter."""
    known = _NAMES.get((group, resource['resource']))
    if known is None and group == _CONTROL_PLANES:
        kind: str = (resource.get('responseKind') or {}).get('kind', '')
        return kind if kind.endswith(_CONTROL_PLANE) else None
    return known
