# SPDX-License-Identifier: Apache-2.0

"""Helm values: what is asked for is in them, what is not is left out."""

import dataclasses
import json

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import kept
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import values
from magnum_capi import errors
from tests.unit.driver import objects

UUID = '1f2c1f2c-0000-4000-8000-000000000001'
NETWORK = '1f2c1f2c-0000-4000-8000-00000000000c'
IMAGE = spec_model.Image(
    '1f2c1f2c-0000-4000-8000-00000000000a', 'v1.35.0-rc.1', 'flatcar')
SPEC = objects.cluster_spec(UUID, IMAGE)
GROUP, = SPEC.node_groups
CHART = charts.features('openstack-cluster', '0.27.0')


def made(given=None, chart=CHART, group=None, overlays=(), **changes):
    """Values of SPEC with labels and changes; group: those of its group."""
    given = given or {}
    spec = dataclasses.replace(SPEC, labels=given, **changes)
    spec = dataclasses.replace(spec, node_groups=tuple(
        dataclasses.replace(g, **{'labels': given, **(group or {})})
        for g in spec.node_groups))
    return values.values(spec, labels.parse(labels.merged(
        given, spec.template_labels)), chart, overlays=overlays)


class TestCluster(testtools.TestCase):

    def test_what_identifies_a_cluster(self):
        result = made()

        self.assertEqual(
            ('1.35.0-rc.1', IMAGE.id, 'flatcar',
             f'{names.cluster(UUID)}-cloud-credentials'),
            (result['kubernetesVersion'], result['machineImageId'],
             result['osDistro'], result['cloudCredentialsSecretName']))

    def test_the_default_of_all_is_small(self):
        """A value that nobody asked for is the chart's own."""
        self.assertEqual(
            {'kubernetesVersion', 'machineImageId', 'osDistro',
             'cloudCredentialsSecretName', 'clusterAnnotations', 'apiServer',
             'clusterNetworking', 'controlPlane', 'nodeGroupDefaults',
             'nodeGroups', 'addons'},
            set(made()))

    def test_values_are_json(self):
        result = made({'api_master_lb_allowed_cidrs': '192.0.2.0/24'})

        self.assertEqual(result, json.loads(json.dumps(result)))

    def test_the_same_cluster_has_the_same_values(self):
        self.assertEqual(made(), made())

    def test_the_control_plane_has_its_flavor_and_count(self):
        plane = made(master_count=3)['controlPlane']

        self.assertEqual(('m1.medium', 3, True),
                         (plane['machineFlavor'], plane['machineCount'],
                          plane['healthCheck']['enabled']))

    def test_how_load_is_spread_goes_by_the_provider(self):
        for provider, method in (('amphora', 'ROUND_ROBIN'),
                                 ('ovn', 'SOURCE_IP_PORT'),
                                 ('vendor', 'ROUND_ROBIN')):
            openstack = made({'octavia_provider': objects.as_read(
                provider)})['addons']['openstack']
            self.assertEqual(method, openstack['cloudConfig'][
                'LoadBalancer']['lb-method'])

    def test_zones_of_the_control_plane(self):
        plane = made({'control_plane_availability_zones': 'a,b'})[
            'controlPlane']

        self.assertEqual((False, ['a', 'b']), (
            plane['omitFailureDomain'], plane['failureDomains']))
        self.assertNotIn('failureDomains', made()['controlPlane'])

    def test_zone_of_the_cluster_is_that_of_its_control_plane(self):
        # "Where the cluster nodes should be deployed" (magnum, user guide).
        for label, expected in (({}, ['az1']), ({
                'control_plane_availability_zones': 'a,b'}, ['a', 'b'])):
            plane = made({'availability_zone': 'az1', **label})['controlPlane']
            self.assertEqual((False, expected), (
                plane['omitFailureDomain'], plane['failureDomains']))

    def test_the_keypair_is_left_out_when_there_is_none(self):
        self.assertNotIn('machineSSHKeyName', made())
        self.assertEqual('k', made(keypair='k')['machineSSHKeyName'])


