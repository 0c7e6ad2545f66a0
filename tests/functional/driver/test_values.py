# SPDX-License-Identifier: Apache-2.0

"""Both charts render the names and values that the driver expects.

The driver finds objects by names that it computes itself: with a chart that
uses other names a cluster stays in progress forever. So Helm verifies the
names here, for the sandbox's chart and, if MAGNUM_CAPI_PUBLISHED_CHART has its
path (a folder with its dependencies in charts/), for the published
openstack-cluster.
"""

import dataclasses
import functools
import json
import os

import testtools
import yaml

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import placement
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import validation
from magnum_capi.driver.desired import values
from magnum_capi import processes
from magnum_capi_tempest import resources
from magnum_capi_tempest import toolchain

PUBLISHED = 'MAGNUM_CAPI_PUBLISHED_CHART'
#: The highest uuid makes the longest number.
UUID = 'ffffffff-ffff-4fff-bfff-ffffffffffff'
WORKER = 'ffffffff-ffff-4fff-bfff-fffffffffffe'
GPU = '00000000-0000-4000-8000-000000000001'
IMAGE = spec_model.Image(
    '1f2c1f2c-0000-4000-8000-00000000000a', 'v1.34.2', 'ubuntu')
OTHER_IMAGE = spec_model.Image(
    '1f2c1f2c-0000-4000-8000-00000000000b', 'v1.34.1', 'ubuntu')
NETWORK = '1f2c1f2c-0000-4000-8000-00000000000c'

SMALL = spec_model.ClusterSpec(
    uuid=UUID, release=names.cluster(UUID), name='Größe: eins',
    project_id='0' * 32, user_id='u' * 64,
    image=IMAGE, master_flavor='m1.medium', node_groups=(
        spec_model.NodeGroupSpec(
            uuid=WORKER, name='default-worker', count=1, flavor='m1.small',
            is_default=True),))

LABELS = {
    'auto_scaling_enabled': 'true', 'max_node_count': '5',
    'api_master_lb_allowed_cidrs': '192.0.2.0/24 198.51.100.7',
    'boot_volume_size': '20', 'boot_volume_type': 'ssd',
    'etcd_blockdevice_size': '5', 'etcd_blockdevice_volume_type': 'ssd',
    'extra_network_names': f'storage {NETWORK}',
    'extra_network_control_plane': 'true', 'monitoring_enabled': 'true',
    'ingress_controller': 'nginx', 'keystone_auth_enabled': 'true'}

LARGE = spec_model.ClusterSpec(
    uuid=UUID, release=names.cluster(UUID), name='large', project_id='0' * 32,
    user_id='u1', image=IMAGE,
    master_flavor='m1.large', master_count=3, labels=LABELS,
    network_driver='cilium', external_network_id=NETWORK,
    dns_nameservers=('192.0.2.53',), keypair='ops key',
    auth_url='https://keystone.example.org/v3',
    proxies=spec_model.Proxies(http='http://proxy.example.org:3128'),
    volumes=spec_model.Volumes(types=('ssd', '__DEFAULT__')),
    node_groups=(
        spec_model.NodeGroupSpec(
            uuid=WORKER, name='default-worker', count=2, flavor='m1.small',
            is_default=True, labels=LABELS),
        spec_model.NodeGroupSpec(
            uuid=GPU, name='A_b', count=4, flavor='g1.large', role='gpu',
            image=OTHER_IMAGE, node_labels={'example.org/gpu': 'a100'},
            node_taints=({'key': 'example.org/gpu', 'value': 'yes',
                          'effect': 'NoSchedule'},))))


def workers(count):
    """A cluster with this number of workers."""
    group, = SMALL.node_groups
    return dataclasses.replace(SMALL, node_groups=(
        dataclasses.replace(group, count=count),))


@functools.cache
def helm():
    return toolchain.ensure(['helm'])['helm']


@functools.cache
def _rendered(path, text):
    return processes.run(
        [helm(), 'template', names.cluster(UUID), path, '--namespace',
         names.namespace('0' * 32), '--values', '-'], timeout=600, stdin=text)


