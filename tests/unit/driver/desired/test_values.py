# SPDX-License-Identifier: Apache-2.0

"""Helm values: what is asked for is in them, what is not is left out."""

import dataclasses
import json

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels
from magnum_capi.driver.desired import merging
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
NEWEST = charts.features('openstack-cluster', '0.27.1')
SANDBOX = charts.features('/charts/sandbox-cluster')
NETWORKS = 'clusterNetworking.internalNetwork'


def made(given=None, chart=CHART, group=None, overlays=(), **changes):
    """Values of SPEC with labels and changes; group: those of its group."""
    given = objects.as_read(given or {})
    spec = dataclasses.replace(SPEC, labels=given, **changes)
    spec = dataclasses.replace(spec, node_groups=tuple(
        dataclasses.replace(g, **{'labels': given, **(group or {})})
        for g in spec.node_groups))
    return values.values(spec, labels.parse(labels.merged(
        given, spec.template_labels)), chart, overlays=overlays)


def at(found, *paths):
    """Values at paths, None where there are none; "group" is the first."""
    found = {**found, 'group': found['nodeGroups'][0]}
    return {path: merging.get(found, path) for path in paths}


class TestCluster(testtools.TestCase):

    def test_nothing_is_there_that_nobody_asked_for(self):
        """All else is the chart's own default."""
        result = made()

        # B.4.2: the names are made of uuids.
        group = names.node_group(GROUP.uuid)
        self.assertEqual({
            'kubernetesVersion': '1.35.0-rc.1', 'machineImageId': IMAGE.id,
            'osDistro': 'flatcar', 'cloudCredentialsSecretName':
                f'{names.cluster(UUID)}-cloud-credentials',
            'clusterAnnotations': {
                names.CLUSTER_UUID: UUID, names.CLUSTER_NAME: 'dev',
                names.PROJECT_ID: 'p1', names.USER_ID: 'u1',
                names.NODE_GROUPS: json.dumps({group: 'default-worker'})},
            'apiServer': {
                'enableLoadBalancer': True, 'associateFloatingIP': True,
                'loadBalancerProvider': 'amphora'},
            'clusterNetworking': {
                'internalNetwork': {'nodeCidr': '10.0.0.0/24'}},
            'controlPlane': {
                'machineFlavor': 'm1.medium', 'machineCount': 1,
                'healthCheck': {'enabled': True}},
            # A group that heals says so itself.
            'nodeGroupDefaults': {'healthCheck': {'enabled': False}},
            'nodeGroups': [{
                'name': group, 'machineFlavor': 'm1.small',
                'machineCount': 2, 'healthCheck': {'enabled': True},
                'nodeLabels': {names.NODE_GROUP_UUID: GROUP.uuid,
                               names.NODE_GROUP_NAME: 'default-worker',
                               names.NODE_GROUP_ROLE: 'worker'}}],
            'addons': {
                'cni': {'type': 'calico'}, 'monitoring': {'enabled': False},
                'metricsServer': {'enabled': True},
                'ingress': {'enabled': False, 'nginx': {'enabled': False},
                            'traefik': {'enabled': False}},
                # Addons begin again when the credential changes.
                'reloader': {'enabled': True},
                'openstack': {
                    'cloudConfig': {'LoadBalancer': {
                        'create-monitor': True, 'lb-method': 'ROUND_ROBIN',
                        'lb-provider': 'amphora'}},
                    # B.4.18: a cloud without volume types has one class.
                    'csiCinder': {'enabled': True, 'defaultStorageClass': {
                        'reclaimPolicy': 'Retain', 'fstype': 'ext4',
                        'allowVolumeExpansion': True,
                        'availabilityZone': 'nova', 'volumeBindingMode':
                            'WaitForFirstConsumer'}}}}}, result)
        self.assertEqual(result, json.loads(json.dumps(result)))

    def test_what_rows_ask_for(self):
        for changes, expected in (
                ({'master_count': 3}, {'controlPlane.machineCount': 3}),
                ({'keypair': 'k'}, {'machineSSHKeyName': 'k'}),
                # B.4.11
                ({'floating_ip_enabled': False},
                 {'apiServer.associateFloatingIP': False}),
                ({'network_driver': 'cilium'},
                 {'addons.cni': {'type': 'cilium'}}),
                ({'fixed_network_id': NETWORK, 'fixed_subnet_id': UUID,
                  'external_network_id': NETWORK}, {'clusterNetworking': {
                      'externalNetworkId': NETWORK, 'internalNetwork': {
                          'networkFilter': {'id': NETWORK},
                          'subnetFilter': {'id': UUID}}}}),
                # Nobody is kept away where nobody asked for it.
                ({'management_cidrs': ('192.0.2.0/24',)},
                 {'apiServer.allowedCIDRs': None}),
                ({'volumes': spec_model.Volumes(types=None)},
                 {'addons.openstack.csiCinder': {'enabled': False}}),
                ({'volumes': spec_model.Volumes(
                    boot_size=30, boot_type='ssd')},
                 {'controlPlane.machineRootVolume': {
                     'diskSize': 30, 'volumeType': 'ssd'}})):
            with self.subTest(changes):
                self.assertEqual(expected, at(made(**changes), *expected))

    def test_no_groups_are_none(self):
        """The chart has a group of its own in its defaults."""
        self.assertEqual([], made(node_groups=())['nodeGroups'])

    def test_flavors_disk_may_be_asked_for(self):
        volumes = spec_model.Volumes(boot_size=30)

        self.assertNotIn('machineRootVolume', made(
            {'boot_volume_size': '0'}, volumes=volumes)['controlPlane'])

    def test_the_management_cluster_is_always_let_in(self):
        own = ('198.51.100.0/24', '192.0.2.0/24')
        given = {'api_master_lb_allowed_cidrs': '192.0.2.0/24,203.0.113.7'}
        self.assertEqual(
            ['192.0.2.0/24', '203.0.113.7/32', '198.51.100.0/24'],
            made(given, management_cidrs=own)['apiServer']['allowedCIDRs'])