class TestApiServer(testtools.TestCase):

    def test_a_floating_ip_is_as_magnum_says(self):
        # B.4.11
        self.assertTrue(made()['apiServer']['associateFloatingIP'])
        self.assertFalse(made(floating_ip_enabled=False)['apiServer'][
            'associateFloatingIP'])

    def test_it_is_always_behind_a_load_balancer(self):
        self.assertIs(True, made()['apiServer']['enableLoadBalancer'])

    def test_the_allow_list_has_the_key_of_the_chart(self):
        # B.4.9: a key that the chart does not know is ignored.
        given = {'api_master_lb_allowed_cidrs': '192.0.2.0/24'}
        for version, keys in (('0.11.0', {'allowedCidrs'}),
                              ('0.23.0', {'allowedCidrs'}),
                              ('0.24.0', {'allowedCIDRs'}),
                              ('0.27.0', {'allowedCIDRs'}),
                              (None, {'allowedCidrs', 'allowedCIDRs'})):
            server = made(given, charts.features(
                'openstack-cluster', version))['apiServer']
            self.assertEqual(
                {key: ['192.0.2.0/24'] for key in keys},
                {k: v for k, v in server.items() if 'owed' in k}, version)

    def test_the_management_cluster_is_always_let_in(self):
        own = ('198.51.100.0/24', '192.0.2.0/24')
        given = {'api_master_lb_allowed_cidrs': '192.0.2.0/24,203.0.113.7'}
        self.assertEqual(
            ['192.0.2.0/24', '203.0.113.7/32', '198.51.100.0/24'],
            made(given, management_cidrs=own)['apiServer']['allowedCIDRs'])
        # Nobody is kept away where nobody asked for it.
        self.assertNotIn('allowedCIDRs', made(
            management_cidrs=own)['apiServer'])

    def test_load_balancers_of_services_have_a_flavor_and_a_zone(self):
        result = made({'octavia_lb_flavor': NETWORK,
                       'octavia_lb_availability_zone': 'az1'})
        found = result['addons']['openstack']['cloudConfig']['LoadBalancer']
        self.assertEqual((NETWORK, 'az1'), (
            found['flavor-id'], found['availability-zone']))

    def test_images_of_the_control_plane_come_from_a_registry(self):
        for text in ('r.example.org/k8s', 'r.example.org/k8s/'):
            told = made({'container_infra_prefix': text})['controlPlane'][
                'kubeadmConfigSpec']
            self.assertEqual({'clusterConfiguration': {
                'imageRepository': 'r.example.org/k8s'}}, told)

    def test_control_plane_is_replaced_before_its_certificates_end(self):
        newer = charts.features('openstack-cluster', '0.27.1')
        for given, days in (({}, 90), ({'certificates_expiry_days': '30'},
                                       30), (
                {'certificates_expiry_days': '0'}, None)):
            self.assertEqual(days, made(given, newer)['controlPlane'].get(
                'certificatesExpiryDays'))

    def test_chart_that_cannot_do_so_is_no_silent_one(self):
        self.assertNotIn('certificatesExpiryDays', made()['controlPlane'])
        made({'certificates_expiry_days': '0'})
        error = self.assertRaises(spec_model.InvalidSpec, made, {
            'certificates_expiry_days': '30'})
        self.assertIn('certificates_expiry_days', str(error))

    def test_the_provider_is_for_it_and_for_services(self):
        result = made({'octavia_provider': 'ovn'})

        self.assertEqual('ovn', result['apiServer']['loadBalancerProvider'])
        self.assertEqual(
            {'lb-provider': 'ovn', 'lb-method': 'SOURCE_IP_PORT',
             'create-monitor': True},
            result['addons']['openstack']['cloudConfig']['LoadBalancer'])

    def test_the_floating_ip_that_was_asked_for(self):
        self.assertNotIn('floatingIP', made()['apiServer'])
        self.assertEqual('192.0.2.7', made({
            'api_server_floating_ip': '192.0.2.7'})['apiServer'][
                'floatingIP'])

    def test_arguments_and_names_are_told_to_kubeadm(self):
        told = made({
            'api_server_cert_sans': 'api.example.org,192.0.2.7',
            'api_server_tls_cipher_suites': 'TLS_A,TLS_B',
            'admission_control_list': 'NodeRestriction,AlwaysPullImages'})[
                'controlPlane']['kubeadmConfigSpec']
        self.assertEqual({'clusterConfiguration': {'apiServer': {
            'certSANs': ['api.example.org', '192.0.2.7'],
            'extraArgs': {
                'tls-cipher-suites': 'TLS_A,TLS_B',
                'enable-admission-plugins':
                    'NodeRestriction,AlwaysPullImages'}}}}, told)

    def test_kubelets_of_all_nodes_are_told(self):
        result = made({'kubelet_tls_cipher_suites': 'TLS_A'})
        node = {'nodeRegistration': {'kubeletExtraArgs': {
            'tls-cipher-suites': 'TLS_A'}}}
        self.assertEqual(
            {'initConfiguration': node, 'joinConfiguration': node},
            result['controlPlane']['kubeadmConfigSpec'])
        self.assertEqual(
            {'joinConfiguration': node},
            result['nodeGroupDefaults']['kubeadmConfigSpec'])

    def test_arguments_of_kubelets(self):
        result = made({'kubelet_extra_args': 'max-pods=200',
                       'kubelet_tls_cipher_suites': 'TLS_A'})
        for part in (result['controlPlane'], result['nodeGroupDefaults']):
            self.assertEqual(
                {'max-pods': '200', 'tls-cipher-suites': 'TLS_A'},
                part['kubeadmConfigSpec']['joinConfiguration'][
                    'nodeRegistration']['kubeletExtraArgs'])

    def test_audit_log(self):
        told = made({'audit_log_enabled': 'true', 'audit_log_max_age': '7'})[
            'controlPlane']['kubeadmConfigSpec']
        server = told['clusterConfiguration']['apiServer']
        self.assertEqual(
            ('7', '10', '100'), tuple(
                server['extraArgs'][f'audit-log-max{what}']
                for what in ('age', 'backup', 'size')))
        # What it reads is on the node, and it sees it.
        self.assertEqual(
            [told['files'][0]['path'],
             server['extraArgs']['audit-log-path'].rpartition('/')[0]],
            [volume['mountPath'] for volume in server['extraVolumes']])

    def test_proxies_are_told_beside_it(self):
        told = made({'audit_log_enabled': 'true'}, proxies=spec_model.Proxies(
            http='http://proxy.example.org:3128'))['controlPlane'][
                'kubeadmConfigSpec']
        self.assertEqual(2, len(told['files']))
        self.assertIn('clusterConfiguration', told)

    def test_openid_connect(self):
        self.assertEqual({
            'issuerUrl': 'https://sso.example.org/r', 'clientId': 'c',
            'usernameClaim': 'email', 'usernamePrefix': '-',
            'groupsClaim': 'groups', 'groupsPrefix': 'oidc:'}, made({
                'oidc_issuer_url': 'https://sso.example.org/r',
                'oidc_client_id': 'c', 'oidc_username_claim': 'email',
                'oidc_username_prefix': '-'})['oidc'])

    def test_a_chart_that_does_not_take_it_is_no_silent_one(self):
        given = {'audit_log_enabled': 'true', 'oidc_client_id': 'c',
                 'oidc_issuer_url': 'https://sso.example.org'}
        error = self.assertRaises(
            spec_model.InvalidSpec, made, given,
            charts.features('/charts/sandbox-cluster'))
        self.assertEqual(2, len(error.problems))


