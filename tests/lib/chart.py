# SPDX-License-Identifier: Apache-2.0

"""What the sandbox's chart renders, without helm.

Only for OpenStack's machines that are no containers. Names of templates end
with other hashes than helm's, of the same things.
"""

import copy
import functools
import hashlib
import json
import pathlib
import re
import typing

import yaml

FOLDER = (pathlib.Path(__file__).parents[2] / 'sandbox/charts/sandbox-cluster')

_KEEP = {'helm.sh/resource-policy': 'keep'}
_API = 'v1beta1'
_CORE = f'cluster.x-k8s.io/{_API}'
_INFRASTRUCTURE = f'infrastructure.cluster.x-k8s.io/{_API}'
_PLANE = f'controlplane.cluster.x-k8s.io/{_API}'
_BOOTSTRAP = f'bootstrap.cluster.x-k8s.io/{_API}'
_TIMEOUTS = {'nodeDrainTimeout': '5m0s', 'nodeVolumeDetachTimeout': '5m0s',
             'nodeDeletionTimeout': '5m0s'}


class Refused(Exception):
    """The chart's own message about values that it does not take."""


@functools.cache
def _defaults() -> dict:
    return yaml.safe_load((FOLDER / 'values.yaml').read_text())


@functools.cache
def metadata() -> dict:
    """Chart.yaml."""
    return yaml.safe_load((FOLDER / 'Chart.yaml').read_text())


def merged(defaults: typing.Any, given: typing.Any) -> typing.Any:
    """As helm merges values; None removes a default."""
    if not isinstance(defaults, dict) or not isinstance(given, dict):
        return copy.deepcopy(given)
    found = copy.deepcopy(defaults)
    for key, value in given.items():
        if value is None:
            found.pop(key, None)
        elif key in found:
            found[key] = merged(found[key], value)
        else:
            found[key] = copy.deepcopy(value)
    return found


def render(release: str, namespace: str, given: dict) -> list[dict]:
    """The objects of a release.

    :raises Refused: the chart fails.
    """
    return _Chart(release, namespace, merged(_defaults(), given)).objects()