_KUBEADM = 'controlPlane.kubeadmConfigSpec'
_SERVER = f'{_KUBEADM}.clusterConfiguration.apiServer'
_BALANCER = 'addons.openstack.cloudConfig.LoadBalancer'
_SHARES = 'addons.openstack.csiManila'
_OIDC = {'oidc_issuer_url': 'https://sso.example.org/r', 'oidc_client_id': 'c'}
_PORTS = [{}, {'network': {'filter': {'name': 'storage'}},
               'securityGroups': []},
          # Charts before 0.14.1 pass them on to the provider as they are.
          {'network': {'id': NETWORK}, 'securityGroups': []}]


class TestLabels(testtools.TestCase):
    """Every label has an effect on values, or is judged elsewhere."""

    #: Read before there are values, and tested where that is done.
    ELSEWHERE = frozenset((
        'server_group_policies',  # test_placement
        'kube_tag',  # test_spec: has to be the image's
        'min_node_count',  # Magnum: the minimum in the row of the group
        'capi_helm_chart_version', 'capi_helm_values'))  # test_gather

    #: Labels, what they are in the values, and changes of the cluster.
    EFFECTS = (
        ({'master_lb_floating_ip_enabled': 'false'},
         {'apiServer.associateFloatingIP': False}),
        ({'api_master_lb_allowed_cidrs': '192.0.2.0/24'},
         {'apiServer.allowedCIDRs': ['192.0.2.0/24']}),
        ({'api_server_floating_ip': '192.0.2.7'},
         {'apiServer.floatingIP': '192.0.2.7'}),
        ({'api_server_cert_sans': 'api.example.org,192.0.2.7'},
         {_SERVER: {'certSANs': ['api.example.org', '192.0.2.7']}}),
        ({'api_server_tls_cipher_suites': 'TLS_A,TLS_B',
          'admission_control_list': 'NodeRestriction,AlwaysPullImages'},
         {_SERVER: {'extraArgs': {
             'tls-cipher-suites': 'TLS_A,TLS_B', 'enable-admission-plugins':
                 'NodeRestriction,AlwaysPullImages'}}}),
        ({'kubelet_tls_cipher_suites': 'TLS_A',
          'kubelet_extra_args': 'max-pods=200'},
         {f'{part}Configuration.nodeRegistration': {'kubeletExtraArgs': {
             'max-pods': '200', 'tls-cipher-suites': 'TLS_A'}}
          for part in (f'{_KUBEADM}.init', f'{_KUBEADM}.join',
                       'nodeGroupDefaults.kubeadmConfigSpec.join')}),
        ({'certificates_expiry_days': '30'},
         {'controlPlane.certificatesExpiryDays': 30}),
        ({'certificates_expiry_days': '0'},
         {'controlPlane.certificatesExpiryDays': None}),
        ({'container_infra_prefix': 'r.example.org/k8s/'},
         {_KUBEADM: {'clusterConfiguration': {
             'imageRepository': 'r.example.org/k8s'}}}),
        ({'audit_log_enabled': 'true', 'audit_log_max_age': '7',
          'audit_log_max_backup': '8', 'audit_log_max_size': '9'},
         {f'{_SERVER}.extraArgs.audit-log-max{what}': number
          for what, number in (('age', '7'), ('backup', '8'),
                               ('size', '9'))}),
        (_OIDC, {'oidc': {
            'issuerUrl': 'https://sso.example.org/r', 'clientId': 'c',
            'usernameClaim': 'sub', 'usernamePrefix': 'oidc:',
            'groupsClaim': 'groups', 'groupsPrefix': 'oidc:'}}),
        ({**_OIDC, 'oidc_username_claim': 'email',
          'oidc_username_prefix': '-', 'oidc_groups_claim': 'g',
          'oidc_groups_prefix': 'g:'}, {'oidc': {
              'issuerUrl': 'https://sso.example.org/r', 'clientId': 'c',
              'usernameClaim': 'email', 'usernamePrefix': '-',
              'groupsClaim': 'g', 'groupsPrefix': 'g:'}}),
        ({'octavia_provider': 'ovn'},
         {'apiServer.loadBalancerProvider': 'ovn', _BALANCER: {
             'lb-provider': 'ovn', 'lb-method': 'SOURCE_IP_PORT',
             'create-monitor': True}}),
        ({'octavia_provider': 'vendor'},
         {f'{_BALANCER}.lb-method': 'ROUND_ROBIN'}),
        ({'octavia_lb_algorithm': 'SOURCE_IP',
          'octavia_lb_healthcheck': 'false', 'octavia_lb_flavor': NETWORK,
          'octavia_lb_availability_zone': 'az1'}, {_BALANCER: {
              'lb-provider': 'amphora', 'lb-method': 'SOURCE_IP',
              'create-monitor': False, 'flavor-id': NETWORK,
              'availability-zone': 'az1'}}),
        ({'fixed_subnet_cidr': '10.1.0.0/16'},
         {NETWORKS: {'nodeCidr': '10.1.0.0/16'}}),
        ({'calico_ipv4pool': '10.100.0.0/16',
          'service_cluster_ip_range': '10.96.0.0/16',
          'dns_cluster_domain': 'k8s.example.org'}, {'kubeNetwork': {
              'pods': {'cidrBlocks': ['10.100.0.0/16']},
              'services': {'cidrBlocks': ['10.96.0.0/16']},
              'serviceDomain': 'k8s.example.org'}}),
        ({'cilium_ipv4pool': '10.100.0.0/16',
          'cilium_hubble_ui_enabled': 'true'},
         {'kubeNetwork': {'pods': {'cidrBlocks': ['10.100.0.0/16']}},
          'addons.cni.cilium.release.values.hubble.ui': {'enabled': True}},
         {'network_driver': 'cilium'}),
        ({'extra_network_name': 'storage'},
         {'group.machineNetworking.ports': _PORTS[:2],
          'controlPlane.machineNetworking': None}),
        ({'extra_network_names': f'storage,{NETWORK}',
          'extra_network_control_plane': 'true'},
         {f'{part}.machineNetworking.ports': _PORTS
          for part in ('group', 'controlPlane')}),
        # "Where the cluster nodes should be deployed" (magnum, user guide).
        ({'availability_zone': 'az1'},
         {'group.failureDomain': 'az1', 'controlPlane.failureDomains': [
             'az1'], 'controlPlane.omitFailureDomain': False}),
        ({'availability_zone': 'az1',
          'control_plane_availability_zones': 'a,b'},
         {'group.failureDomain': 'az1', 'controlPlane.failureDomains': [
             'a', 'b'], 'controlPlane.omitFailureDomain': False}),
        ({'boot_volume_size': '20', 'boot_volume_type': 'ssd',
          'boot_volume_availability_zone': 'az2'},
         {f'{part}.machineRootVolume': {
             'diskSize': 20, 'volumeType': 'ssd', 'availabilityZone': 'az2'}
          for part in ('group', 'controlPlane')}),
        ({'etcd_blockdevice_size': '5', 'etcd_blockdevice_volume_type': 'ssd',
          'etcd_blockdevice_volume_az': 'az1'}, {'etcd.blockDevice': {
              'size': 5, 'type': 'Volume', 'volumeType': 'ssd',
              'availabilityZone': 'az1'}}),
        ({'etcd_blockdevice_size': '5', 'etcd_blockdevice_type': 'local'},
         {'etcd.blockDevice': {'size': 5, 'type': 'Local'}}),
        ({'etcd_volume_size': '5', 'etcd_volume_type': 'ssd'},
         {'etcd.blockDevice': {
             'size': 5, 'type': 'Volume', 'volumeType': 'ssd'}}),
        ({'auto_healing_enabled': 'false'},
         {f'{part}.healthCheck': {'enabled': False}
          for part in ('group', 'controlPlane', 'nodeGroupDefaults')}),
        # B.4.20: no minimum is one node.
        ({'auto_scaling_enabled': 'true', 'max_node_count': '5'},
         {'group.autoscale': True, 'group.machineCountMin': 1,
          'group.machineCountMax': 5}),
        ({'cinder_csi_enabled': 'false'},
         {'addons.openstack.csiCinder': {'enabled': False}}),
        ({'csi_cinder_availability_zone': 'az1',
          'csi_cinder_reclaim_policy': 'Delete', 'csi_cinder_fstype': 'xfs',
          'csi_cinder_volume_binding_mode': 'Immediate',
          'csi_cinder_allow_volume_expansion': 'false'},
         {'addons.openstack.csiCinder.defaultStorageClass': {
             'availabilityZone': 'az1', 'reclaimPolicy': 'Delete',
             'fstype': 'xfs', 'volumeBindingMode': 'Immediate',
             'allowVolumeExpansion': False}}),
        ({'manila_csi_enabled': 'true', 'manila_csi_share_type': 'generic',
          'manila_csi_share_network_id': NETWORK},
         {_SHARES: {'enabled': True, 'defaultStorageClass': {
             'enabled': True, 'provisioner': 'nfs.manila.csi.openstack.org',
             'parameters': {'type': 'generic', 'shareNetworkID': NETWORK}}},
          # Manila's plugin calls it to mount. From a repository of
          # releases: a file of a branch may change, whatever its version.
          'addons.custom.csi-driver-nfs.spec.chart.repo':
              'https://kubernetes-csi.github.io/csi-driver-nfs'}),
        ({'manila_csi_enabled': 'true', 'manila_csi_share_type': 'generic',
          'manila_csi_share_protocol': 'CEPHFS'},
         {f'{_SHARES}.defaultStorageClass.provisioner':
             'cephfs.manila.csi.openstack.org', 'addons.custom': None,
          'addons.csi': {'cephfs': {'enabled': True}}}),
        ({'monitoring_enabled': 'true', 'metrics_server_enabled': 'false'},
         {'addons.monitoring': {'enabled': True},
          'addons.metricsServer': {'enabled': False}}),
        ({'ingress_controller': 'nginx'}, {'addons.ingress': {
            'enabled': True, 'nginx': {'enabled': True},
            'traefik': {'enabled': False}}}),
        ({'ingress_controller': 'traefik'}, {'addons.ingress': {
            'enabled': True, 'nginx': {'enabled': False},
            'traefik': {'enabled': True}}}),
        ({'kube_dashboard_enabled': 'true'},
         {'addons.headlamp': {'enabled': True}}),
        ({'keystone_auth_enabled': 'true'},
         {'authWebhook': 'k8s-keystone-auth',
          'addons.openstack.k8sKeystoneAuth': {'enabled': True, 'values': {
              'openstackAuthUrl': 'http://k', 'projectId': 'p1'}}},
         {'auth_url': 'http://k'}))

    def test_each_has_its_effect(self):
        for given, expected, *changes in self.EFFECTS:
            with self.subTest(given):
                result = made(given, NEWEST, **dict(*changes))
                self.assertEqual(expected, at(result, *expected))

    def test_none_is_without_effect(self):
        effective = {name for given, *_ in self.EFFECTS for name in given}
        self.assertEqual(set(labels.REGISTRY), effective | self.ELSEWHERE)
        for given, _expected, *changes in self.EFFECTS:
            found = made(given, NEWEST, **dict(*changes))
            for name in given:
                others = {key: text for key, text in given.items()
                          if key != name}
                with self.subTest(name):
                    try:
                        without = made(others, NEWEST, **dict(*changes))
                    except spec_model.InvalidSpec:
                        # The others need it.
                        continue
                    self.assertNotEqual(without, found)

    def test_audit_log_is_mounted(self):
        told = made({'audit_log_enabled': 'true'}, proxies=spec_model.Proxies(
            http='http://proxy.example.org:3128'))['controlPlane'][
                'kubeadmConfigSpec']
        server = told['clusterConfiguration']['apiServer']

        # Its policy, beside the file of the proxies.
        self.assertEqual(2, len(told['files']))
        self.assertEqual(
            [told['files'][0]['path'],
             server['extraArgs']['audit-log-path'].rpartition('/')[0]],
            [volume['mountPath'] for volume in server['extraVolumes']])


