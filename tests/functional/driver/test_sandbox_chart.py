# SPDX-License-Identifier: Apache-2.0

"""The chart renders what a Magnum driver and Cluster API expect.

Names and labels are those of capi-helm-charts' openstack-cluster: drivers find
their objects by them, so a change here breaks every driver. The values are
those that magnum-capi-helm 1.4.0 sets.
"""

import copy
import functools
import json
import pathlib
import tempfile

import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import resources
from magnum_capi_tempest import toolchain

KEEP = {'helm.sh/resource-policy': 'keep'}

#: Values of the driver for a cluster with default labels, including None.
DRIVER_VALUES = {
    'kubernetesVersion': '1.34.2',
    'machineImageId': 'e9f1a0b2-0000-4000-a000-000000000001',
    'machineSSHKeyName': None,
    'cloudCredentialsSecretName': 'demo-cloud-credentials',
    'etcd': {},
    'apiServer': {
        'associateFloatingIP': True, 'enableLoadBalancer': True,
        'loadBalancerProvider': 'amphora'},
    'clusterNetworking': {
        'dnsNameservers': ['192.0.2.53'],
        'externalNetworkId': 'e9f1a0b2-0000-4000-a000-000000000009',
        'internalNetwork': {'networkFilter': None, 'subnetFilter': None,
                            'nodeCidr': '10.0.0.0/24'}},
    'osDistro': 'ubuntu',
    'controlPlane': {'machineFlavor': 'm1.medium', 'machineCount': 1,
                     'healthCheck': {'enabled': True}},
    'nodeGroupDefaults': {'healthCheck': {'enabled': True}},
    'nodeGroups': [{'name': 'default-worker', 'machineFlavor': 'm1.small',
                    'machineCount': 2}],
    'addons': {
        'openstack': {
            'csiCinder': {'defaultStorageClass': {'name': 'lvm'},
                          'additionalStorageClasses': []},
            'cloudConfig': {'LoadBalancer': {
                'lb-provider': 'amphora', 'lb-method': 'ROUND_ROBIN',
                'create-monitor': True}}},
        'monitoring': {'enabled': False},
        'kubernetesDashboard': {'enabled': True},
        'ingress': {'enabled': False},
        'cni': {'type': 'calico'}},
}

CHART = str(resources.find('sandbox/charts/sandbox-cluster'))


@functools.cache
def helm():
    return toolchain.ensure(['helm'])['helm']


def values(**changes):
    """The driver's values with changes: ``a__b=1`` sets a.b to 1."""
    result = copy.deepcopy(DRIVER_VALUES)
    for path, value in changes.items():
        *parents, last = path.split('__')
        target = result
        for name in parents:
            target = target.setdefault(name, {})
        target[last] = value
    return result


def run(*args, **changes):
    return processes.run(
        [helm(), *args, '--values', '-'], timeout=600,
        stdin=json.dumps(values(**changes)))


def render(**changes):
    """Objects by (kind, name)."""
    text = run('template', 'demo', CHART, '--namespace', 'magnum-p', **changes)
    return {(o['kind'], o['metadata']['name']): o
            for o in yaml.safe_load_all(text) if o}


def of_kind(objects, kind):
    return [o for (k, _name), o in objects.items() if k == kind]