class TestNetworks(testtools.TestCase):

    def test_networks_of_pods_and_services_and_their_domain(self):
        given = {'service_cluster_ip_range': '10.96.0.0/16',
                 'dns_cluster_domain': 'k8s.example.org'}
        services = {'services': {'cidrBlocks': ['10.96.0.0/16']},
                    'serviceDomain': 'k8s.example.org'}
        self.assertEqual(services, made(given)['kubeNetwork'])
        for driver, label in ((None, 'calico_ipv4pool'),
                              ('calico', 'calico_ipv4pool'),
                              ('cilium', 'cilium_ipv4pool')):
            self.assertEqual(
                services | {'pods': {'cidrBlocks': ['10.100.0.0/16']}},
                made(given | {label: '10.100.0.0/16'},
                     network_driver=driver)['kubeNetwork'])

    def test_they_are_not_asked_by_way_of_a_proxy(self):
        told = made({'service_cluster_ip_range': '10.96.0.0/16',
                     'calico_ipv4pool': '10.100.0.0/16',
                     'dns_cluster_domain': 'k8s.example.org'},
                    proxies=spec_model.Proxies(http='http://p.example.org'))
        text = str(told['controlPlane']['kubeadmConfigSpec'])
        self.assertIn('.k8s.example.org,10.100.0.0/16,10.96.0.0/16', text)
        self.assertNotIn('172.16', text)

    def test_hubble(self):
        cni = made({'cilium_hubble_ui_enabled': 'true'},
                   network_driver='cilium')['addons']['cni']
        self.assertTrue(cni['cilium']['release']['values']['hubble']['ui'][
            'enabled'])

    def test_zone_of_root_volumes(self):
        result = made({'boot_volume_size': '20',
                       'boot_volume_availability_zone': 'az2'})
        for part in (result['controlPlane'], result['nodeGroups'][0]):
            self.assertEqual({'diskSize': 20, 'availabilityZone': 'az2'},
                             part['machineRootVolume'])

    def test_a_network_of_its_own(self):
        networking = made({'fixed_subnet_cidr': '10.1.0.0/16'})[
            'clusterNetworking']

        self.assertEqual({'internalNetwork': {'nodeCidr': '10.1.0.0/16'}},
                         networking)

    def test_networks_that_exist_are_given_by_id(self):
        networking = made(
            fixed_network_id=NETWORK, fixed_subnet_id=UUID,
            external_network_id=NETWORK)['clusterNetworking']

        self.assertEqual(
            {'externalNetworkId': NETWORK, 'internalNetwork': {
                'networkFilter': {'id': NETWORK},
                'subnetFilter': {'id': UUID}}}, networking)

    def test_nameservers_are_where_the_chart_has_them(self):
        dns = ('192.0.2.53',)
        published = made(dns_nameservers=dns)['clusterNetworking']
        sandbox = made(dns_nameservers=dns, chart=charts.features(
            'sandbox-cluster'))['clusterNetworking']

        self.assertEqual(['192.0.2.53'],
                         published['internalNetwork']['dnsNameservers'])
        self.assertEqual(['192.0.2.53'], sandbox['dnsNameservers'])

    def test_extra_networks_by_name_and_id_are_for_workers(self):
        # Charts before 0.14.1 pass them on to the provider as they are.
        result = made({'extra_network_names': f'storage,{NETWORK}'})
        ports = [{}, {'network': {'filter': {'name': 'storage'}},
                      'securityGroups': []},
                 {'network': {'id': NETWORK}, 'securityGroups': []}]

        self.assertEqual(ports, result['nodeGroups'][0]['machineNetworking'][
            'ports'])
        self.assertNotIn('machineNetworking', result['controlPlane'])

    def test_extra_networks_can_be_for_the_control_plane_too(self):
        result = made({'extra_network_names': 'storage',
                       'extra_network_control_plane': 'true'})

        self.assertEqual(result['nodeGroups'][0]['machineNetworking'],
                         result['controlPlane']['machineNetworking'])

    def test_cni_is_the_network_driver(self):
        self.assertEqual({'type': 'calico'}, made()['addons']['cni'])
        self.assertEqual({'type': 'cilium'}, made(
            network_driver='cilium')['addons']['cni'])