class TestCharts(testtools.TestCase):

    def test_keys_are_those_of_the_chart(self):
        """B.4.9: a key that the chart does not know is ignored."""
        cidrs = {'api_master_lb_allowed_cidrs': '192.0.2.0/24'}
        dashboard = {'kube_dashboard_enabled': 'true'}
        on, own = {'enabled': True}, ['192.0.2.0/24']
        for version, given, expected in (
                *((version, cidrs, {'apiServer.allowedCidrs': older,
                                    'apiServer.allowedCIDRs': present})
                  for version, older, present in (
                      ('0.11.0', own, None), ('0.23.0', own, None),
                      ('0.24.0', None, own), ('0.27.0', None, own),
                      (None, own, own))),
                ('0.19.2', dashboard, {'addons.kubernetesDashboard': on}),
                ('0.27.1', dashboard, {'addons.headlamp': on}),
                (None, {}, {'addons.reloader': on}),
                ('0.17.0', {}, {'addons.reloader': on}),
                ('0.16.1', {}, {'addons.reloader': None}),
                ('0.27.0', {}, {'controlPlane.certificatesExpiryDays': None}),
                ('0.27.1', {}, {'controlPlane.certificatesExpiryDays': 90})):
            with self.subTest(version, given=given):
                self.assertEqual(expected, at(made(given, charts.features(
                    'openstack-cluster', version)), *expected))

    def test_nameservers_are_where_the_chart_has_them(self):
        dns = ('192.0.2.53',)
        for chart, path in ((CHART, f'{NETWORKS}.dnsNameservers'),
                            (SANDBOX, 'clusterNetworking.dnsNameservers')):
            self.assertEqual({path: ['192.0.2.53']}, at(made(
                dns_nameservers=dns, chart=chart), path))

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

    def test_what_a_chart_does_not_take_is_no_silent_label(self):
        old = charts.features('openstack-cluster', '0.22.0')
        for chart, given, *words in (
                (CHART, {'certificates_expiry_days': '30'},
                 'certificates_expiry_days'),
                (CHART, {'kube_dashboard_enabled': 'true'},
                 'kube_dashboard_enabled'),
                (SANDBOX, {'kube_dashboard_enabled': 'true'},
                 'kube_dashboard_enabled'),
                (old, {'ingress_controller': 'traefik'}, 'only nginx'),
                (SANDBOX, {'audit_log_enabled': 'true', **_OIDC},
                 'audit_log_enabled', 'oidc_issuer_url')):
            with self.subTest(given):
                error = self.assertRaises(
                    spec_model.InvalidSpec, made, given, chart)
                self.assertEqual(len(words), len(error.problems))
                for word, problem in zip(words, error.problems):
                    self.assertIn(word, problem)

        made({'certificates_expiry_days': '0'})
        # One that is only a default is left out.
        read = labels.parse({}, labels.Policy(
            {'kube_dashboard_enabled': 'true'}))
        self.assertNotIn('headlamp', values.values(SPEC, read, CHART)[
            'addons'])

    def test_versions_that_cannot_be_used_are_refused(self):
        # B.4.10: the default chart made objects that nobody serves.
        for version, word in (('0.10.1', '0.11.0'), ('latest', 'latest')):
            error = self.assertRaises(
                spec_model.InvalidSpec, charts.features, 'openstack-cluster',
                version)
            self.assertIn(word, str(error))

    def test_charts_whose_control_planes_might_not_be_ready(self):
        for version, word in (('0.14.1', '0.16.1 is the oldest'),
                              ('0.16.0', 'can only be kept'),
                              ('0.16.1', ''), (None, '')):
            found = charts.unfit(
                charts.features('openstack-cluster', version))
            self.assertEqual(bool(word), bool(found), version)
            self.assertIn(word, ''.join(found))

    def test_a_chart_is_known_by_the_end_of_its_name(self):
        self.assertEqual(SANDBOX, charts.features(
            '/a/charts/sandbox-cluster/'))
        self.assertEqual(CHART, charts.features(
            'oci://example.org/openstack-cluster', '0.27.0'))