class ChartCase(testtools.TestCase):
    """A chart's folder, and the objects that it renders."""

    def chart_path(self):
        raise NotImplementedError

    def values(self, spec, batch=None, **kwargs):
        return desired_values.with_strategies(values.values(
            spec, validation.check(spec, creating=True),
            charts.features(self.chart_path()), **kwargs), spec, batch)

    def documents(self, spec):
        """Objects of a spec, or of values."""
        made = spec if isinstance(spec, dict) else self.values(spec)
        text = _rendered(self.chart_path(), json.dumps(made))
        return [o for o in yaml.safe_load_all(text) if o]

    def render(self, spec):
        """Objects of a spec, or of values, by (kind, name)."""
        return {(o['kind'], o['metadata']['name']): o
                for o in self.documents(spec)}

    def names_of(self, objects, kind):
        return sorted(name for k, name in objects if k == kind)

    def deployment(self, objects, uuid):
        return objects['MachineDeployment', names.machine_deployment(
            names.cluster(UUID), names.node_group(uuid))]

    def template(self, objects, deployment, what):
        spec = deployment['spec']['template']['spec']
        ref = (spec['bootstrap']['configRef'] if what == 'bootstrap'
               else spec['infrastructureRef'])
        return objects[ref['kind'], ref['name']]['spec']['template']['spec']

    def control_plane_machine(self, objects):
        ref = objects['KubeadmControlPlane', names.control_plane(
            names.cluster(UUID))]['spec']['machineTemplate'][
                'infrastructureRef']
        return objects[ref['kind'], ref['name']]['spec']['template']['spec']

    def registration(self, objects, uuid):
        return self.template(objects, self.deployment(objects, uuid),
                             'bootstrap')['joinConfiguration'][
                                 'nodeRegistration']

    def nodes(self, objects):
        """kubeadm's configuration for all kinds of nodes."""
        plane = objects['KubeadmControlPlane', names.control_plane(
            names.cluster(UUID))]['spec']['kubeadmConfigSpec']
        return [plane] + [self.template(
            objects, self.deployment(objects, uuid), 'bootstrap')
            for uuid in (WORKER, GPU)]