class TestChart(testtools.TestCase):

    def test_lint_is_content(self):
        run('lint', '--strict', CHART)

    def test_objects_have_the_names_a_driver_looks_for(self):
        objects = render()

        for kind, name in (
                ('Cluster', 'demo'),
                ('OpenStackCluster', 'demo'),
                ('KubeadmControlPlane', 'demo-control-plane'),
                ('MachineHealthCheck', 'demo-control-plane'),
                ('MachineDeployment', 'demo-default-worker'),
                ('MachineHealthCheck', 'demo-default-worker')):
            self.assertIn((kind, name), objects)
        self.assertEqual(2, len(of_kind(objects, 'OpenStackMachineTemplate')))
        self.assertEqual(1, len(of_kind(objects, 'KubeadmConfigTemplate')))

    def test_machines_have_the_labels_a_driver_selects_by(self):
        objects = render()
        worker = objects['MachineDeployment', 'demo-default-worker']
        plane = objects['KubeadmControlPlane', 'demo-control-plane']

        expected = {
            'capi.stackhpc.com/cluster': 'demo',
            'capi.stackhpc.com/component': 'worker',
            'capi.stackhpc.com/node-group': 'default-worker'}
        for labels in (worker['metadata']['labels'],
                       worker['spec']['selector']['matchLabels'],
                       worker['spec']['template']['metadata']['labels']):
            self.assertEqual(expected, {k: labels.get(k) for k in expected})
        self.assertEqual(
            {'capi.stackhpc.com/cluster': 'demo',
             'capi.stackhpc.com/component': 'control-plane'},
            plane['spec']['machineTemplate']['metadata']['labels'])

    def test_references_lead_to_objects(self):
        objects = render()
        cluster = objects['Cluster', 'demo']['spec']
        machine = objects['MachineDeployment', 'demo-default-worker'][
            'spec']['template']['spec']
        plane = objects['KubeadmControlPlane', 'demo-control-plane']['spec']

        for ref in (cluster['controlPlaneRef'], cluster['infrastructureRef'],
                    machine['bootstrap']['configRef'],
                    machine['infrastructureRef'],
                    plane['machineTemplate']['infrastructureRef']):
            self.assertIn((ref['kind'], ref['name']), objects)
        self.assertEqual('v1.34.2', machine['version'])
        self.assertEqual('v1.34.2', plane['version'])

    def test_cluster_api_deletes_what_it_must_delete_in_order(self):
        objects = render()

        for (kind, name), obj in objects.items():
            kept = kind in ('OpenStackCluster', 'KubeadmControlPlane',
                            'OpenStackMachineTemplate',
                            'KubeadmConfigTemplate')
            annotations = obj['metadata'].get('annotations') or {}
            self.assertEqual(
                kept, KEEP.items() <= annotations.items(), (kind, name))


class TestTemplateNames(testtools.TestCase):
    """Templates are immutable: other content has another name."""

    def test_the_same_values_give_the_same_names(self):
        self.assertEqual(list(render()), list(render()))

    def test_node_labels_change_the_bootstrap_template(self):
        before, after = render(), render(
            nodeGroupDefaults={'nodeLabels': {'example.org/a': 'b'}})

        self.assertNotEqual(
            of_kind(before, 'KubeadmConfigTemplate')[0]['metadata']['name'],
            of_kind(after, 'KubeadmConfigTemplate')[0]['metadata']['name'])
        arguments = of_kind(after, 'KubeadmConfigTemplate')[0]['spec'][
            'template']['spec']['joinConfiguration']['nodeRegistration'][
                'kubeletExtraArgs']
        self.assertEqual('capi.stackhpc.com/node-group=default-worker,'
                         'example.org/a=b', arguments['node-labels'])


class TestAddons(testtools.TestCase):

    def components(self, **changes):
        return {o['metadata']['labels']['capi.stackhpc.com/component']
                for o in render(**changes).values()
                if o['apiVersion'] == 'addons.stackhpc.com/v1alpha1'}

    def test_flannel_renders_no_cni(self):
        """Like the published chart: Magnum's default then never completes."""
        self.assertEqual(
            {'cloud-config', 'ccm-openstack', 'csi-cinder', 'metrics-server'},
            self.components(addons__cni__type='flannel'))

    def test_an_addon_names_its_cluster(self):
        addon = render()['HelmRelease', 'demo-cni-calico']

        self.assertEqual('demo', addon['spec']['clusterName'])
        self.assertTrue(addon['spec']['bootstrap'])