class TestNodeGroups(testtools.TestCase):

    def group(self, given=None, chart=CHART, **changes):
        result, = made(given, chart, group=changes)['nodeGroups']
        return result

    def test_a_group_is_named_by_its_uuid(self):
        # B.4.2
        self.assertEqual(names.node_group(GROUP.uuid), self.group()['name'])

    def test_a_group_has_its_flavor_and_count(self):
        group = self.group(count=0, flavor='g1.large')

        self.assertEqual(('g1.large', 0), (group['machineFlavor'],
                                           group['machineCount']))
        self.assertNotIn('autoscale', group)
        self.assertNotIn('machineImageId', group)

    def test_no_groups_are_none(self):
        """The chart has a group of its own in its defaults."""
        self.assertEqual([], made(node_groups=())['nodeGroups'])

    def test_its_nodes_carry_its_names(self):
        group = self.group(name='A b', role='gpu', node_labels={'a': 'b'})

        self.assertEqual(
            {'a': 'b', names.NODE_GROUP_UUID: GROUP.uuid,
             names.NODE_GROUP_ROLE: 'gpu'}, group['nodeLabels'])

    def test_nobody_can_give_its_nodes_other_names(self):
        group = self.group(node_labels={names.NODE_GROUP_UUID: 'x'})

        self.assertEqual(GROUP.uuid, group['nodeLabels'][
            names.NODE_GROUP_UUID])

    def test_its_own_image_brings_its_version(self):
        group = self.group(image=spec_model.Image('other', 'v1.35.0', 'x'))

        self.assertEqual(('other', '1.35.0'), (group['machineImageId'],
                                               group['kubernetesVersion']))

    def test_taints_are_kubeadms(self):
        group = self.group(node_taints=(
            {'key': 'a', 'value': 'b', 'effect': 'NoSchedule'},
            {'key': 'c', 'value': None, 'effect': 'NoExecute'}))

        self.assertEqual({'joinConfiguration': {'nodeRegistration': {
            'taints': [{'key': 'a', 'value': 'b', 'effect': 'NoSchedule'},
                       {'key': 'c', 'effect': 'NoExecute'}]}}},
            group['kubeadmConfigSpec'])
        self.assertNotIn('kubeadmConfigSpec', self.group())

    def test_autoscaling_has_bounds(self):
        given = {'auto_scaling_enabled': 'true'}
        group = self.group(given, min=2, max=5)

        self.assertEqual((True, 2, 5), (
            group['autoscale'], group['machineCountMin'],
            group['machineCountMax']))
        self.assertNotIn('autoscale', self.group(given))

    def test_no_minimum_is_one_node(self):
        # B.4.20
        given = {'auto_scaling_enabled': 'true'}

        self.assertEqual(1, self.group(given, max=5)['machineCountMin'])

    def test_an_older_chart_takes_no_group_of_zero(self):
        def least(version):
            return values.values(
                dataclasses.replace(SPEC, node_groups=(
                    dataclasses.replace(GROUP, max=5),)),
                labels.Labels(auto_scaling_enabled=True),
                charts.features('openstack-cluster', version),
                policy=labels.Policy({'auto_scaling_enabled': 'true'}),
                scale_from_zero=True)['nodeGroups'][0]['machineCountMin']

        self.assertEqual((1, 0), (least('0.25.1'), least('0.26.0')))

    def test_its_labels_may_differ_from_the_clusters(self):
        result = made({'boot_volume_size': '20'}, group={
            'labels': {'boot_volume_size': '50', 'availability_zone': 'az2'}})
        group, = result['nodeGroups']

        self.assertEqual({'diskSize': 50}, group['machineRootVolume'])
        self.assertEqual({'diskSize': 20},
                         result['controlPlane']['machineRootVolume'])
        self.assertEqual('az2', group['failureDomain'])

    def test_self_healing_can_be_off(self):
        result = made({'auto_healing_enabled': 'false'})

        for part in (result['controlPlane'], result['nodeGroupDefaults'],
                     result['nodeGroups'][0]):
            self.assertEqual({'enabled': False}, part['healthCheck'])

    def test_a_group_that_heals_says_so_itself(self):
        result = made()

        self.assertEqual(
            (False, True), tuple(
                part['healthCheck']['enabled'] for part in (
                    result['nodeGroupDefaults'], result['nodeGroups'][0])))


class TestVolumes(testtools.TestCase):

    def csi(self, given=None, **volumes):
        return made(given, volumes=spec_model.Volumes(**volumes))['addons'][
            'openstack']['csiCinder']

    def test_the_size_of_root_volumes_may_be_magnums_own(self):
        volumes = spec_model.Volumes(boot_size=30, boot_type='ssd')
        own = made(volumes=volumes)['controlPlane']
        zero = made({'boot_volume_size': '0'}, volumes=volumes)

        self.assertEqual({'diskSize': 30, 'volumeType': 'ssd'},
                         own['machineRootVolume'])
        self.assertNotIn('machineRootVolume', zero['controlPlane'])

    def test_etcd_may_have_a_volume(self):
        self.assertNotIn('etcd', made({'etcd_blockdevice_size': '0'}))
        self.assertEqual(
            {'blockDevice': {'size': 5, 'type': 'Volume', 'volumeType': 'ssd',
                             'availabilityZone': 'az1'}},
            made({'etcd_blockdevice_size': '5',
                  'etcd_blockdevice_volume_type': 'ssd',
                  'etcd_blockdevice_volume_az': 'az1'})['etcd'])
        self.assertEqual(
            {'blockDevice': {'size': 5, 'type': 'Local'}},
            made({'etcd_blockdevice_size': '5',
                  'etcd_blockdevice_type': 'local'})['etcd'])

    def test_a_cloud_without_block_storage_is_no_error(self):
        # B.4.18: Cinder had to be there, with a volume type.
        self.assertEqual({'enabled': False}, self.csi(types=None))

    def test_a_cloud_without_volume_types_has_one_class(self):
        # B.4.18: it was an IndexError.
        csi = self.csi(types=())

        self.assertTrue(csi['enabled'])
        self.assertNotIn('volumeType', csi['defaultStorageClass'])
        self.assertNotIn('additionalStorageClasses', csi)

    def test_every_volume_type_has_a_class(self):
        csi = self.csi({'csi_cinder_reclaim_policy': 'Delete'},
                       types=('ssd', 'hdd'), default_type='hdd')

        self.assertTrue(csi['enabled'])
        self.assertNotIn('allowedTopologies', csi['defaultStorageClass'])
        self.assertEqual(('hdd', True, 'Delete'), tuple(
            csi['defaultStorageClass'][key] for key in (
                'name', 'enabled', 'reclaimPolicy')))
        self.assertEqual(['ssd'], [
            c['volumeType'] for c in csi['additionalStorageClasses']])

    def test_classes_of_two_types_have_two_names(self):
        types = ('A_b', 'a-b', 'a b', '__DEFAULT__')
        csi = self.csi(types=types)
        classes = [csi['defaultStorageClass'],
                   *csi['additionalStorageClasses']]

        self.assertEqual(list(types), [c['volumeType'] for c in classes])
        self.assertEqual(4, len({c['name'] for c in classes}))
        for c in classes:
            self.assertTrue(names.is_label_value(c['name']))
            self.assertEqual(c['name'].lower(), c['name'])

    def test_class_of_a_name_that_kubernetes_does_not_take(self):
        # printf 'A_b' | sha256sum
        for name, expected in (
                ('fast', 'fast'), ('A_b', 'a-b-08eb65ad'),
                ('X' * 60, f'{"x" * 50}-'), ('__', 'type-')):
            csi = self.csi(types=(name,))
            found = csi['defaultStorageClass']['name']
            self.assertEqual(expected, found[:len(expected)])
            self.assertEqual(
                len(expected) + 8 * expected.endswith('-'), len(found))

    def test_topologies_are_of_every_class(self):
        topologies = ({'matchLabelExpressions': []},)
        csi = self.csi(types=('ssd', 'hdd'), allowed_topologies=topologies)

        for found in (csi['defaultStorageClass'],
                      *csi['additionalStorageClasses']):
            self.assertEqual(list(topologies), found['allowedTopologies'])

    def test_a_default_that_cinder_does_not_have_is_refused(self):
        error = self.assertRaises(spec_model.InvalidSpec, self.csi,
                                  types=('ssd',), default_type='gone')

        self.assertIn("'gone'", str(error))

    def test_the_label_turns_it_off(self):
        self.assertEqual({'enabled': False},
                         self.csi({'cinder_csi_enabled': 'false'}))