class TestNodeGroups(testtools.TestCase):

    def group(self, given=None, **changes):
        result, = made(given, group=changes)['nodeGroups']
        return result

    def test_what_rows_ask_for(self):
        labels_of = {names.NODE_GROUP_UUID: GROUP.uuid,
                     names.NODE_GROUP_ROLE: 'worker',
                     names.NODE_GROUP_NAME: 'default-worker'}
        for changes, expected in (
                ({'count': 0, 'flavor': 'g1.large'},
                 {'machineCount': 0, 'machineFlavor': 'g1.large'}),
                # Nobody can give its nodes another group's names.
                ({'node_labels': {'a': 'b', names.NODE_GROUP_UUID: 'x'}},
                 {'nodeLabels': {'a': 'b', **labels_of}}),
                ({'name': 'A b', 'role': 'gpu'},
                 {'nodeLabels': {names.NODE_GROUP_UUID: GROUP.uuid,
                                 names.NODE_GROUP_ROLE: 'gpu'}}),
                # Its own image brings its version.
                ({'image': spec_model.Image('other', 'v1.35.0', 'x')},
                 {'machineImageId': 'other', 'kubernetesVersion': '1.35.0'}),
                ({'node_taints': (
                    {'key': 'a', 'value': 'b', 'effect': 'NoSchedule'},
                    {'key': 'c', 'value': None, 'effect': 'NoExecute'})},
                 {'kubeadmConfigSpec': {'joinConfiguration': {
                     'nodeRegistration': {'taints': [
                         {'key': 'a', 'value': 'b', 'effect': 'NoSchedule'},
                         {'key': 'c', 'effect': 'NoExecute'}]}}}})):
            with self.subTest(changes):
                found = self.group(**changes)
                self.assertEqual(expected, {
                    key: found.get(key) for key in expected})

    def test_its_labels_may_differ_from_the_clusters(self):
        result = made({'boot_volume_size': '20'}, group={
            'labels': {'boot_volume_size': '50', 'availability_zone': 'az2'}})
        group, = result['nodeGroups']

        self.assertEqual({'diskSize': 50}, group['machineRootVolume'])
        self.assertEqual({'diskSize': 20},
                         result['controlPlane']['machineRootVolume'])
        self.assertEqual('az2', group['failureDomain'])


