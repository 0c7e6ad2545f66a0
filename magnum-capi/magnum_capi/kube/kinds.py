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
_DISCOVERED = {
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
}

#: Group of the control planes of all providers. Providers other than kubeadm
#: are found by the kind that a Cluster names.
_CONTROL_PLANES = 'controlplane.cluster.x-k8s.io'
_CONTROL_PLANE = 'ControlPlane'

#: Groups of the above. Others are ignored.
GROUPS = frozenset(group for group, _ in _DISCOVERED.values())

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

    def path(self, namespace: str | None = None, name: str | None = None,
             everywhere: bool = False) -> str:
        """Path of the collection, or of one object.

        :param everywhere: the collection of all namespaces.
        """
        root = 'apis' if '/' in self.api_version else 'api'
        path = f'/{root}/{self.api_version}'
        if self.namespaced and not everywhere:
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


def aggregated(answer: Object) -> dict[str, Kind]:
    """Find the kinds in an APIGroupDiscoveryList.

    One request returns every kind of every version; servers support it since
    Kubernetes 1.27 (https://kubernetes.io/docs/concepts/overview/
    kubernetes-api/#aggregated-discovery). The first version of a group that
    has a kind is the one that the server prefers for it.

    :returns: by name.
    """
    found: dict[str, Kind] = {}
    for group in answer.get('items', ()):
        name = group['metadata']['name']
        for version in group.get('versions', ()):
            _add(found, name, version['version'], {
                r['resource']: (r.get('responseKind') or {}).get('kind', '')
                for r in version.get('resources', ())})
    return found


def preferences(answer: Object) -> list[tuple[str, str]]:
    """Group versions to request, from an APIGroupList of an older server.

    :returns: (group, version), the preferred version first.
    """
    wanted: list[tuple[str, str]] = []
    for group in answer.get('groups', ()):
        if group['name'] not in GROUPS:
            continue
        first = group['preferredVersion']['version']
        others = [v['version'] for v in group['versions']
                  if v['version'] != first]
        wanted += [(group['name'], v) for v in (first, *others)]
    return wanted


def listed(
        answers: collections.abc.Iterable[tuple[str, str, Object]]
) -> dict[str, Kind]:
    """Find the kinds in APIResourceLists.

    :param answers: (group, version, APIResourceList), in the order of
        :func:`preferences`.
    :returns: by name.
    """
    found: dict[str, Kind] = {}
    for group, version, answer in answers:
        _add(found, group, version, {
            r['name']: r.get('kind', '') for r in answer.get('resources', ())})
    return found


def is_dispensable(name: str,
                   served: collections.abc.Iterable[str]) -> bool:
    """Whether a server without this kind may never have had it.

    All other kinds belong to Cluster API, without which there is no cluster.

    :param name: of a kind that is not served.
    :param served: names of the served kinds.
    """
    if name == 'OpenStackServer':
        # Older providers only have OpenStackMachines.
        return True
    served = set(served)
    if name == 'KubeadmControlPlane':
        return any(kind.endswith(_CONTROL_PLANE) for kind in served)
    provider = next((kinds for kinds in (*_INFRASTRUCTURES, *_ADDONS)
                     if name in kinds), None)
    if provider is None or provider & served:
        # If only half of a provider is missing, it is installed.
        return False
    return provider in _ADDONS or any(
        other <= served for other in _INFRASTRUCTURES)


def _add(found: dict[str, Kind], group: str, version: str,
         resources: dict[str, str]) -> None:
    """Add the kinds of a version of a group.

    :param resources: kinds by their plurals; subresources have a slash.
    """
    wanted = {name: plural for name, (wanted_group, plural)
              in _DISCOVERED.items()
              if wanted_group == group and plural in resources}
    if group == _CONTROL_PLANES:
        wanted |= {name: plural for plural, name in resources.items()
                   if name.endswith(_CONTROL_PLANE) and '/' not in plural}
    for name, plural in wanted.items():
        found.setdefault(name, Kind(name, f'{group}/{version}', plural))