class _Chart:

    def __init__(self, release: str, namespace: str, values: dict) -> None:
        self._release = release
        self._namespace = namespace
        self._values = values
        self._cluster = release[:63].removesuffix('-')

    def objects(self) -> list[dict]:
        found = [self._of_cluster(), *self._plane(), self._network(),
                 *self._addons()]
        for group in self._values['nodeGroups']:
            found += self._group(self._checked(group))
        return found

    def _name(self, part: str) -> str:
        return f'{self._release}-{part}'[:63].removesuffix('-')

    def _labels(self, *parts: str) -> dict:
        chart = metadata()
        prefix = self._values['projectPrefix']
        return {'helm.sh/chart': f'{chart["name"]}-{chart["version"]}',
                f'{prefix}/managed-by': 'Helm',
                f'{prefix}/infrastructure-provider': 'openstack',
                **self._selector(*parts)}

    def _selector(self, *parts: str) -> dict:
        prefix = self._values['projectPrefix']
        return {f'{prefix}/cluster': self._cluster, **{
            f'{prefix}/{key}': value for key, value in zip(
                ('component', 'node-group'), parts)}}

    def _object(self, version: str, kind: str, name: str,
                labels: dict, spec: dict, **annotations: str) -> dict:
        made = {'name': name, 'labels': labels}
        if annotations:
            made['annotations'] = annotations
        return {'apiVersion': version, 'kind': kind, 'metadata': made,
                'spec': spec}

    def _of_cluster(self) -> dict:
        def ref(version, kind, name):
            return {'apiVersion': version, 'kind': kind, 'name': name,
                    'namespace': self._namespace}
        return self._object(
            _CORE, 'Cluster', self._cluster, self._labels(), {
                'clusterNetwork': copy.deepcopy(self._values['kubeNetwork']),
                'controlPlaneRef': ref(_PLANE, 'KubeadmControlPlane',
                                       self._name('control-plane')),
                'infrastructureRef': ref(_INFRASTRUCTURE, 'OpenStackCluster',
                                         self._cluster)},
            **(self._values.get('clusterAnnotations') or {}))

    def _plane(self) -> list[dict]:
        plane = copy.deepcopy(self._values['controlPlane'])
        etcd = (self._values.get('etcd') or {}).get('blockDevice') or {}
        if etcd.get('size'):
            plane['additionalBlockDevices'] = {'etcd': etcd}
        template, spec, digest = self._template(plane, 'control-plane')
        labels = self._labels('control-plane')
        registration = self._registration(plane, '')
        config = {
            'clusterConfiguration': {'controllerManager': {
                'extraArgs': {'cloud-provider': 'external'}}},
            'initConfiguration': {'nodeRegistration': registration},
            'joinConfiguration': {
                'nodeRegistration': copy.deepcopy(registration)},
            **_files(plane)}
        made = self._object(
            _PLANE, 'KubeadmControlPlane', self._name('control-plane'),
            labels, {
                'replicas': int(plane['machineCount']),
                'version': self._version({}),
                'remediationStrategy': plane['remediationStrategy'],
                'rolloutStrategy': plane['rolloutStrategy'],
                'machineTemplate': {
                    'metadata': {'labels': self._selector('control-plane')},
                    'infrastructureRef': {
                        'apiVersion': _INFRASTRUCTURE,
                        'kind': 'OpenStackMachineTemplate',
                        'name': template},
                    **_TIMEOUTS},
                'kubeadmConfigSpec': config}, **_KEEP)
        found = [made, self._made_template(template, labels, spec, digest)]
        if plane['healthCheck']['enabled']:
            found.append(self._health(
                self._name('control-plane'), plane, labels, 'control-plane'))
        return found

    def _made_template(self, name: str, labels: dict, spec: dict,
                       digest: str) -> dict:
        prefix = self._values['projectPrefix']
        return self._object(
            _INFRASTRUCTURE, 'OpenStackMachineTemplate', name, dict(labels),
            spec, **{f'{prefix}/template-checksum': digest}, **_KEEP)

    def _health(self, name: str, machines: dict, labels: dict,
                *parts: str) -> dict:
        return self._object(
            _CORE, 'MachineHealthCheck', name, dict(labels), {
                'clusterName': self._cluster,
                'selector': {'matchLabels': self._selector(*parts)},
                **copy.deepcopy(machines['healthCheck']['spec'])})

    def _checked(self, group: dict) -> dict:
        found = _filled(group, self._values['nodeGroupDefaults'])
        name = str(found['name'])
        if not re.fullmatch('[a-z][a-z0-9-]+[a-z0-9]', name):
            raise Refused(f'node group name "{name}" is not allowed')
        if found.get('autoscale'):
            low, high = (found.get(key) for key in (
                'machineCountMin', 'machineCountMax'))
            if low is None or high is None:
                raise Refused(f'node group "{name}": autoscale needs '
                              'machineCountMin and machineCountMax')
            if high < low:
                raise Refused(f'node group "{name}": machineCountMax {high} '
                              f'is less than machineCountMin {low}')
        elif found.get('machineCount') is None:
            raise Refused(f'node group "{name}": machineCount is missing')
        return found

    def _group(self, group: dict) -> list[dict]:
        key, name = group['name'], self._name(group['name'])
        labels = self._labels('worker', key)
        selector = {**self._selector('worker', key),
                    'cluster.x-k8s.io/cluster-name': self._cluster}
        template, spec, digest = self._template(group, key)
        boot = {'template': {'spec': {
            'joinConfiguration': {
                'nodeRegistration': self._registration(group, key)},
            **_files(group)}}}
        boot_digest = _hash(boot)
        bootstrap = self._name(f'{key}-{boot_digest[:8]}')
        annotations, size = {}, {}
        if group.get('autoscale'):
            start = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group'
            annotations = {
                f'{start}-min-size': str(int(group['machineCountMin'])),
                f'{start}-max-size': str(int(group['machineCountMax']))}
        else:
            size = {'replicas': int(group['machineCount'])}
        zone = ({'failureDomain': group['failureDomain']}
                if group.get('failureDomain') else {})
        made = self._object(
            _CORE, 'MachineDeployment', name, labels, {
                'clusterName': self._cluster, **size,
                'strategy': copy.deepcopy(group['rolloutStrategy']),
                'selector': {'matchLabels': selector},
                'template': {
                    'metadata': {'labels': dict(selector)},
                    'spec': {
                        'clusterName': self._cluster,
                        'version': self._version(group), **zone, **_TIMEOUTS,
                        'bootstrap': {'configRef': {
                            'apiVersion': _BOOTSTRAP,
                            'kind': 'KubeadmConfigTemplate',
                            'name': bootstrap}},
                        'infrastructureRef': {
                            'apiVersion': _INFRASTRUCTURE,
                            'kind': 'OpenStackMachineTemplate',
                            'name': template}}}}, **annotations)
        config = self._object(
            _BOOTSTRAP, 'KubeadmConfigTemplate', bootstrap, dict(labels),
            boot, **{f'{self._values["projectPrefix"]}/template-checksum':
                     boot_digest}, **_KEEP)
        found = [made, self._made_template(template, labels, spec, digest),
                 config]
        if group['healthCheck']['enabled']:
            found.append(self._health(name, group, labels, 'worker', key))
        return found

    def _version(self, machines: dict) -> str:
        text = (machines.get('kubernetesVersion')
                or self._values['kubernetesVersion'])
        return 'v' + str(text).removeprefix('v')

    def _registration(self, machines: dict, group: str) -> dict:
        labels = dict(machines.get('nodeLabels') or {})
        if group:
            labels = {f'{self._values["projectPrefix"]}/node-group': group,
                      **labels}
        taints = (((machines.get('kubeadmConfigSpec') or {}).get(
            'joinConfiguration') or {}).get('nodeRegistration') or {}).get(
                'taints')
        args = {'cloud-provider': 'external'}
        if labels:
            args['node-labels'] = ','.join(
                f'{key}={labels[key]}' for key in sorted(labels))
        return {'name': '{{ local_hostname }}', 'kubeletExtraArgs': args,
                **({'taints': copy.deepcopy(taints)} if taints else {})}

    def _template(self, machines: dict, part: str) -> tuple[str, dict, str]:
        spec = {'template': {'spec': self._machine(machines, part)}}
        digest = _hash([spec, machines.get('machineFlavor'),
                        self._version(machines)])
        return self._name(f'{part}-{digest[:8]}'), spec, digest

    def _machine(self, machines: dict, part: str) -> dict:
        values = self._values
        image_id = (machines.get('machineImageId')
                    or values.get('machineImageId'))
        image = machines.get('machineImage') or values.get('machineImage')
        if not (image_id or image):
            raise Refused('machineImageId or machineImage is required')
        if not machines.get('machineFlavor'):
            raise Refused(f'machineFlavor of {part} is missing')
        found: dict = {
            'identityRef': {'name': self._credentials(),
                            'cloudName': 'openstack'},
            'flavor': machines['machineFlavor'],
            'image': ({'id': image_id} if image_id
                      else {'filter': {'name': image}})}
        if values.get('machineSSHKeyName'):
            found['sshKeyName'] = values['machineSSHKeyName']
        disk = machines.get('machineRootVolume') or {}
        if disk.get('diskSize'):
            found['rootVolume'] = {'sizeGiB': int(disk['diskSize']),
                                   **_volume(disk)}
        devices = machines.get('additionalBlockDevices')
        if devices:
            found['additionalBlockDevices'] = [{
                'name': name, 'sizeGiB': int(device['size']), 'storage': {
                    'type': device.get('type') or 'Volume', **(
                        {} if device.get('type') == 'Local'
                        else {'volume': _volume(device)})}}
                for name, device in sorted(devices.items())]
        if machines.get('serverGroupId'):
            found['serverGroup'] = {'id': machines['serverGroupId']}
        ports = (machines.get('machineNetworking') or {}).get('ports')
        if ports:
            found['ports'] = [
                {**port, 'network': _filter(port['network'])}
                if port.get('network') else dict(port) for port in ports]
        return found

    def _credentials(self) -> str:
        return (self._values.get('cloudCredentialsSecretName')
                or self._name('cloud-credentials'))

    def _network(self) -> dict:
        values = self._values
        spec: dict = {'identityRef': {
            'name': self._credentials(), 'cloudName': 'openstack'}}
        network = values['clusterNetworking']
        spec['managedSecurityGroups'] = {'allowAllInClusterTraffic': True}
        if network.get('externalNetworkId'):
            spec['externalNetwork'] = {'id': network['externalNetworkId']}
        inside = network['internalNetwork']
        if inside.get('networkFilter') or inside.get('subnetFilter'):
            if inside.get('networkFilter'):
                spec['network'] = _filter(inside['networkFilter'])
            if inside.get('subnetFilter'):
                spec['subnets'] = [_filter(inside['subnetFilter'])]
        else:
            servers = network.get('dnsNameservers')
            spec['managedSubnets'] = [{
                'cidr': inside['nodeCidr'],
                **({'dnsNameservers': list(servers)} if servers else {})}]
        api = values['apiServer']
        if api['enableLoadBalancer']:
            spec['apiServerLoadBalancer'] = {'enabled': True}
            if api.get('loadBalancerProvider'):
                spec['apiServerLoadBalancer']['provider'] = api[
                    'loadBalancerProvider']
            if api.get('allowedCIDRs'):
                spec['apiServerLoadBalancer']['allowedCIDRs'] = list(
                    api['allowedCIDRs'])
        spec['disableAPIServerFloatingIP'] = not api['associateFloatingIP']
        if api.get('floatingIP'):
            spec['apiServerFloatingIP'] = api['floatingIP']
        if api.get('fixedIP'):
            spec['apiServerFixedIP'] = api['fixedIP']
        spec['apiServerPort'] = int(api['port'])
        spec['controlPlaneOmitAvailabilityZone'] = True
        return self._object(
            _INFRASTRUCTURE, 'OpenStackCluster', self._cluster,
            self._labels(), spec, **_KEEP)

    def _addons(self) -> list[dict]:
        addons = self._values['addons']
        if not addons['enabled']:
            return []
        return [self._addon(*one) for one in _addons(addons)]

    def _addon(self, kind: str, name: str, target: str,
               chart: str = '', component: str = '') -> dict:
        own = metadata()
        spec: dict = {
            'clusterName': self._cluster, 'bootstrap': True,
            'releaseName': name, 'targetNamespace': target}
        if kind == 'HelmRelease':
            spec |= {'chart': {
                'name': chart, 'repo': 'https://charts.invalid',
                'version': '0.0.0'}, 'valuesSources': []}
        else:
            spec['manifestSources'] = []
        return self._object(
            'addons.stackhpc.com/v1alpha1', kind, self._name(name), {
                'helm.sh/chart': f'{own["name"]}-{own["version"]}',
                'capi.stackhpc.com/managed-by': 'Helm',
                'capi.stackhpc.com/cluster': self._cluster,
                'capi.stackhpc.com/component': component or name}, spec)