class TestVolumes(testtools.TestCase):

    def classes(self, given=None, **volumes):
        """Storage classes, the default one first."""
        csi = made(given, volumes=spec_model.Volumes(**volumes))['addons'][
            'openstack']['csiCinder']
        self.assertTrue(csi['enabled'])
        return [csi['defaultStorageClass'],
                *csi.get('additionalStorageClasses', ())]

    def test_every_volume_type_has_a_class(self):
        topologies = ({'matchLabelExpressions': []},)
        first, other = self.classes(
            {'csi_cinder_reclaim_policy': 'Delete'}, types=('ssd', 'hdd'),
            default_type='hdd', allowed_topologies=topologies)

        self.assertEqual(('hdd', True), (first['name'], first['enabled']))
        self.assertEqual('ssd', other['volumeType'])
        for found in (first, other):
            self.assertEqual('Delete', found['reclaimPolicy'])
            self.assertEqual(list(topologies), found['allowedTopologies'])

    def test_class_of_a_name_that_kubernetes_does_not_take(self):
        # printf 'A_b' | sha256sum
        for name, expected in (
                ('fast', 'fast'), ('A_b', 'a-b-08eb65ad'),
                ('X' * 60, f'{"x" * 50}-'), ('__', 'type-')):
            found = self.classes(types=(name,))[0]['name']
            self.assertEqual(expected, found[:len(expected)])
            self.assertEqual(
                len(expected) + 8 * expected.endswith('-'), len(found))

    def test_a_default_that_cinder_does_not_have_is_refused(self):
        error = self.assertRaises(spec_model.InvalidSpec, self.classes,
                                  types=('ssd',), default_type='gone')

        self.assertIn("'gone'", str(error))


