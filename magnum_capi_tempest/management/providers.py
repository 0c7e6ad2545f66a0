# SPDX-License-Identifier: Apache-2.0
"""The parts of a management cluster of pods, and their versions.

Pure; the only place that names versions of providers. They are those of the
pinned Go modules, from which the plain processes are built, too.
"""

import dataclasses

from magnum_capi import errors
from magnum_capi_tempest.management import manifests

#: Version of the machine that Cluster API runs on: the newest minor version
#: whose kubelet supports cgroup v1 without an option.
KUBERNETES = 'v1.34.9'

CERT_MANAGER = ('github.com/cert-manager/cert-manager', 'v1.21.1')
#: Manages images and servers for the OpenStack provider, which has needed it
#: since release 0.12.
RESOURCE_CONTROLLER = manifests.RESOURCE_CONTROLLER

#: Helm chart of the addon provider, and its version.
ADDON_PROVIDER = ('https://azimuth-cloud.github.io/cluster-api-addon-provider',
                  'cluster-api-addon-provider', '0.12.1')


@dataclasses.dataclass(frozen=True)
class Provider:
    """A provider of Cluster API, as clusterctl knows it.

    :param name: "kubeadm".
    :param type: "BootstrapProvider".
    :param label: of its folder in a repository: "bootstrap-kubeadm"; also
        the value of the label ``cluster.x-k8s.io/provider``.
    :param namespace: of its Deployment.
    :param flag: of ``clusterctl init``.
    :param module: path and version of the Go module with its manifests.
    :param tree: folder of the kustomize tree in that module.
    :param metadata: path and version of the Go module with metadata.yaml.
    :param image: without its tag, which is the version.
    """

    name: str
    type: str
    label: str
    namespace: str
    flag: str
    module: tuple[str, str]
    tree: str
    metadata: tuple[str, str]
    image: str

    @property
    def version(self) -> str:
        return self.module[1]

    @property
    def components(self) -> str:
        """Name of the file with its manifests."""
        kind = {'CoreProvider': 'core', 'BootstrapProvider': 'bootstrap',
                'ControlPlaneProvider': 'control-plane',
                'InfrastructureProvider': 'infrastructure'}[self.type]
        return f'{kind}-components.yaml'

    @property
    def reference(self) -> str:
        """Reference of its image."""
        return f'{self.image}:{self.version}'


#: The providers of every management cluster. Names of the images: Makefile of
#: kubernetes-sigs/cluster-api, PROD_REGISTRY.
CORE = (
    Provider('cluster-api', 'CoreProvider', 'cluster-api', 'capi-system',
             '--core', manifests.CLUSTER_API, 'core/config/default',
             manifests.CLUSTER_API,
             'registry.k8s.io/cluster-api/cluster-api-controller'),
    Provider('kubeadm', 'BootstrapProvider', 'bootstrap-kubeadm',
             'capi-kubeadm-bootstrap-system', '--bootstrap',
             manifests.CLUSTER_API, 'bootstrap/kubeadm/config/default',
             manifests.CLUSTER_API,
             'registry.k8s.io/cluster-api/kubeadm-bootstrap-controller'),
    Provider('kubeadm', 'ControlPlaneProvider', 'control-plane-kubeadm',
             'capi-kubeadm-control-plane-system', '--control-plane',
             manifests.CLUSTER_API, 'controlplane/kubeadm/config/default',
             manifests.CLUSTER_API,
             'registry.k8s.io/cluster-api/kubeadm-control-plane-controller'),
)

#: Where machines come from, by the name of ``--infrastructure``.
INFRASTRUCTURES = {
    # Cluster API's own provider for development and tests.
    'docker': Provider(
        'docker', 'InfrastructureProvider', 'infrastructure-docker',
        'capd-system', '--infrastructure', manifests.TEST,
        manifests.DOCKER, manifests.CLUSTER_API,
        'gcr.io/k8s-staging-cluster-api/capd-manager'),
    'openstack': Provider(
        'openstack', 'InfrastructureProvider', 'infrastructure-openstack',
        'capo-system', '--infrastructure', manifests.OPENSTACK,
        'config/default', manifests.OPENSTACK,
        'registry.k8s.io/capi-openstack/capi-openstack-controller'),
}


def chosen(infrastructure) -> tuple[Provider, ...]:
    """The providers of a management cluster.

    :raises UsageError: there is no such infrastructure.
    """
    try:
        return (*CORE, INFRASTRUCTURES[infrastructure])
    except KeyError:
        raise errors.UsageError(
            f'Unknown infrastructure provider {infrastructure!r}',
            hint=f'Use one of: {", ".join(INFRASTRUCTURES)}') from None