class TestAddons(testtools.TestCase):

    def test_all_that_costs_something_is_off(self):
        addons = made()['addons']

        self.assertEqual(
            (False, False, True), tuple(addons[key]['enabled'] for key in (
                'monitoring', 'ingress', 'metricsServer')))
        self.assertNotIn('k8sKeystoneAuth', addons['openstack'])
        self.assertNotIn('authWebhook', made())

    def test_one_ingress_controller_is_on(self):
        ingress = made({'ingress_controller': 'nginx'})['addons']['ingress']

        self.assertEqual({'enabled': True, 'nginx': {'enabled': True},
                          'traefik': {'enabled': False}}, ingress)
        ingress = made({'ingress_controller': 'traefik'})['addons']['ingress']
        self.assertEqual({'enabled': True, 'nginx': {'enabled': False},
                          'traefik': {'enabled': True}}, ingress)

    def test_one_that_the_chart_does_not_have_is_refused(self):
        old = charts.features('openstack-cluster', '0.22.0')
        error = self.assertRaises(spec_model.InvalidSpec, made, {
            'ingress_controller': 'traefik'}, old)

        self.assertIn('only nginx', str(error))

    def test_the_dashboard_is_the_one_of_the_chart(self):
        # B.4.9: the driver set a key that the chart had dropped.
        given = {'kube_dashboard_enabled': 'true'}
        for version, key in (('0.19.2', 'kubernetesDashboard'),
                             ('0.27.1', 'headlamp')):
            addons = made(given, charts.features(
                'openstack-cluster', version))['addons']
            self.assertEqual({'enabled': True}, addons[key])

    def test_a_dashboard_that_nobody_has_is_refused(self):
        given = {'kube_dashboard_enabled': 'true'}
        for chart in (CHART, charts.features('/charts/sandbox-cluster')):
            error = self.assertRaises(
                spec_model.InvalidSpec, made, given, chart)
            self.assertIn('kube_dashboard_enabled', str(error))

    def test_a_dashboard_that_is_only_a_default_is_left_out(self):
        read = labels.parse({}, labels.Policy(
            {'kube_dashboard_enabled': 'true'}))

        self.assertNotIn('headlamp', values.values(SPEC, read, CHART)[
            'addons'])

    def test_addons_are_restarted_when_the_credential_changes(self):
        for chart, expected in (
                (CHART, {'enabled': True}),
                (charts.features('openstack-cluster'), {'enabled': True}),
                (charts.features('openstack-cluster', '0.17.0'),
                 {'enabled': True}),
                (charts.features('openstack-cluster', '0.16.1'), None),
                (charts.features('/charts/sandbox-cluster'), None)):
            self.assertEqual(
                expected, made(chart=chart)['addons'].get('reloader'))

    def test_keystone_for_users_knows_keystone_and_the_project(self):
        result = made({'keystone_auth_enabled': 'true'}, auth_url='http://k')

        self.assertEqual('k8s-keystone-auth', result['authWebhook'])
        self.assertEqual(
            {'enabled': True, 'values': {'openstackAuthUrl': 'http://k',
                                         'projectId': 'p1'}},
            result['addons']['openstack']['k8sKeystoneAuth'])

    def test_shares_of_manila(self):
        given = {'manila_csi_enabled': 'true',
                 'manila_csi_share_type': 'generic',
                 'manila_csi_share_network_id': NETWORK}
        addons = made(given)['addons']
        self.assertEqual({'enabled': True, 'defaultStorageClass': {
            'enabled': True, 'provisioner': 'nfs.manila.csi.openstack.org',
            'parameters': {'type': 'generic', 'shareNetworkID': NETWORK}}},
            addons['openstack']['csiManila'])
        # Manila's plugin calls it to mount.
        self.assertEqual(['csi-driver-nfs'], list(addons['custom']))
        self.assertTrue(addons['openstack']['csiCinder'])

        addons = made({**given, 'manila_csi_share_protocol': 'CEPHFS'})[
            'addons']
        self.assertEqual({'cephfs': {'enabled': True}}, addons['csi'])
        self.assertNotIn('custom', addons)
        self.assertNotIn('csiManila', made()['addons']['openstack'])

    def test_chart_for_nfs_is_from_a_repository_of_releases(self):
        # A file of a branch may change, whatever its version.
        chart = made({'manila_csi_enabled': 'true',
                      'manila_csi_share_type': 'generic'})['addons'][
            'custom']['csi-driver-nfs']['spec']['chart']
        self.assertNotIn('raw.githubusercontent.com', chart['repo'])
        self.assertTrue(chart['version'])