class Promises:
    """Promises that both charts keep."""

    def test_names_are_exactly_those_that_the_driver_computes(self):
        release = names.cluster(UUID)
        for spec in (SMALL, LARGE):
            objects = self.render(spec)

            self.assertEqual([release], self.names_of(objects, 'Cluster'))
            self.assertEqual([release],
                             self.names_of(objects, 'OpenStackCluster'))
            self.assertEqual([names.control_plane(release)],
                             self.names_of(objects, 'KubeadmControlPlane'))
            self.assertEqual(
                sorted(names.machine_deployment(release, group.kube_name)
                       for group in spec.node_groups),
                self.names_of(objects, 'MachineDeployment'))

    def test_no_two_objects_have_one_name(self):
        documents = self.documents(LARGE)

        self.assertEqual(len(documents), len(self.render(LARGE)))

    def test_machines_name_the_secret_with_the_credentials(self):
        objects = self.render(SMALL)
        machine = self.template(
            objects, self.deployment(objects, WORKER), 'infrastructure')

        self.assertEqual(names.credentials(names.cluster(UUID)),
                         machine['identityRef']['name'])
        self.assertEqual([], [name for kind, name in objects
                              if kind == 'Secret' and 'credentials' in name])

    def test_readable_names_are_annotations_of_the_cluster(self):
        annotations = self.render(SMALL)['Cluster', names.cluster(UUID)][
            'metadata']['annotations']

        self.assertEqual('Größe: eins', annotations[names.CLUSTER_NAME])
        self.assertEqual(UUID, annotations[names.CLUSTER_UUID])
        self.assertEqual({names.node_group(WORKER): 'default-worker'},
                         json.loads(annotations[names.NODE_GROUPS]))

    def test_counts_flavors_image_and_version_arrive(self):
        objects = self.render(LARGE)
        plane = objects['KubeadmControlPlane',
                        names.control_plane(names.cluster(UUID))]['spec']
        machine = self.control_plane_machine(objects)
        worker = self.template(
            objects, self.deployment(objects, WORKER), 'infrastructure')

        self.assertEqual((3, 'v1.34.2'),
                         (plane['replicas'], plane['version']))
        self.assertEqual(('m1.large', {'id': IMAGE.id}, 'ops key'),
                         (machine['flavor'], machine['image'],
                          machine['sshKeyName']))
        self.assertEqual(('m1.small', {'id': IMAGE.id}),
                         (worker['flavor'], worker['image']))
        self.assertEqual(4, self.deployment(objects, GPU)['spec']['replicas'])

    def test_a_node_group_has_its_own_image(self):
        objects = self.render(LARGE)
        gpu = self.template(
            objects, self.deployment(objects, GPU), 'infrastructure')

        self.assertEqual({'id': OTHER_IMAGE.id}, gpu['image'])

    def test_node_labels_arrive(self):
        objects = self.render(LARGE)
        labels = dict(
            pair.split('=') for pair in self.registration(objects, GPU)[
                'kubeletExtraArgs']['node-labels'].split(','))

        self.assertEqual('a100', labels['example.org/gpu'])
        self.assertEqual('A_b', labels[names.NODE_GROUP_NAME])
        self.assertEqual(GPU, labels[names.NODE_GROUP_UUID])
        self.assertEqual(names.node_group(GPU),
                         labels['capi.stackhpc.com/node-group'])

    def test_server_groups_arrive(self):
        group, = SMALL.node_groups
        objects = self.render(placement.with_server_groups(
            self.values(SMALL), {placement.CONTROL_PLANE: NETWORK,
                                 group.kube_name: OTHER_IMAGE.id}))
        worker = self.template(
            objects, self.deployment(objects, WORKER), 'infrastructure')

        self.assertEqual(
            ({'id': NETWORK}, {'id': OTHER_IMAGE.id}),
            (self.control_plane_machine(objects)['serverGroup'],
             worker['serverGroup']))
        self.assertNotIn('serverGroup', self.control_plane_machine(
            self.render(SMALL)))

    def test_the_allow_list_of_the_api_server_arrives(self):
        """B.4.9: the chart ignores an unknown key."""
        balancer = self.render(LARGE)['OpenStackCluster', names.cluster(
            UUID)]['spec']['apiServerLoadBalancer']

        self.assertEqual(['192.0.2.0/24', '198.51.100.7/32'],
                         balancer['allowedCIDRs'])

    def test_autoscaling_arrives_for_the_group_that_has_bounds(self):
        objects = self.render(LARGE)
        worker = self.deployment(objects, WORKER)
        prefix = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group'

        self.assertNotIn('replicas', worker['spec'])
        self.assertEqual(
            {'min': '1', 'max': '5'},
            {bound: worker['metadata']['annotations'][f'{prefix}-{bound}-size']
             for bound in ('min', 'max')})

    def test_nodes_are_replaced_where_that_is_on_only(self):
        checked = functools.partial(self.names_of, kind='MachineHealthCheck')
        off = {'auto_healing_enabled': 'false'}

        self.assertEqual(2, len(checked(self.render(SMALL))))
        # A group's false must survive the chart's merge.
        group, = SMALL.node_groups
        self.assertEqual([], checked(self.render(dataclasses.replace(
            SMALL, labels=off, node_groups=(
                dataclasses.replace(group, labels=off),)))))

    def test_batches_of_an_upgrade_arrive(self):
        values = self.values(workers(5), batch=3)

        deployment = self.deployment(self.render(values), WORKER)

        rolling = deployment['spec']['strategy']['rollingUpdate']
        self.assertEqual((3, 0), (rolling['maxUnavailable'],
                                  rolling['maxSurge']))

    def test_batches_of_an_upgrade_arrive_where_new_nodes_come_first(self):
        # The operator's 0 must survive the chart's merge.
        values = self.values(workers(5), batch=3, overlays=[('surge', {
            'nodeGroupDefaults': {'rolloutStrategy': {'rollingUpdate': {
                'maxUnavailable': 0, 'maxSurge': 1}}}})])

        deployment = self.deployment(self.render(values), WORKER)

        rolling = deployment['spec']['strategy']['rollingUpdate']
        self.assertEqual((0, 3), (rolling['maxUnavailable'],
                                  rolling['maxSurge']))

    def test_new_node_of_a_group_of_one_comes_first(self):
        rolling = self.deployment(self.render(SMALL), WORKER)['spec'][
            'strategy']['rollingUpdate']

        # A group's 0 would be taken for a missing value.
        self.assertEqual((1, '0%'), (rolling['maxSurge'],
                                     rolling['maxUnavailable']))

    def test_group_that_waits_for_its_turn_keeps_its_machines(self):
        newer = dataclasses.replace(
            IMAGE, id=NETWORK, kube_version='v1.35.0')
        for spec in (SMALL, LARGE):
            first, *others = spec.node_groups
            step = dataclasses.replace(spec, image=newer, node_groups=(
                dataclasses.replace(first, image=IMAGE, deferred=True), *(
                    dataclasses.replace(
                        group, image=OTHER_IMAGE, deferred=True)
                    for group in others)))
            before, after = self.render(spec), self.render(step)

            plane = after['KubeadmControlPlane', names.control_plane(
                names.cluster(UUID))]['spec']
            self.assertEqual('v1.35.0', plane['version'])
            self.assertEqual({'id': NETWORK}, self.control_plane_machine(
                after)['image'])
            for group in spec.node_groups:
                old, new = (self.deployment(objects, group.uuid)
                            for objects in (before, after))
                self.assertEqual(old['spec']['template'],
                                 new['spec']['template'])
                self.assertEqual('OnDelete', new['spec']['strategy']['type'])

    def test_volumes_and_networks_arrive(self):
        objects = self.render(LARGE)
        plane = self.control_plane_machine(objects)
        worker = self.template(
            objects, self.deployment(objects, WORKER), 'infrastructure')

        for machine in (plane, worker):
            self.assertEqual((20, 'ssd'), (machine['rootVolume']['sizeGiB'],
                                           machine['rootVolume']['type']))
            self.assertEqual([{}, {'filter': {'name': 'storage'}},
                              {'id': NETWORK}],
                             [p.get('network', {}) for p in machine['ports']])
        etcd, = plane['additionalBlockDevices']
        self.assertEqual(('etcd', 5, 'ssd'), (
            etcd['name'], etcd['sizeGiB'], etcd['storage']['volume']['type']))

    def test_networks_arrive(self):
        spec = self.render(LARGE)['OpenStackCluster', names.cluster(UUID)][
            'spec']

        self.assertEqual({'id': NETWORK}, spec['externalNetwork'])
        self.assertEqual([{'cidr': '10.0.0.0/24', 'dnsNameservers': [
            '192.0.2.53']}], spec['managedSubnets'])

    def test_proxies_are_files_of_all_nodes(self):
        for node in self.nodes(self.render(LARGE)):
            self.assertIn('HTTP_PROXY=http://proxy.example.org:3128',
                          [f['content'] for f in node['files']
                           if f['path'].endswith(node_files.KEY)][0])
            self.assertIn('systemctl restart containerd',
                          node['preKubeadmCommands'])

    def test_password_of_a_proxy_is_in_no_object(self):
        spec = dataclasses.replace(LARGE, proxies=spec_model.Proxies(
            http='http://squid:S3cret@proxy.example.org:3128'))
        objects = self.render(spec)

        self.assertNotIn('S3cret', json.dumps(list(objects.values())))
        for node in self.nodes(objects):
            file, = [f for f in node['files']
                     if f['path'].endswith(node_files.KEY)]
            self.assertEqual(
                {'name': node_files.proxies(
                    spec, validation.check(spec)).secret,
                 'key': '50-proxy.conf'}, file['contentFrom']['secret'])
            self.assertNotIn('content', file)

    def test_addons_are_those_that_were_asked_for(self):
        def components(spec):
            return {o['metadata']['labels']['capi.stackhpc.com/component']
                    for o in self.render(spec).values()
                    if o['apiVersion'] == 'addons.stackhpc.com/v1alpha1'}

        small, large = components(SMALL), components(LARGE)
        self.assertIn('cni-calico', small)
        self.assertIn('cni-cilium', large)
        asked = {'kube-prometheus-stack', 'ingress-nginx',
                 'k8s-keystone-auth'}
        self.assertEqual(set(), asked & small)
        self.assertEqual(asked, asked & large)


