# SPDX-License-Identifier: Apache-2.0

"""What drivers and tests need of any management cluster, ours or not.

``magnum-capi management check`` compares these tables with what a cluster
serves, runs and allows (:mod:`.inspection`), so that a missing provider is
reported before a test fails for a reason that looks like a driver's fault.
Pure, except for :func:`served` and :func:`permissions`.
"""

import collections.abc
import dataclasses

import yaml

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import resources


@dataclasses.dataclass(frozen=True)
class Requirement:
    """A kind that must be served.

    :param provider: the component that installs it, for messages.
    :param group: API group.
    :param version: API version.
    :param resource: plural, as in a CRD's ``spec.names.plural``.
    :param ends: whether newer releases of the provider do not serve it.
    """

    provider: str
    group: str
    version: str
    resource: str
    ends: bool = False

    def __str__(self) -> str:
        return f'{self.resource}.{self.version}.{self.group}'


def _served(provider: str, group: str, versions: collections.abc.Sequence[str],
            *resources: str) -> tuple[Requirement, ...]:
    return tuple(Requirement(provider, group, version, resource,
                             version == OLD and versions == BOTH)
                 for version in versions for resource in resources)


#: Both versions of Cluster API: older drivers read v1beta1, newer ones
#: v1beta2. Release 1.16 is to serve v1beta1 no longer (its
#: docs/book/src/reference/versions.md).
OLD = 'v1beta1'
BOTH = (OLD, 'v1beta2')

_OPENSTACK = 'OpenStack infrastructure provider'
_ADDON = 'addon provider'
_ADDON_GROUP = 'addons.stackhpc.com'

#: The table of kinds.
ALL = (
    *_served('Cluster API', 'cluster.x-k8s.io', BOTH,
             'clusters', 'machines', 'machinesets', 'machinedeployments',
             'machinehealthchecks', 'clusterclasses'),
    *_served('kubeadm bootstrap provider', 'bootstrap.cluster.x-k8s.io',
             BOTH, 'kubeadmconfigs', 'kubeadmconfigtemplates'),
    *_served('kubeadm control plane provider',
             'controlplane.cluster.x-k8s.io', BOTH,
             'kubeadmcontrolplanes', 'kubeadmcontrolplanetemplates'),
    *_served(_OPENSTACK, 'infrastructure.cluster.x-k8s.io', ('v1beta1',),
             'openstackclusters', 'openstackclustertemplates',
             'openstackmachines', 'openstackmachinetemplates'),
    *_served(_ADDON, _ADDON_GROUP, ('v1alpha1',),
             'helmreleases', 'manifests'),
)

#: Added if the OpenStack provider runs in pods, where it reads images.
RESOURCES = _served('OpenStack resource controller',
                    'openstack.k-orc.cloud', ('v1alpha1',), 'images')


def of(addon_provider: bool = True) -> tuple[Requirement, ...]:
    """The kinds that clusters need.

    :returns: tuple of :class:`Requirement`.
    """
    return tuple(r for r in ALL if addon_provider or r.provider != _ADDON)


@dataclasses.dataclass(frozen=True)
class Release:
    """The oldest release of a provider that works.

    :param label: value of the label ``cluster.x-k8s.io/provider``.
    :param reason: what an older one lacks.
    """

    label: str
    oldest: tuple[int, int, int]
    reason: str


_V1BETA2 = 'v1beta2 of the API, which newer drivers read'

#: If providers run as Deployments, their images name the release.
RELEASES = (
    Release('cluster-api', (1, 11, 0), _V1BETA2),
    Release('bootstrap-kubeadm', (1, 11, 0), _V1BETA2),
    Release('control-plane-kubeadm', (1, 11, 0), _V1BETA2),
    Release('infrastructure-openstack', (0, 12, 0),
            'v1beta1 of its API with images of the resource controller'),
)

#: From this release on, the OpenStack provider needs the resource controller
#: (its docs/book/src/clusteropenstack/configuration.md).
WANTS_RESOURCES = (0, 12, 0)


@dataclasses.dataclass(frozen=True)
class Permission:
    """What the driver must be allowed in any namespace."""

    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        name = f'{self.resource}.{self.group}' if self.group \
            else self.resource
        return f'{self.verb} {name}'


#: What operators grant the driver's user. Its life takes each of these rights,
#: and no other (tests/functional/driver/test_rbac.py).
ROLE = 'drivers/k8s_capi_v1/rbac.yaml'

#: Those of it without which nothing fails, with what happens instead.
OPTIONAL = frozenset((
    # The namespace is created, even if it exists.
    Permission('', 'namespaces', 'get'),
    # Providers before 0.12 have none; then reasons are in OpenStackMachines.
    Permission('infrastructure.cluster.x-k8s.io', 'openstackservers', 'list'),
    # Nothing is refused because of the release of Cluster API.
    Permission('clusterctl.cluster.x-k8s.io', 'providers', 'list'),
    Permission('operator.cluster.x-k8s.io', 'coreproviders', 'list')))


def permissions(addon_provider: bool = True) -> tuple[Permission, ...]:
    """What the driver and its helm must be allowed.

    :returns: tuple of :class:`Permission`.
    :raises EnvironmentProblem: the installation lacks :data:`ROLE`.
    """
    rules = yaml.safe_load(
        resources.find(ROLE).read_text(encoding='utf-8'))['rules']
    return tuple(
        wanted for rule in rules for group in rule['apiGroups']
        if addon_provider or group != _ADDON_GROUP
        for resource in rule['resources'] for verb in rule['verbs']
        if (wanted := Permission(group, resource, verb)) not in OPTIONAL)


def missing(served: collections.abc.Set[tuple[str, ...]],
            required: collections.abc.Sequence[Requirement] = ALL
            ) -> list[Requirement]:
    """The requirements that a cluster does not meet; pure.

    :param served: set of (group, version, resource).
    """
    return [r for r in required
            if (r.group, r.version, r.resource) not in served]


def served(api: kube.Client,
           required: collections.abc.Sequence[Requirement] = ALL
           ) -> set[tuple[str, str, str]]:
    """The resources of the required groups that a cluster serves.

    :param api: :class:`..kubeclient.kube.Client`.
    :returns: set of (group, version, resource).
    """
    found: set[tuple[str, str, str]] = set()
    for group, version in sorted({(r.group, r.version) for r in required}):
        listed = api.get(f'/apis/{group}/{version}') or {}
        found.update((group, version, r['name'])
                     for r in listed.get('resources', ()))
    return found
