# SPDX-License-Identifier: Apache-2.0
"""The parts of a management cluster of pods, and their versions.

Pure; the only place that names versions of providers. They are those of the
pinned Go modules, from which the plain processes are built, too. clusterctl
brings cert-manager, in the version that its release names.
"""

from magnum_capi_tempest.management import manifests

#: Version of the machine that Cluster API runs on: the newest minor version
#: whose kubelet supports cgroup v1 without an option.
KUBERNETES = 'v1.34.9'

_CORE, _OPENSTACK = manifests.CLUSTER_API[1], manifests.OPENSTACK[1]

#: Arguments of ``clusterctl init``.
INIT = (f'--core=cluster-api:{_CORE}', f'--bootstrap=kubeadm:{_CORE}',
        f'--control-plane=kubeadm:{_CORE}',
        f'--infrastructure=openstack:{_OPENSTACK}')

#: Manifests of the controller that manages images and servers for the
#: OpenStack provider, which has needed it since release 0.12. The path of its
#: Go module ends with "/v2".
RESOURCE_CONTROLLER = 'https://{}/releases/download/{}/install.yaml'.format(
    manifests.RESOURCE_CONTROLLER[0].rpartition('/')[0],
    manifests.RESOURCE_CONTROLLER[1])

#: Helm chart of the addon provider, and its version.
ADDON_PROVIDER = ('https://azimuth-cloud.github.io/cluster-api-addon-provider',
                  'cluster-api-addon-provider', '0.12.1')
ADDON_NAMESPACE = 'capi-addon-system'

#: Namespace and name of the Deployments that all these make.
DEPLOYMENTS = tuple(
    (f'{name}-system', f'{name}-controller-manager') for name in (
        'capi', 'capi-kubeadm-bootstrap', 'capi-kubeadm-control-plane',
        'capo', 'orc'))
ADDON_DEPLOYMENT = (ADDON_NAMESPACE, ADDON_PROVIDER[1])