class TestSandboxChart(Promises, ChartCase):

    def chart_path(self):
        return str(resources.find('sandbox/charts/sandbox-cluster'))


class TestPublishedChart(Promises, ChartCase):

    def setUp(self):
        super().setUp()
        if PUBLISHED not in os.environ:
            self.skipTest(f'{PUBLISHED} does not say where the chart is')

    def chart_path(self):
        return os.environ[PUBLISHED]

    def test_addons_are_restarted_when_the_credential_changes(self):
        objects = self.render(SMALL)

        self.assertIn(('HelmRelease', f'{names.cluster(UUID)}-reloader'),
                      objects)
        for addon in ('ccm-openstack', 'csi-cinder'):
            secret = objects['Secret', f'{names.cluster(UUID)}-{addon}-config']
            self.assertEqual(
                'cloud-config',
                yaml.safe_load(secret['stringData']['defaults'])[
                    'commonAnnotations'][
                        'secret.reloader.stakater.com/reload'])

    def test_what_kubeadm_is_told_arrives_beside_what_the_chart_says(self):
        spec = dataclasses.replace(LARGE, labels={
            **LABELS, 'api_server_cert_sans': 'api.example.org',
            'api_server_tls_cipher_suites': 'TLS_A,TLS_B',
            'kubelet_tls_cipher_suites': 'TLS_A',
            'admission_control_list': 'AlwaysPullImages',
            'audit_log_enabled': 'true', 'oidc_client_id': 'c',
            'oidc_issuer_url': 'https://sso.example.org'})
        spec = dataclasses.replace(spec, node_groups=tuple(
            dataclasses.replace(group, labels=spec.labels)
            for group in spec.node_groups))
        plane, *nodes = self.nodes(self.render(spec))
        server = plane['clusterConfiguration']['apiServer']

        self.assertEqual(['api.example.org'], server['certSANs'])
        self.assertEqual(
            ('TLS_A,TLS_B', 'NodeRestriction,AlwaysPullImages',
             'https://sso.example.org',
             '/etc/kubernetes/admission/configuration.yaml'),
            tuple(server['extraArgs'][name] for name in (
                'tls-cipher-suites', 'enable-admission-plugins',
                'oidc-issuer-url', 'admission-control-config-file')))
        self.assertLessEqual(
            {'audit-policy', 'audit-log', 'admission-configuration'},
            {volume['name'] for volume in server['extraVolumes']})
        self.assertIn('/etc/kubernetes/audit-policy.yaml',
                      [file['path'] for file in plane['files']])
        for part in (plane['initConfiguration'], plane['joinConfiguration'],
                     *[node['joinConfiguration'] for node in nodes]):
            arguments = part['nodeRegistration']['kubeletExtraArgs']
            self.assertEqual(('TLS_A', 'external'), (
                arguments['tls-cipher-suites'], arguments['cloud-provider']))

    def test_networks_and_addresses_arrive(self):
        spec = dataclasses.replace(SMALL, labels={
            'calico_ipv4pool': '10.100.0.0/16', 'boot_volume_size': '20',
            'service_cluster_ip_range': '10.96.0.0/16',
            'dns_cluster_domain': 'k8s.example.org',
            'api_server_floating_ip': '192.0.2.7',
            'boot_volume_availability_zone': 'az2'})
        spec = dataclasses.replace(spec, volumes=spec_model.Volumes(
            types=()))
        objects = self.render(spec)

        self.assertEqual(
            {'pods': {'cidrBlocks': ['10.100.0.0/16']},
             'services': {'cidrBlocks': ['10.96.0.0/16']},
             'serviceDomain': 'k8s.example.org'},
            objects['Cluster', names.cluster(UUID)]['spec'][
                'clusterNetwork'])
        self.assertEqual('192.0.2.7', objects[
            'OpenStackCluster', names.cluster(UUID)]['spec'][
                'apiServerFloatingIP'])
        self.assertIn('az2', str(self.control_plane_machine(objects)[
            'rootVolume']))

    def of(self, **labels):
        """Objects of a small cluster with labels."""
        return self.render(dataclasses.replace(
            SMALL, labels=labels, volumes=spec_model.Volumes(types=())))

    def test_arguments_and_images_of_kubernetes_arrive(self):
        objects = self.of(kubelet_extra_args='max-pods=200',
                          container_infra_prefix='r.example.org/k8s/')
        plane = objects['KubeadmControlPlane', names.control_plane(
            names.cluster(UUID))]['spec']['kubeadmConfigSpec']
        self.assertEqual('r.example.org/k8s', plane['clusterConfiguration'][
            'imageRepository'])
        for registration in (
                plane['initConfiguration']['nodeRegistration'],
                plane['joinConfiguration']['nodeRegistration'],
                self.registration(objects, WORKER)):
            self.assertEqual(
                ('200', 'external'),
                (registration['kubeletExtraArgs']['max-pods'],
                 registration['kubeletExtraArgs']['cloud-provider']))

    def test_control_plane_is_rolled_out_before_certificates_expire(self):
        with open(os.path.join(self.chart_path(), 'values.yaml')) as file:
            knows = 'certificatesExpiryDays' in file.read()
        plane = self.render(SMALL)['KubeadmControlPlane', names.control_plane(
            names.cluster(UUID))]['spec']
        self.assertEqual({'certificatesExpiryDays': 90} if knows else None,
                         plane.get('rolloutBefore'))

    def test_the_management_cluster_is_let_in(self):
        spec = dataclasses.replace(
            SMALL, management_cidrs=('198.51.100.0/24',),
            labels={'api_master_lb_allowed_cidrs': '192.0.2.0/24'})
        self.assertEqual(
            ['192.0.2.0/24', '198.51.100.0/24'],
            self.render(spec)['OpenStackCluster', names.cluster(UUID)][
                'spec']['apiServerLoadBalancer']['allowedCIDRs'])

    def test_flavor_of_load_balancers_arrives(self):
        text = json.dumps([
            found for (kind, _), found in self.of(
                octavia_lb_flavor=NETWORK,
                octavia_lb_availability_zone='az1').items()
            if kind == 'Manifests'])
        self.assertIn(f'flavor-id={NETWORK}', text)
        self.assertIn('availability-zone=az1', text)

    def test_shares_of_manila_arrive(self):
        for protocol, addon in (('NFS', 'csi-driver-nfs'),
                                ('CEPHFS', 'csi-cephfs')):
            objects = self.of(
                manila_csi_enabled='true', manila_csi_share_type='generic',
                manila_csi_share_protocol=protocol,
                manila_csi_share_network_id=NETWORK)
            text = json.dumps([found for (kind, _), found in objects.items()
                               if kind == 'Manifests'])
            for words in ('type: generic', f'shareNetworkID: {NETWORK}',
                          'provisioner: '
                          f'{protocol.lower()}.manila.csi.openstack.org'):
                self.assertIn(words, text)
            self.assertTrue(
                [name for name in self.names_of(objects, 'HelmRelease')
                 if addon in name], protocol)

    def test_debian_and_rocky_are_as_ubuntu(self):
        def nodes(distro):
            spec = dataclasses.replace(SMALL, image=dataclasses.replace(
                IMAGE, os_distro=distro))
            return self.documents(spec)

        ubuntu = nodes('ubuntu')
        for distro in ('debian', 'rocky', 'rockylinux'):
            self.assertEqual(ubuntu, nodes(distro), distro)
        self.assertNotEqual(ubuntu, nodes('flatcar'))

    def test_hubble_arrives(self):
        spec = dataclasses.replace(
            SMALL, network_driver='cilium',
            labels={'cilium_hubble_ui_enabled': 'true'})
        without = dataclasses.replace(spec, labels={})

        self.assertNotEqual(
            [o for o in self.documents(spec) if 'cni' in str(
                o['metadata'])],
            [o for o in self.documents(without) if 'cni' in str(
                o['metadata'])])

    def test_taints_arrive(self):
        taints = self.registration(self.render(LARGE), GPU)['taints']

        self.assertEqual([{'key': 'example.org/gpu', 'value': 'yes',
                           'effect': 'NoSchedule'}], taints)

    def test_taints_leave_the_rest_of_the_registration(self):
        registration = self.registration(self.render(LARGE), GPU)

        self.assertEqual('external', registration['kubeletExtraArgs'][
            'cloud-provider'])

    def test_a_node_group_has_the_version_of_its_image(self):
        gpu = self.deployment(self.render(LARGE), GPU)['spec']['template'][
            'spec']

        self.assertEqual('v1.34.1', gpu['version'])

    def test_the_control_plane_keeps_the_charts_own_files(self):
        plane = self.render(LARGE)['KubeadmControlPlane', names.control_plane(
            names.cluster(UUID))]['spec']['kubeadmConfigSpec']

        self.assertIn('/etc/kubernetes/admission/configuration.yaml',
                      [f['path'] for f in plane['files']])