class TestNoSilentLabel(testtools.TestCase):
    """Every label has an effect on values, or is judged elsewhere."""

    #: Read before there are values, and tested where that is done.
    ELSEWHERE = frozenset((
        'server_group_policies',  # test_placement
        'kube_tag',  # test_spec: has to be the image's
        'min_node_count',  # Magnum: the minimum in the row of the group
        'capi_helm_chart_name', 'capi_helm_chart_version',
        'capi_helm_values'))  # test_gather

    #: A value that is not the default, and what has to be there beside it.
    GIVEN = {
        'master_lb_floating_ip_enabled': 'false',
        'api_master_lb_allowed_cidrs': '192.0.2.0/24',
        'api_server_floating_ip': '192.0.2.7',
        'api_server_cert_sans': 'a.example.org',
        'api_server_tls_cipher_suites': 'TLS_A',
        'kubelet_tls_cipher_suites': 'TLS_A',
        'admission_control_list': 'AlwaysPullImages',
        'kubelet_extra_args': 'max-pods=200',
        'certificates_expiry_days': '30',
        'container_infra_prefix': 'r.example.org',
        'audit_log_enabled': 'true', 'audit_log_max_age': '7',
        'audit_log_max_backup': '7', 'audit_log_max_size': '7',
        'oidc_issuer_url': 'https://sso.example.org',
        'oidc_client_id': 'd', 'oidc_username_claim': 'email',
        'oidc_username_prefix': '-', 'oidc_groups_claim': 'g',
        'oidc_groups_prefix': 'g:', 'octavia_provider': 'ovn',
        'octavia_lb_algorithm': 'SOURCE_IP',
        'octavia_lb_healthcheck': 'false', 'octavia_lb_flavor': NETWORK,
        'octavia_lb_availability_zone': 'az1',
        'fixed_subnet_cidr': '10.1.0.0/16',
        'calico_ipv4pool': '10.2.0.0/16', 'cilium_ipv4pool': '10.2.0.0/16',
        'service_cluster_ip_range': '10.3.0.0/16',
        'dns_cluster_domain': 'k8s.example.org',
        'cilium_hubble_ui_enabled': 'true', 'extra_network_names': 'a',
        'extra_network_name': 'a', 'extra_network_control_plane': 'true',
        'availability_zone': 'az1',
        'control_plane_availability_zones': 'az1',
        'boot_volume_size': '30', 'boot_volume_type': 'ssd',
        'boot_volume_availability_zone': 'az1',
        'etcd_blockdevice_size': '5', 'etcd_blockdevice_type': 'local',
        'etcd_blockdevice_volume_type': 'ssd',
        'etcd_blockdevice_volume_az': 'az1', 'etcd_volume_size': '5',
        'etcd_volume_type': 'ssd', 'auto_healing_enabled': 'false',
        'auto_scaling_enabled': 'true', 'max_node_count': '9',
        'cinder_csi_enabled': 'false',
        'csi_cinder_availability_zone': 'az1',
        'csi_cinder_reclaim_policy': 'Delete',
        'csi_cinder_volume_binding_mode': 'Immediate',
        'csi_cinder_fstype': 'xfs',
        'csi_cinder_allow_volume_expansion': 'false',
        'manila_csi_enabled': 'true', 'manila_csi_share_type': 'b',
        'manila_csi_share_protocol': 'CEPHFS',
        'manila_csi_share_network_id': NETWORK,
        'monitoring_enabled': 'true', 'metrics_server_enabled': 'false',
        'ingress_controller': 'nginx', 'kube_dashboard_enabled': 'true',
        'keystone_auth_enabled': 'true'}
    BESIDE = {
        'audit_log_max_age': {'audit_log_enabled': 'true'},
        'audit_log_max_backup': {'audit_log_enabled': 'true'},
        'audit_log_max_size': {'audit_log_enabled': 'true'},
        'boot_volume_type': {'boot_volume_size': '20'},
        'boot_volume_availability_zone': {'boot_volume_size': '20'},
        'etcd_blockdevice_type': {'etcd_blockdevice_size': '5'},
        'etcd_blockdevice_volume_type': {'etcd_blockdevice_size': '5'},
        'etcd_blockdevice_volume_az': {'etcd_blockdevice_size': '5'},
        'etcd_volume_type': {'etcd_blockdevice_size': '5'},
        'extra_network_control_plane': {'extra_network_names': 'a'},
        'auto_scaling_enabled': {'max_node_count': '5'},
        'max_node_count': {'auto_scaling_enabled': 'true',
                           'max_node_count': '5'}}

    def beside(self, name):
        if name.startswith('oidc_'):
            return {'oidc_issuer_url': 'https://o.example.org',
                    'oidc_client_id': 'c'}
        if name.startswith('manila_') and name != 'manila_csi_enabled':
            return {'manila_csi_enabled': 'true',
                    'manila_csi_share_type': 'a'}
        return self.BESIDE.get(name, {})

    def test_every_one_is_somewhere(self):
        self.assertEqual(set(labels.REGISTRY),
                         set(self.GIVEN) | self.ELSEWHERE)
        chart = charts.features('openstack-cluster', '0.27.1')
        for name, text in self.GIVEN.items():
            beside = self.beside(name)
            if name == 'manila_csi_enabled':
                beside = {'manila_csi_share_type': 'a'}
            made_of = {'chart': chart, 'auth_url': 'http://k',
                       'network_driver': 'cilium' if 'cilium' in name
                       else 'calico', 'volumes': spec_model.Volumes(('a',))}
            with_it = made({**beside, name: text}, **made_of)
            self.assertNotEqual(made(beside, **made_of), with_it, name)