class TestDocker(testtools.TestCase):

    def machine_images(self, **changes):
        objects = render(infrastructure='docker', **changes)
        return {obj['spec']['template']['spec']['backend']['docker'][
            'customImage'] for obj in of_kind(objects, 'DevMachineTemplate')}

    def flannel(self, **changes):
        """Objects of the pod network, by kind."""
        objects = render(infrastructure='docker', **changes)
        text = objects['ConfigMap', 'demo-network']['data']['flannel.yaml']
        return {o['kind']: o for o in yaml.safe_load_all(text)}

    def test_all_infrastructure_is_of_the_test_provider(self):
        objects = render(infrastructure='docker')

        self.assertEqual(
            {'Cluster', 'DevCluster', 'DevMachineTemplate',
             'KubeadmConfigTemplate', 'KubeadmControlPlane', 'Manifests',
             'MachineDeployment', 'MachineHealthCheck', 'ConfigMap',
             'ClusterResourceSet'}, {kind for kind, _name in objects})
        self.assertEqual({'docker': {}},
                         objects['DevCluster', 'demo']['spec']['backend'])

    def test_the_image_of_machines_is_that_of_their_version(self):
        self.assertEqual({'kindest/node:v1.34.2'}, self.machine_images())
        self.assertEqual({'x/y:v1.35.0'}, self.machine_images(
            kubernetesVersion='1.35.0', docker__imageRepository='x/y'))
        self.assertEqual({'x/z:1'}, self.machine_images(
            docker__customImage='x/z:1'))

    def test_a_new_version_is_a_new_template(self):
        was, now = (
            {obj['metadata']['name'] for obj in of_kind(
                render(infrastructure='docker', kubernetesVersion=version),
                'DevMachineTemplate')} for version in ('1.35.8', '1.36.5'))
        self.assertEqual(2, len(was))
        self.assertEqual(set(), was & now)

    def test_kubeadm_pulls_nothing(self):
        """A new control plane node would need the running CoreDNS."""
        conf = render(infrastructure='docker')[
            'KubeadmControlPlane', 'demo-control-plane'][
                'spec']['kubeadmConfigSpec']
        for name in ('initConfiguration', 'joinConfiguration'):
            self.assertEqual('Never', conf[name]['nodeRegistration'][
                'imagePullPolicy'])

    def test_every_kubelet_gets_the_arguments(self):
        objects = render(infrastructure='docker',
                         docker__kubeletExtraArgs={'v': 4})
        plane = objects['KubeadmControlPlane', 'demo-control-plane']
        join, = of_kind(objects, 'KubeadmConfigTemplate')
        for where in (plane['spec']['kubeadmConfigSpec'],
                      join['spec']['template']['spec']):
            self.assertEqual('4', where['joinConfiguration'][
                'nodeRegistration']['kubeletExtraArgs']['v'])

    def test_the_network_has_the_addresses_of_pods(self):
        conf = json.loads(self.flannel(
            kubeNetwork__pods__cidrBlocks=['10.1.0.0/16'])[
                'ConfigMap']['data']['net-conf.json'])
        self.assertEqual('10.1.0.0/16', conf['Network'])
        self.assertEqual({'Type': 'host-gw'}, conf['Backend'])

    def test_the_network_runs_where_nothing_else_does_yet(self):
        pod = self.flannel()['DaemonSet']['spec']['template']['spec']
        self.assertEqual([{'operator': 'Exists', 'effect': 'NoSchedule'}],
                         pod['tolerations'])
        self.assertTrue(pod['hostNetwork'])
        mounted = {m['name'] for c in (*pod['initContainers'],
                                       *pod['containers'])
                   for m in c['volumeMounts']}
        self.assertEqual({v['name'] for v in pod['volumes']}, mounted)

    def test_the_plugin_may_be_in_the_machines_image(self):
        pod = self.flannel(docker__flannel__pluginImage='')[
            'DaemonSet']['spec']['template']['spec']
        self.assertEqual(['configuration'],
                         [c['name'] for c in pod['initContainers']])

    def test_the_network_is_of_this_cluster_and_is_its_one_addon(self):
        objects = render(infrastructure='docker')
        labels = objects['Cluster', 'demo']['metadata']['labels']
        found = objects['ClusterResourceSet', 'demo-network']['spec']
        wanted = found['clusterSelector']['matchLabels']
        self.assertEqual(wanted, {k: labels.get(k) for k in wanted})
        self.assertEqual([{'kind': 'ConfigMap', 'name': 'demo-network'}],
                         found['resources'])
        addon, = of_kind(objects, 'Manifests')
        self.assertEqual('demo-network', addon['metadata']['annotations'][
            'sandbox.magnum-capi/cluster-resource-set'])

    def test_a_network_only_if_the_published_chart_had_one(self):
        for kind, there in (('cilium', True), ('flannel', True),
                            ('other', False)):
            objects = render(infrastructure='docker', addons__cni__type=kind)
            self.assertEqual(there, ('ClusterResourceSet', 'demo-network')
                             in objects, kind)
        self.assertEqual([], of_kind(render(
            infrastructure='docker', addons__enabled=False),
            'ClusterResourceSet'))

    def test_a_mirror_is_an_openstack_cluster_that_helm_may_delete(self):
        objects = render(infrastructure='docker',
                         docker__openStackMirror=True)
        self.assertEqual(
            {'sandbox.magnum-capi/mirror': 'DevCluster'},
            objects['OpenStackCluster', 'demo']['metadata']['annotations'])


