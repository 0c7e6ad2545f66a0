# SPDX-License-Identifier: Apache-2.0

"""Labels of magnum-capi-helm and magnum-cluster-api, and their equivalents.

Read in magnum-capi-helm 1.4.0 (conf.py, group capi_helm_cluster_labels) and
magnum-cluster-api 0.38.2 (resources.py, utils.py, and the labels that its
compiled part reads).
"""

import types
import typing

_SAME = 'same'

_CHART = ('it is part of the chart, which determines its version; choose '
          'another chart')
_DOMAIN = ('no chart passes on hints to the scheduler of Nova; '
           'control_plane_availability_zones and availability_zone spread '
           'nodes over zones, server_group_policies over hosts')

#: Labels that magnum-capi-helm reads, and what is different there.
HELM = types.MappingProxyType({
    'api_master_lb_allowed_cidrs': _SAME,
    'auto_healing_enabled': _SAME,
    'auto_scaling_enabled': 'counts for groups without a max_node_count, too',
    'boot_volume_size': _SAME,
    'boot_volume_type': _SAME,
    'capi_helm_chart_version': 'any version',
    'csi_cinder_allow_volume_expansion': _SAME,
    'csi_cinder_availability_zone': _SAME,
    'csi_cinder_fstype': _SAME,
    'csi_cinder_reclaim_policy': _SAME,
    'csi_cinder_volume_binding_mode': _SAME,
    'etcd_blockdevice_size': _SAME,
    'etcd_blockdevice_type': _SAME,
    'etcd_blockdevice_volume_az': _SAME,
    'etcd_blockdevice_volume_type': _SAME,
    'etcd_volume_size': _SAME,
    'etcd_volume_type': _SAME,
    'extra_network_name': _SAME,
    'extra_network_names': _SAME,
    'fixed_subnet_cidr': _SAME,
    'keystone_auth_enabled': _SAME,
    'kube_dashboard_enabled': 'default true',
    'master_lb_floating_ip_enabled': 'default true',
    'max_node_count': _SAME,
    'min_node_count': _SAME,
    'monitoring_enabled': _SAME,
    'octavia_lb_algorithm': _SAME,
    'octavia_lb_healthcheck': _SAME,
    'octavia_provider': _SAME,
})

#: The same for magnum-cluster-api.
CLUSTER_API = types.MappingProxyType({
    'admission_control_list': _SAME,
    'api_server_cert_sans': _SAME,
    'api_server_floating_ip': _SAME,
    'api_server_tls_cipher_suites': 'default: six suites of ECDHE',
    'audit_log_enabled': _SAME,
    'audit_log_max_age': _SAME,
    'audit_log_max_backup': _SAME,
    'audit_log_max_size': _SAME,
    'auto_healing_enabled': _SAME,
    'auto_scaling_enabled': _SAME,
    'availability_zone': _SAME,
    'boot_volume_availability_zone': 'default availability_zone',
    'boot_volume_size': _SAME,
    'boot_volume_type': _SAME,
    'calico_ipv4pool': 'default 10.100.0.0/16',
    'cilium_hubble_ui_enabled': _SAME,
    'cilium_ipv4pool': 'default 10.100.0.0/16',
    'cinder_csi_enabled': _SAME,
    'container_infra_prefix': 'also of all addons',
    'control_plane_availability_zones': _SAME,
    'dns_cluster_domain': _SAME,
    'etcd_volume_size': _SAME,
    'etcd_volume_type': _SAME,
    'fixed_subnet_cidr': _SAME,
    'keystone_auth_enabled': 'default true',
    'kube_tag': 'determines the version, default v1.25.3',
    'kubelet_tls_cipher_suites': 'default: three suites of ECDHE',
    'manila_csi_enabled': 'a storage class for each share type',
    'manila_csi_share_network_id': _SAME,
    'master_lb_floating_ip_enabled': 'default true',
    'max_node_count': 'default min_node_count + 1',
    'octavia_lb_algorithm': _SAME,
    'octavia_lb_healthcheck': _SAME,
    'octavia_provider': 'default amphorav2',
    'oidc_client_id': _SAME,
    'oidc_groups_claim': 'default none',
    'oidc_groups_prefix': 'default none',
    'oidc_issuer_url': _SAME,
    'oidc_username_claim': _SAME,
    'oidc_username_prefix': 'default -',
    'server_group_policies': 'default also for other nodes',
    'service_cluster_ip_range': 'default 10.254.0.0/16',
})

#: Labels of magnum-cluster-api that are refused, and what to do instead.
REFUSED = types.MappingProxyType({
    **dict.fromkeys((
        'calico_tag', 'cilium_tag', 'cinder_csi_plugin_tag',
        'cloud_provider_tag', 'csi_attacher_tag', 'csi_liveness_probe_tag',
        'csi_node_driver_registrar_tag', 'csi_provisioner_tag',
        'csi_resizer_tag', 'csi_snapshotter_tag', 'manila_csi_plugin_tag'),
        _CHART),
    'docker_volume_type': 'nodes have no volume for container images; '
                          'boot_volume_size and boot_volume_type make the '
                          'root volume larger',
    'different_failure_domain': _DOMAIN,
})


def columns(label: str) -> tuple[str, str]:
    """Table cells of a label, for magnum-capi-helm and magnum-cluster-api."""
    return HELM.get(label, ''), CLUSTER_API.get(label, '')


def refusal(label: str) -> str | None:
    """Why a label of another driver is refused; None: neither has it."""
    why = REFUSED.get(label)
    return why and (f'label {label}: magnum-cluster-api has it, this driver '
                    f'does not; {why}')


def rows() -> typing.Iterator[tuple[str, str]]:
    """Labels that are refused, and what to do instead."""
    for name, why in sorted(REFUSED.items()):
        yield f'``{name}``', f'{why[0].upper()}{why[1:]}.'
