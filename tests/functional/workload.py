# SPDX-License-Identifier: Apache-2.0

"""A small workload cluster made of plain objects, for functional tests."""

import base64
import pathlib
import tempfile

from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube

_NAMESPACE = 'default'


def objects(name, version='v1.34.2', workers=1):
    """One control plane machine and a node group, with a CNI addon."""
    infrastructure = 'infrastructure.cluster.x-k8s.io'

    def thing(api_version, kind, spec, suffix='', labels=None):
        return {'apiVersion': api_version, 'kind': kind,
                'metadata': {'name': name + suffix, 'labels': labels or {}},
                'spec': spec}

    def ref(group, kind, suffix=''):
        return {'apiGroup': group, 'kind': kind, 'name': name + suffix}

    machines = ref(infrastructure, 'OpenStackMachineTemplate')
    return [
        {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {
            'name': credentials(name)},
         'stringData': {'clouds.yaml': '{clouds: {openstack: {}}}'}},
        thing('cluster.x-k8s.io/v1beta2', 'Cluster', {
            'clusterNetwork': {
                'pods': {'cidrBlocks': ['172.16.0.0/13']},
                'services': {'cidrBlocks': ['172.24.0.0/13']}},
            'controlPlaneRef': ref('controlplane.cluster.x-k8s.io',
                                   'KubeadmControlPlane', '-control-plane'),
            'infrastructureRef': ref(infrastructure, 'OpenStackCluster')}),
        thing(f'{infrastructure}/v1beta1', 'OpenStackCluster', {
            'identityRef': {'name': credentials(name),
                            'cloudName': 'openstack'}}),
        thing(f'{infrastructure}/v1beta1', 'OpenStackMachineTemplate', {
            'template': {'spec': {
                'flavor': 'm1.small',
                'image': {'id': 'e9f1a0b2-0000-4000-a000-000000000001'}}}}),
        thing('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane',
              {'replicas': 1, 'version': version, 'machineTemplate': {
                  'spec': {'infrastructureRef': machines}}},
              '-control-plane'),
        thing('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate',
              {'template': {'spec': {'joinConfiguration': {
                  'nodeRegistration': {'name': '{{ local_hostname }}'}}}}}),
        thing('cluster.x-k8s.io/v1beta2', 'MachineDeployment', {
            'clusterName': name, 'replicas': workers,
            'template': {'spec': {
                'clusterName': name, 'version': version,
                'bootstrap': {'configRef': ref(
                    'bootstrap.cluster.x-k8s.io', 'KubeadmConfigTemplate')},
                'infrastructureRef': machines}}}, '-workers'),
        thing('addons.stackhpc.com/v1alpha1', 'HelmRelease',
              {'clusterName': name, 'bootstrap': True}, '-cni-calico',
              {'capi.stackhpc.com/component': 'cni-calico'})]


def credentials(name):
    """Name of the Secret by which the provider uses the cloud."""
    return f'{name}-cloud-credentials'


def create(api, name, **kwargs):
    for o in objects(name, **kwargs):
        api.ask('POST', _path(o['apiVersion'], o['kind']), o)


def get(api, name, version='v1beta2'):
    return api.get(_path(f'cluster.x-k8s.io/{version}', 'Cluster', name))


def wait_available(api, name):
    waiting.wait_for(
        lambda: conditions(get(api, name)),
        done=lambda c: c.get('Available') == 'True', timeout=600,
        what=f'cluster {name} to be available')


def conditions(o):
    return {c['type']: c['status']
            for c in o.get('status', {}).get('conditions') or ()}


def nodes(api, name):
    """Kubelet versions of the nodes, by node name."""
    secret = api.get(_path('v1', 'Secret', f'{name}-kubeconfig'))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'kubeconfig'
        path.write_bytes(base64.b64decode(secret['data']['value']))
        found = kube.Client(path).get('/api/v1/nodes')['items']
    return {n['metadata']['name']: n['status']['nodeInfo']['kubeletVersion']
            for n in found}


def resize(api, name, replicas):
    path = _path('cluster.x-k8s.io/v1beta2', 'MachineDeployment',
                 f'{name}-workers')

    def put():
        o = api.get(path)
        o['spec']['replicas'] = replicas
        try:
            return api.ask('PUT', path, o)
        except kube.KubeError as e:
            # A controller was quicker: our version is outdated.
            if e.status == 409:
                return None
            raise

    waiting.wait_for(put, done=bool, timeout=120,
                     what=f'{path} to be changed')


def delete(api, name):
    """Delete the cluster and wait until all its objects are collected."""
    for o in objects(name):
        path = _path(o['apiVersion'], o['kind'], o['metadata']['name'])
        if o['kind'] in ('Cluster', 'OpenStackMachineTemplate',
                         'KubeadmConfigTemplate') and api.get(path):
            api.ask('DELETE', path)
    kept = f'Secret/{credentials(name)}'
    waiting.wait_for(
        lambda: [o for o in left_over(api) if f'/{name}' in o and o != kept],
        done=lambda left: not left, timeout=600,
        what=f'everything of cluster {name} to be gone')
    path = _path('v1', 'Secret', credentials(name))
    if api.get(path):
        api.ask('DELETE', path)


def left_over(api):
    """Objects that belong to workload clusters, as "kind/name"."""
    kinds = {(o['apiVersion'], o['kind']) for o in objects('x')} | {
        ('cluster.x-k8s.io/v1beta2', 'Machine'),
        ('cluster.x-k8s.io/v1beta2', 'MachineSet'),
        ('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfig'),
        ('infrastructure.cluster.x-k8s.io/v1beta1', 'OpenStackMachine'),
        ('infrastructure.cluster.x-k8s.io/v1alpha1', 'OpenStackServer'),
        ('v1', 'Secret')}
    return sorted(f'{kind}/{o["metadata"]["name"]}'
                  for version, kind in kinds
                  for o in api.get(_path(version, kind))['items'])


def path(version, kind, name=''):
    """Path of a resource in the namespace of these clusters."""
    return _path(version, kind, name)


def _path(version, kind, name=''):
    root = f'/apis/{version}' if '/' in version else f'/api/{version}'
    path = f'{root}/namespaces/{_NAMESPACE}/{kind.lower()}s'
    return f'{path}/{name}' if name else path