class TestProxies(testtools.TestCase):

    HIDDEN = spec_model.Proxies(http='http://u:p%40@proxy:3128')

    def test_they_are_for_containerd_on_all_nodes(self):
        result = made(proxies=spec_model.Proxies(
            http='http://proxy:3128', no='.example.org'))
        plane = result['controlPlane']['kubeadmConfigSpec']
        file, = plane['files']

        self.assertEqual(plane, result['nodeGroupDefaults'][
            'kubeadmConfigSpec'])
        self.assertEqual('0600', file['permissions'])
        self.assertIn('"HTTP_PROXY=http://proxy:3128"', file['content'])
        self.assertIn('NO_PROXY=.example.org,localhost', file['content'])
        self.assertIn('10.0.0.0/24', file['content'])

    def file(self, **changes):
        return node_files.proxies(dataclasses.replace(
            SPEC, proxies=dataclasses.replace(self.HIDDEN, **changes)),
            labels.parse({}))

    def test_file_with_a_password_is_named_only(self):
        result = made(proxies=self.HIDDEN)
        file, = result['controlPlane']['kubeadmConfigSpec']['files']

        # The key is the name that systemd wants, too.
        self.assertEqual({'secret': {
            'name': self.file().secret, 'key': '50-proxy.conf'}},
            file['contentFrom'])
        self.assertNotIn('content', file)
        # systemd reads "%" as the begin of a specifier.
        self.assertIn('"HTTP_PROXY=http://u:p%%40@proxy:3128"',
                      self.file().content)
        self.assertNotIn('p%%40', repr(self.file()))

    def test_name_of_the_secret_is_of_what_is_in_it(self):
        name = self.file().secret

        self.assertTrue(name.startswith(f'{names.cluster(UUID)}-proxies-'))
        self.assertEqual(name, self.file().secret)
        for other in ({'http': 'http://u:other@proxy:3128'}, {'no': 'a'},
                      {'https': self.HIDDEN.http}):
            self.assertNotEqual(name, self.file(**other).secret)

    def test_name_of_the_secret_is_always_the_same(self):
        # Another name would replace all nodes.
        self.assertTrue(self.file().secret.endswith('-proxies-dfcb5088e1'))

    def test_password_for_https_alone(self):
        self.assertIsNotNone(self.file(
            http='http://proxy:3128', https=self.HIDDEN.http).secret)

    def test_no_proxy_alone_is_nothing(self):
        self.assertIsNone(self.file(http=None, no='a'))