def _addons(addons: dict) -> typing.Iterator[tuple[str, ...]]:
    cni = (addons.get('cni') or {}).get('type') or ''
    if addons['cni']['enabled'] and cni in ('calico', 'cilium'):
        chart = 'tigera-operator' if cni == 'calico' else 'cilium'
        yield ('HelmRelease', f'cni-{cni}', 'tigera-operator'
               if cni == 'calico' else 'kube-system', chart)
    openstack = addons['openstack']
    if openstack['enabled']:
        yield 'Manifests', 'cloud-config', 'openstack-system'
        yield ('HelmRelease', 'ccm-openstack', 'openstack-system',
               'openstack-cloud-controller-manager')
        if (openstack.get('csiCinder') or {}).get('enabled', True):
            yield ('HelmRelease', 'csi-cinder', 'openstack-system',
                   'openstack-cinder-csi')
            yield ('Manifests', 'csi-cinder-storageclass',
                   'openstack-system', '', 'csi-cinder')
        if (openstack.get('k8sKeystoneAuth') or {}).get('enabled', False):
            yield ('HelmRelease', 'k8s-keystone-auth', 'openstack-system',
                   'k8s-keystone-auth')
    for key, name, target in (
            ('metricsServer', 'metrics-server', 'kube-system'),
            ('monitoring', 'kube-prometheus-stack', 'monitoring-system'),
            ('ingress', 'ingress-nginx', 'ingress-nginx')):
        if (addons.get(key) or {}).get('enabled', False):
            yield 'HelmRelease', name, target, name


def _filled(group: typing.Any, defaults: typing.Any) -> typing.Any:
    """Sprig's mustMerge: what a group leaves empty is that of the defaults."""
    found = copy.deepcopy(group)
    for key, value in defaults.items():
        own = found.get(key)
        if isinstance(value, dict) and isinstance(own, dict):
            found[key] = _filled(own, value)
        elif own in (None, '', 0, False, [], {}):
            found[key] = copy.deepcopy(value)
    return found


def _files(machines: dict) -> dict:
    given = machines.get('kubeadmConfigSpec') or {}
    return {key: copy.deepcopy(given[key]) for key in (
        'files', 'preKubeadmCommands', 'postKubeadmCommands') if key in given}


def _volume(given: dict) -> dict:
    zone = given.get('availabilityZone')
    return {**({'type': given['volumeType']} if given.get('volumeType')
               else {}),
            'availabilityZone': ({'from': 'Name', 'name': zone} if zone
                                 else {'from': 'Machine'})}


def _filter(given: dict) -> dict:
    if 'id' in given or 'filter' in given:
        return dict(given)
    return {'filter': dict(given)}


def _hash(found: typing.Any) -> str:
    return hashlib.sha256(
        json.dumps(found, sort_keys=True).encode()).hexdigest()