class TestProxies(testtools.TestCase):

    HIDDEN = spec_model.Proxies(http='http://u:p%40@proxy:3128')

    def test_they_are_for_containerd_on_all_nodes(self):
        result = made(
            {'service_cluster_ip_range': '10.96.0.0/16',
             'calico_ipv4pool': '10.100.0.0/16',
             'dns_cluster_domain': 'k8s.example.org'},
            proxies=spec_model.Proxies(
                http='http://proxy:3128', no='.example.org'))
        plane = result['controlPlane']['kubeadmConfigSpec']
        file, = plane['files']

        self.assertEqual(plane, result['nodeGroupDefaults'][
            'kubeadmConfigSpec'])
        self.assertEqual('0600', file['permissions'])
        self.assertIn('"HTTP_PROXY=http://proxy:3128"', file['content'])
        # The cluster's own networks are not asked by way of a proxy.
        self.assertIn('NO_PROXY=.example.org,localhost', file['content'])
        self.assertIn('.k8s.example.org,10.100.0.0/16,10.96.0.0/16,'
                      '10.0.0.0/24', file['content'])
        self.assertNotIn('172.16', file['content'])

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
        # Another name would replace all nodes.
        name = f'{names.cluster(UUID)}-proxies-dfcb5088e1'

        self.assertEqual(name, self.file().secret)
        for other in ({'http': 'http://u:other@proxy:3128'}, {'no': 'a'},
                      {'https': self.HIDDEN.http}):
            self.assertNotEqual(name, self.file(**other).secret)

    def test_password_for_https_alone(self):
        self.assertIsNotNone(self.file(
            http='http://proxy:3128', https=self.HIDDEN.http).secret)

    def test_no_proxy_alone_is_nothing(self):
        self.assertIsNone(self.file(http=None, no='a'))