class TestOverlays(testtools.TestCase):

    def test_batches_of_an_upgrade_are_above_what_an_overlay_says(self):
        """The number is the user's, whether nodes go or come first is not."""
        rolling = {'maxUnavailable': 0, 'maxSurge': 1}
        overlay = {'nodeGroupDefaults': {
            'rolloutStrategy': {'rollingUpdate': rolling}}}
        spec = dataclasses.replace(SPEC, labels={})

        result = kept.with_strategies(values.values(
            spec, labels.parse({}), CHART, overlays=[('surge', overlay)]),
            spec, batch=4)

        self.assertEqual({'rollingUpdate': {'maxSurge': 4}},
                         result['nodeGroups'][0]['rolloutStrategy'])
        self.assertEqual(rolling, result['nodeGroupDefaults'][
            'rolloutStrategy']['rollingUpdate'])

    def test_an_overlay_wins_and_the_last_most(self):
        result = made(overlays=[
            ('gpu', {'addons': {'nvidiaGPUOperator': {'enabled': False}},
                     'registryMirrors': {'docker.io': ['a', 'b']}}),
            ('mirror', {'registryMirrors': {'docker.io': ['c']}})])

        self.assertEqual({'docker.io': ['c']}, result['registryMirrors'])
        self.assertFalse(result['addons']['nvidiaGPUOperator']['enabled'])
        self.assertEqual('calico', result['addons']['cni']['type'])

    PROXIES = spec_model.Proxies(http='http://proxy:3128')

    def kubeadm(self, *overlays, part='controlPlane'):
        return made(proxies=self.PROXIES, overlays=[
            (f'o{n}', {part: {'kubeadmConfigSpec': overlay}})
            for n, overlay in enumerate(overlays)])[part]['kubeadmConfigSpec']

    def test_files_and_commands_of_an_overlay_come_beside_the_drivers(self):
        # Nodes could not pull images, for want of the proxy's file.
        audit = {'path': '/etc/kubernetes/audit.yaml', 'content': 'rules'}
        for part in ('controlPlane', 'nodeGroupDefaults'):
            alone, found = self.kubeadm(part=part), self.kubeadm(
                {'files': [audit], 'preKubeadmCommands': ['true'],
                 'postKubeadmCommands': ['false']}, part=part)

            self.assertEqual([*alone['files'], audit], found['files'])
            self.assertEqual([*alone['preKubeadmCommands'], 'true'],
                             found['preKubeadmCommands'])
            self.assertEqual(['false'], found['postKubeadmCommands'])

    def test_a_file_is_known_by_its_path(self):
        path, = [file['path'] for file in self.kubeadm()['files']]
        found, = self.kubeadm({'files': [{'path': path, 'owner': 'a:b'}]})[
            'files']

        self.assertEqual(('a:b', '0600'),
                         (found['owner'], found['permissions']))

    def test_content_takes_the_place_of_a_reference(self):
        # Cluster API refuses a file with both.
        path, = [file['path'] for file in self.kubeadm()['files']]
        reference = {'contentFrom': {'secret': {'name': 'a', 'key': 'b'}}}
        found, = self.kubeadm(
            {'files': [{'path': path, **reference}]},
            {'files': [{'path': path, 'content': 'c'}]})['files']

        self.assertEqual('c', found['content'])
        self.assertNotIn('contentFrom', found)

        found, = self.kubeadm({'files': [{'path': path, **reference}]})[
            'files']
        self.assertNotIn('content', found)

    def test_files_of_two_overlays(self):
        files = [{'path': f'/{n}', 'content': n} for n in 'ab']
        found = self.kubeadm(*({'files': [file]} for file in files))

        self.assertEqual(files, found['files'][1:])

    def test_commands_come_after_the_drivers_also_the_same_ones(self):
        # An overlay's last one may be to restart containerd again.
        commands = self.kubeadm()['preKubeadmCommands']
        found = self.kubeadm({'preKubeadmCommands': ['true', commands[-1]]})

        self.assertEqual([*commands, 'true', commands[-1]],
                         found['preKubeadmCommands'])

    def test_what_the_driver_needs_cannot_be_taken_away(self):
        for overlay in ({'files': None}, {'files': {'path': '/a'}}, None,
                        {'files': ['/a']}, {'files': [{'content': 'a'}]}):
            e = self.assertRaises(errors.UsageError, self.kubeadm, overlay)
            self.assertIn('"o0"', str(e))
            self.assertIn('controlPlane.kubeadmConfigSpec', str(e))

    def test_a_mapping_cannot_be_taken_away(self):
        for key in ('controlPlane', 'clusterAnnotations', 'addons'):
            e = self.assertRaises(
                errors.UsageError, made, overlays=[('none', {key: None})])
            self.assertIn(f'{key} must be a mapping', str(e))

    def test_lists_that_users_filled(self):
        given = {'api_master_lb_allowed_cidrs': '192.0.2.0/24',
                 'extra_network_names': 'storage',
                 'extra_network_control_plane': 'true'}
        port = {'network': {'name': 'backup'}}
        found = made(given, volumes=spec_model.Volumes(types=('a', 'b')),
                     overlays=[('all', {
                         'apiServer': {'allowedCIDRs': ['203.0.113.0/24']},
                         'controlPlane': {
                             'machineNetworking': {'ports': [{}, port]}},
                         'addons': {'openstack': {'csiCinder': {
                             'additionalStorageClasses': [
                                 {'name': 'c'},
                                 {'name': 'b', 'fstype': 'xfs'}]}}}})])

        self.assertEqual(['192.0.2.0/24', '203.0.113.0/24'],
                         found['apiServer']['allowedCIDRs'])
        self.assertEqual(
            [{}, {'network': {'filter': {'name': 'storage'}},
                  'securityGroups': []}, port],
            found['controlPlane']['machineNetworking']['ports'])
        self.assertEqual(
            [('b', 'b', 'xfs'), ('c', None, None)],
            [tuple(map(one.get, ('name', 'volumeType', 'fstype')))
             for one in found['addons']['openstack']['csiCinder'][
                 'additionalStorageClasses']])

    def test_other_lists_are_replaced(self):
        found = made(
            {'control_plane_availability_zones': 'a,b'},
            overlays=[('zone', {'controlPlane': {'failureDomains': ['c']}})])

        self.assertEqual(['c'], found['controlPlane']['failureDomains'])

    def test_it_is_not_changed(self):
        overlay = {'registryMirrors': {'docker.io': ['a']}}
        made(overlays=[('one', overlay)])['registryMirrors'][
            'docker.io'].append('b')

        self.assertEqual({'registryMirrors': {'docker.io': ['a']}}, overlay)

    def test_what_the_driver_looks_for_cannot_be_changed(self):
        for overlay, word in (
                ({'nodeGroups': []}, 'nodeGroups'),
                ({'controlPlane': {'machineCount': 5}}, 'machineCount'),
                ({'clusterAnnotations': {names.CLUSTER_UUID: 'x'}},
                 names.CLUSTER_UUID)):
            error = self.assertRaises(
                errors.UsageError, made, overlays=[('bad', overlay)])
            self.assertIn('"bad"', str(error))
            self.assertIn(word, str(error))


class TestCharts(testtools.TestCase):

    def test_charts_that_make_objects_nobody_serves_are_refused(self):
        # B.4.10: the default chart was one of them.
        error = self.assertRaises(
            spec_model.InvalidSpec, charts.features, 'openstack-cluster',
            '0.10.1')

        self.assertIn('0.11.0', str(error))

    def test_a_version_that_is_none_is_refused(self):
        self.assertRaises(spec_model.InvalidSpec, charts.features,
                          'openstack-cluster', 'latest')

    def unfit(self, chart, kubernetes, given=None, creating=True):
        return charts.unfit(
            charts.features('openstack-cluster', chart),
            labels.parse(given or {}), kubernetes, creating)

    def test_charts_with_a_flag_that_api_servers_do_not_have(self):
        text, = self.unfit('0.14.1', 'v1.33.0', creating=False)

        self.assertIn('Kubernetes 1.33', text)
        self.assertEqual((), self.unfit('0.14.1', 'v1.32.9'))
        self.assertEqual((), self.unfit('0.15.0', 'v1.36.1'))
        self.assertEqual((), self.unfit(None, 'v1.36.1'))

    def test_charts_whose_api_servers_wait_for_the_webhook(self):
        given = {'keystone_auth_enabled': 'true'}
        text, = self.unfit('0.16.0', 'v1.29.0', given)

        self.assertIn('label keystone_auth_enabled', text)
        self.assertEqual((), self.unfit('0.16.0', 'v1.28.9', given))
        self.assertEqual((), self.unfit('0.16.0', 'v1.29.0'))
        self.assertEqual((), self.unfit('0.16.1', 'v1.36.1', given))
        # Nodes of the control plane can join one that is there.
        self.assertEqual((), self.unfit('0.16.0', 'v1.29.0', given, False))

    def test_a_chart_is_known_by_the_end_of_its_name(self):
        sandbox = charts.features('/a/charts/sandbox-cluster/')

        self.assertEqual(('nginx',), sandbox.ingress)
        self.assertEqual(
            charts.features('openstack-cluster', '0.27.0'),
            charts.features('oci://example.org/openstack-cluster', '0.27.0'))
