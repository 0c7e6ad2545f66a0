# SPDX-License-Identifier: Apache-2.0

"""No option of the other drivers is left without a word."""

import docutils.core
import testtools

from magnum_capi.driver.desired import labels
from magnum_capi.driver import options
from magnum_capi.driver import other_options

#: As magnum_capi_helm.conf of magnum-capi-helm 1.4.0 registers them, with the
#: deprecated names that it still reads.
HELM = {
    'capi_helm': """
        api_resources app_cred_interface_type csi_cinder_allowed_topologies
        csi_cinder_default_volume_type default_helm_chart_version
        helm_chart_name helm_chart_repo k8s_control_plane_resource_conditions
        kubeconfig_file minimum_flavor_ram minimum_flavor_vcpus
        namespace_prefix csi_cinder_allow_volume_expansion
        csi_cinder_availability_zone csi_cinder_fstype
        csi_cinder_reclaim_policy csi_cinder_volume_binding_mode
        etcd_volume_size etcd_volume_type""",
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


class OthersTest(testtools.TestCase):

    def test_every_option_of_theirs_and_no_other(self):
        theirs = {f'[{group}]{name}' for group, names in (
            HELM | CLUSTER_API).items() for name in names.split()}
        self.assertEqual(theirs, set(other_options.OTHERS))

    def test_what_takes_their_place_is_there(self):
        own = {option.name for option in options.OPTIONS}
        for name, instead in other_options.OTHERS.items():
            self.assertTrue(instead.option or instead.text, name)
            if instead.option:
                self.assertIn(instead.option, own, name)
            if instead.label:
                self.assertIn(instead.label, labels.REGISTRY, name)

    def test_default_labels_are_labels_that_clusters_have(self):
        """One that a template alone may set is none of default_labels."""
        for name, instead in other_options.OTHERS.items():
            if instead.label:
                self.assertNotEqual(
                    labels.Scope.TEMPLATE,
                    labels.REGISTRY[instead.label].metadata['scope'], name)

    def test_page(self):
        tree = docutils.core.publish_doctree(
            other_options.documentation(), settings_overrides={
                'halt_level': 2, 'report_level': 5})
        rows = [row for row in tree.findall() if row.tagname == 'row']
        self.assertEqual(len(other_options.OTHERS) + 1, len(rows))
        for word in ('chart_repository', 'default_labels = octavia_provider',
                     'none: there is no proxy'):
            self.assertIn(word, tree.astext())