class TestOverlays(testtools.TestCase):

    def test_an_overlay_wins_and_the_last_most(self):
        first = {'addons': {'nvidiaGPUOperator': {'enabled': False}},
                 'registryMirrors': {'docker.io': ['a', 'b']}}
        result = made(overlays=[('gpu', first), (
            'mirror', {'registryMirrors': {'docker.io': ['c']}})])

        self.assertEqual({'docker.io': ['c']}, result['registryMirrors'])
        self.assertFalse(result['addons']['nvidiaGPUOperator']['enabled'])
        self.assertEqual('calico', result['addons']['cni']['type'])
        self.assertEqual(['a', 'b'], first['registryMirrors']['docker.io'])

    PROXIES = spec_model.Proxies(http='http://proxy:3128')

    def kubeadm(self, *overlays, part='controlPlane'):
        return made(proxies=self.PROXIES, overlays=[
            (f'o{n}', {part: {'kubeadmConfigSpec': overlay}})
            for n, overlay in enumerate(overlays)])[part]['kubeadmConfigSpec']

    def test_files_and_commands_of_an_overlay_come_beside_the_drivers(self):
        # Nodes could not pull images, for want of the proxy's file.
        audit = {'path': '/etc/kubernetes/audit.yaml', 'content': 'rules'}
        for part in ('controlPlane', 'nodeGroupDefaults'):
            alone = self.kubeadm(part=part)
            commands = alone['preKubeadmCommands']
            found = self.kubeadm(
                # The last one may be to restart containerd again.
                {'files': [audit], 'preKubeadmCommands': [commands[-1]]},
                {'files': [{'path': '/a'}], 'postKubeadmCommands': ['false']},
                part=part)

            self.assertEqual([*alone['files'], audit, {'path': '/a'}],
                             found['files'])
            self.assertEqual([*commands, commands[-1]],
                             found['preKubeadmCommands'])
            self.assertEqual(['false'], found['postKubeadmCommands'])

    def test_a_file_is_known_by_its_path(self):
        path, = [file['path'] for file in self.kubeadm()['files']]
        reference = {'contentFrom': {'secret': {'name': 'a', 'key': 'b'}}}
        # Cluster API refuses a file with content and a reference.
        for changes, expected, gone in (
                ([{'owner': 'a:b'}],
                 {'owner': 'a:b', 'permissions': '0600'}, None),
                ([reference], reference, 'content'),
                ([reference, {'content': 'c'}], {'content': 'c'},
                 'contentFrom')):
            found, = self.kubeadm(*(
                {'files': [{'path': path, **change}]} for change in changes)
            )['files']
            self.assertEqual(expected, {
                key: found[key] for key in expected})
            self.assertNotIn(gone, found)

    def test_what_the_driver_needs_cannot_be_taken_away(self):
        plane = 'controlPlane.kubeadmConfigSpec'
        for overlay, word in (
                *(({'controlPlane': {'kubeadmConfigSpec': told}}, plane)
                  for told in ({'files': None}, {'files': {'path': '/a'}},
                               None, {'files': ['/a']},
                               {'files': [{'content': 'a'}]})),
                *(({key: None}, f'{key} must be a mapping')
                  for key in ('controlPlane', 'clusterAnnotations',
                              'addons')),
                ({'nodeGroups': []}, 'nodeGroups'),
                ({'controlPlane': {'machineCount': 5}}, 'machineCount'),
                ({'clusterAnnotations': {names.CLUSTER_UUID: 'x'}},
                 names.CLUSTER_UUID)):
            with self.subTest(overlay):
                e = self.assertRaises(
                    errors.UsageError, made, proxies=self.PROXIES,
                    overlays=[('bad', overlay)])
                self.assertIn('"bad"', str(e))
                self.assertIn(word, str(e))

    def test_lists_that_users_filled(self):
        given = {'api_master_lb_allowed_cidrs': '192.0.2.0/24',
                 'extra_network_names': 'storage',
                 'extra_network_control_plane': 'true',
                 'control_plane_availability_zones': 'a,b'}
        port = {'network': {'name': 'backup'}}
        found = made(given, volumes=spec_model.Volumes(types=('a', 'b')),
                     overlays=[('all', {
                         'apiServer': {'allowedCIDRs': ['203.0.113.0/24']},
                         'controlPlane': {
                             'failureDomains': ['c'],
                             'machineNetworking': {'ports': [{}, port]}},
                         'addons': {'openstack': {'csiCinder': {
                             'additionalStorageClasses': [
                                 {'name': 'c'},
                                 {'name': 'b', 'fstype': 'xfs'}]}}}})])

        self.assertEqual(['192.0.2.0/24', '203.0.113.0/24'],
                         found['apiServer']['allowedCIDRs'])
        self.assertEqual(
            [*_PORTS[:2], port],
            found['controlPlane']['machineNetworking']['ports'])
        self.assertEqual(
            [('b', 'b', 'xfs'), ('c', None, None)],
            [tuple(map(one.get, ('name', 'volumeType', 'fstype')))
             for one in found['addons']['openstack']['csiCinder'][
                 'additionalStorageClasses']])
        # Other lists are replaced.
        self.assertEqual(['c'], found['controlPlane']['failureDomains'])
