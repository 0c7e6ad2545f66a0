# SPDX-License-Identifier: Apache-2.0

"""A table says what replaces each option of another driver."""

import csv
import re

import testtools

from magnum_capi.driver import config
from magnum_capi.driver.desired import labels
from tests.unit.docs import pages

#: As magnum_capi_helm.conf of magnum-capi-helm 1.4.0 registers them, without
#: deprecated names, which are those of labels.
HELM = {
    'capi_helm': """
        api_resources app_cred_interface_type csi_cinder_allowed_topologies
        csi_cinder_default_volume_type default_helm_chart_version
        helm_chart_name helm_chart_repo k8s_control_plane_resource_conditions
        kubeconfig_file minimum_flavor_ram minimum_flavor_vcpus
        namespace_prefix""",
    'capi_helm_cluster_labels': """
        api_master_lb_allowed_cidrs auto_healing_enabled auto_scaling_enabled
        boot_volume_size boot_volume_type capi_helm_chart_version
        csi_cinder_allow_volume_expansion csi_cinder_availability_zone
        csi_cinder_fstype csi_cinder_reclaim_policy
        csi_cinder_volume_binding_mode etcd_blockdevice_size
        etcd_blockdevice_type etcd_blockdevice_volume_az
        etcd_blockdevice_volume_type etcd_volume_size etcd_volume_type
        extra_network_name extra_network_names fixed_subnet_cidr
        keystone_auth_enabled kube_dashboard_enabled
        master_lb_floating_ip_enabled max_node_count min_node_count
        monitoring_enabled octavia_lb_algorithm octavia_lb_healthcheck
        octavia_provider"""}

#: As magnum_cluster_api.conf of magnum-cluster-api 0.38.2 registers them.
CLUSTER_API = {
    'auto_scaling': 'image_repository',
    'capi_client': 'ca_file cert_file endpoint_type insecure key_file',
    'manila_client': """api_version ca_file cert_file endpoint_type insecure
        key_file region_name""",
    'proxy': 'haproxy_pid_path'}


class RivalOptionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        table = pages.SOURCE / 'reference' / 'rival-options.csv'
        with table.open() as file:
            self.rows = [[re.findall('``(.+?)``', cell) for cell in row]
                         for row in list(csv.reader(file))[1:]]

    def test_every_option_of_theirs_and_no_other(self):
        theirs = {f'[{group}]{name}' for group, names in (
            HELM | CLUSTER_API).items() for name in names.split()
            if group != 'capi_helm_cluster_labels'}
        self.assertEqual(theirs, {
            f'{group}{name}' for (group, *names), _instead in self.rows
            for name in names})

    def test_what_replaces_them_exists(self):
        own = {option.name for option in config.OPTIONS}
        replaced = {instead[0] for _theirs, instead in self.rows if instead}
        # Two have an option of Magnum, and a label, instead.
        self.assertEqual({'[drivers]openstack_ca_file',
                          'manila_csi_share_type'}, replaced - own)

    def test_labels_of_clusters_can_have_defaults(self):
        for name in HELM['capi_helm_cluster_labels'].split():
            if name != 'capi_helm_chart_version':
                self.assertNotEqual(
                    labels.Scope.TEMPLATE,
                    labels.REGISTRY[name].metadata['scope'], name)