class TestServersAsContainers(testtools.TestCase):
    """Servers of Nova in which kubeadm makes real nodes."""

    def registrations(self):
        """kubeadm's, of the control plane and of a worker."""
        objects = render(docker__servers=True)
        plane = objects['KubeadmControlPlane', 'demo-control-plane'][
            'spec']['kubeadmConfigSpec']
        workers = of_kind(objects, 'KubeadmConfigTemplate')
        return [plane[name]['nodeRegistration'] for name in (
            'initConfiguration', 'joinConfiguration')] + [
            w['spec']['template']['spec']['joinConfiguration'][
                'nodeRegistration'] for w in workers]

    def test_the_infrastructure_is_that_of_openstack(self):
        kinds = [{kind for kind, _name in render(**changes)}
                 for changes in ({}, {'docker__servers': True})]
        self.assertEqual({'ConfigMap', 'ClusterResourceSet'},
                         kinds[1] - kinds[0])
        self.assertEqual(set(), kinds[0] - kinds[1])

    def test_the_addons_are_network_and_cloud_controller(self):
        for enabled, more in ((True, {'cloud-config', 'ccm-openstack'}),
                              (False, set())):
            objects = render(docker__servers=True,
                             addons__openstack__enabled=enabled)
            self.assertEqual({'demo-cni-flannel', *(
                f'demo-{name}' for name in more)}, {
                    name for kind, name in objects
                    if kind in ('HelmRelease', 'Manifests')})

    def test_nodes_are_initialized_by_the_cloud_controller(self):
        found = self.registrations()
        self.assertEqual(3, len(found))
        for registration in found:
            self.assertEqual('external', registration['kubeletExtraArgs'][
                'cloud-provider'])
            self.assertEqual('{{ local_hostname }}', registration['name'])

    def test_kube_proxy_leaves_the_hosts_kernel_alone(self):
        commands = render(
            docker__servers=True,
            controlPlane__kubeadmConfigSpec={'preKubeadmCommands': ['true']})[
                'KubeadmControlPlane', 'demo-control-plane'][
                    'spec']['kubeadmConfigSpec']['preKubeadmCommands']
        self.assertEqual('true', commands[1])
        with tempfile.NamedTemporaryFile('w+') as file:
            file.write('kind: ClusterConfiguration\n')
            file.flush()
            processes.run(['sh', '-c', commands[0].replace(
                '/run/kubeadm/kubeadm.yaml', file.name)], timeout=60)
            documents = [*yaml.safe_load_all(
                pathlib.Path(file.name).read_text())]
        self.assertEqual('ClusterConfiguration', documents[0]['kind'])
        self.assertEqual(('KubeProxyConfiguration', {'maxPerCore': 0}), (
            documents[1]['kind'], documents[1]['conntrack']))

    def test_kubeadm_pulls_nothing_and_passes_over_the_hosts_kernel(self):
        for registration in self.registrations():
            self.assertEqual('Never', registration['imagePullPolicy'])
            self.assertIn('SystemVerification',
                          registration['ignorePreflightErrors'])


class TestBadValues(testtools.TestCase):

    def assertRefused(self, words, **changes):
        error = self.assertRaises(
            errors.MagnumCapiError, render, **changes)
        self.assertIn(words, str(error))

    def test_an_unknown_infrastructure(self):
        self.assertRefused('use openstack or docker', infrastructure='ironic')

    def test_values_that_are_missing(self):
        self.assertRefused('kubernetesVersion', kubernetesVersion=None)
        self.assertRefused('machineImageId', machineImageId=None)
        self.assertRefused('machineFlavor of control-plane is missing',
                           controlPlane__machineFlavor=None)
        self.assertRefused('clouds is required',
                           cloudCredentialsSecretName=None)

    def test_values_of_the_wrong_form(self):
        self.assertRefused('machineCount', controlPlane__machineCount='three')
        self.assertRefused('kubernetesVersion', kubernetesVersion='latest')
