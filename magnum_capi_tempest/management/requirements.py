# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What the sandbox and its tests need of any management cluster.

``magnum-capi management check`` compares this table with what a cluster
serves, so that a missing provider is named before a test fails for a reason
that looks like a driver's fault.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Requirement:
    """A kind that must be served.

    :param provider: who installs it, for the person who has to.
    :param group: API group.
    :param version: API version.
    :param resource: plural, as in a CRD's ``spec.names.plural``.
    """

    provider: str
    group: str
    version: str
    resource: str

    def __str__(self):
        return f'{self.resource}.{self.version}.{self.group}'


def _served(provider, group, versions, *resources):
    return tuple(Requirement(provider, group, version, resource)
                 for version in versions for resource in resources)


#: Both versions of Cluster API: released drivers read v1beta1, newer ones
#: v1beta2.
BOTH = ('v1beta1', 'v1beta2')

#: The one table.
ALL = (
    *_served('Cluster API', 'cluster.x-k8s.io', BOTH,
             'clusters', 'machines', 'machinesets', 'machinedeployments',
             'machinehealthchecks', 'clusterclasses'),
    *_served('kubeadm bootstrap provider', 'bootstrap.cluster.x-k8s.io',
             BOTH, 'kubeadmconfigs', 'kubeadmconfigtemplates'),
    *_served('kubeadm control plane provider',
             'controlplane.cluster.x-k8s.io', BOTH,
             'kubeadmcontrolplanes', 'kubeadmcontrolplanetemplates'),
    *_served('OpenStack infrastructure provider',
             'infrastructure.cluster.x-k8s.io', ('v1beta1',),
             'openstackclusters', 'openstackclustertemplates',
             'openstackmachines', 'openstackmachinetemplates'),
    *_served('addon provider', 'addons.stackhpc.com', ('v1alpha1',),
             'helmreleases', 'manifests'),
)


def missing(served, required=ALL) -> list[Requirement]:
    """The requirements that a cluster does not meet; pure.

    :param served: set of (group, version, resource).
    """
    return [r for r in required
            if (r.group, r.version, r.resource) not in served]


def served(api, required=ALL) -> set[tuple[str, str, str]]:
    """What a cluster serves, of the groups that matter here.

    :param api: :class:`..client.Client`.
    :returns: set of (group, version, resource).
    """
    found = set()
    for group, version in sorted({(r.group, r.version) for r in required}):
        listed = api.get(f'/apis/{group}/{version}') or {}
        found.update((group, version, r['name'])
                     for r in listed.get('resources', ()))
    return found
