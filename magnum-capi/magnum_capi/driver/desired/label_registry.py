# SPDX-License-Identifier: Apache-2.0

"""Every label of this driver: its name, type, default, place and meaning.

A field of :class:`Labels` is a label. Labels have the names of
magnum-capi-helm and of Magnum's own drivers wherever the meaning is the same,
so that a template can move between drivers. Of the labels that Magnum 23
itself reads, the API uses boot_volume_size, min_node_count and
cinder_csi_enabled, and its Heat monitor auto_healing_enabled and
master_lb_floating_ip_enabled; they mean the same here. Magnum adds no label.
"""

import dataclasses
import enum
import types
import typing

from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import other_drivers

#: Arguments of kubelets that labels may set: they tune a node, but cannot make
#: it less secure or keep it from joining.
KUBELET_ARGUMENTS = (
    'container-log-max-files', 'container-log-max-size',
    'cpu-manager-policy', 'eviction-hard', 'eviction-soft',
    'eviction-soft-grace-period', 'image-gc-high-threshold',
    'image-gc-low-threshold', 'kube-reserved', 'max-pods',
    'memory-manager-policy', 'pod-max-pids', 'pods-per-core',
    'registry-burst', 'registry-qps', 'serialize-image-pulls',
    'system-reserved', 'topology-manager-policy')

_CLAIM = r'[A-Za-z0-9_.:/#-]+'
_CIPHERS = label_types.Texts(
    r'TLS_[A-Z0-9_]+', 'cipher suites by their names in Go')
_PREFIX = label_types.Text(
    _CLAIM, 'letters, digits and _.:/#-; "-" alone means no prefix')


class Scope(enum.Enum):
    """Where a label may be set to a value of its own."""

    TEMPLATE = 'template'
    CLUSTER = 'template, cluster'
    NODE_GROUP = 'template, cluster, node group'


def _label(kind: label_types.LabelType, default: typing.Any, text: str,
           scope: Scope = Scope.CLUSTER) -> typing.Any:
    return dataclasses.field(default=default, metadata={
        'kind': kind, 'text': text, 'scope': scope})


@dataclasses.dataclass(frozen=True)
class Labels:
    """Labels that were set, or their defaults.

    :param given: names of those that were set.
    """

    kube_tag: str | None = _label(
        label_types.KubernetesVersion(), None,
        'Kubernetes version. It comes from the image; a label with another '
        'version is refused.', Scope.TEMPLATE)
    capi_helm_chart_name: str | None = _label(
        label_types.Name(), None,
        'Helm chart, one that the operator allows.', Scope.TEMPLATE)
    capi_helm_chart_version: str | None = _label(
        label_types.ChartVersion(), None,
        'Version of the Helm chart, one that the operator allows.',
        Scope.TEMPLATE)
    capi_helm_values: tuple[str, ...] = _label(
        label_types.Names(), (),
        "Names of the operator's overlays of Helm values, merged over all "
        'other values in this order.', Scope.TEMPLATE)

    master_lb_floating_ip_enabled: bool | None = _label(
        label_types.Bool(), None,
        'Give the API server a floating IP. Without the label, '
        'floating_ip_enabled of the cluster decides.')
    api_master_lb_allowed_cidrs: tuple[str, ...] = _label(
        label_types.Cidrs(), (),
        'Networks that may reach the API server; all when not set. The '
        "operator's (management_cidrs) always may. Not with the provider "
        'ovn, which has no such list.')
    api_server_floating_ip: str | None = _label(
        label_types.Address(), None,
        'The floating IP that the API server gets; it must exist and be '
        'free. Without the label a new one is created.')
    api_server_cert_sans: tuple[str, ...] = _label(
        label_types.Hosts(), (),
        'Additional names in the certificate of the API server.')
    api_server_tls_cipher_suites: tuple[str, ...] = _label(
        _CIPHERS, (), 'Cipher suites that the API server offers for TLS 1.2; '
        'without the label, the defaults of Kubernetes.')
    kubelet_tls_cipher_suites: tuple[str, ...] = _label(
        _CIPHERS, (), 'The same for kubelets.')
    admission_control_list: tuple[str, ...] = _label(
        label_types.Texts(r'[A-Z][A-Za-z]+', 'admission plugins'), (),
        'Admission plugins to enable in addition to the default ones and '
        'NodeRestriction.')
    kubelet_extra_args: tuple[tuple[str, str], ...] = _label(
        label_types.Pairs(KUBELET_ARGUMENTS), (),
        'Arguments of kubelets on all nodes, such as max-pods=200.')
    certificates_expiry_days: int = _label(
        label_types.Int(0, 364), 90,
        'Replace nodes of the control plane this many days before their '
        'certificates, which are valid for a year, expire; at least 7, or 0 '
        'for never. Charts before 0.27.1 do not support this.')
    container_infra_prefix: str | None = _label(
        label_types.Text(
            r'[a-z0-9.-]+(:[0-9]{1,5})?(/[a-z0-9._-]+)*/?',
            'a registry with a path, like registry.example.org/kubernetes'),
        None, 'Registry for images of the control plane instead of '
        'registry.k8s.io; CoreDNS is expected there as coredns. For all other '
        'images the operator can configure mirrors (registries_file).')
    audit_log_enabled: bool = _label(
        label_types.Bool(), False,
        'Have the API server log who did what (level Metadata) to '
        '/var/log/kubernetes/audit/audit.log on nodes of the control plane.')
    audit_log_max_age: int = _label(
        label_types.Int(1, 3650), 30, 'Days for which audit logs are kept.')
    audit_log_max_backup: int = _label(
        label_types.Int(1, 1000), 10, 'Number of audit logs that are kept.')
    audit_log_max_size: int = _label(
        label_types.Int(1, 10000), 100, 'Size of an audit log in MiB.')

    oidc_issuer_url: str | None = _label(
        label_types.Text(r'https://[A-Za-z0-9._~:/-]+', 'an https URL'),
        None, 'Let users of this OpenID provider log in to the Kubernetes '
        'API. Requires oidc_client_id.')
    oidc_client_id: str | None = _label(
        label_types.Text(r'[A-Za-z0-9_.:/@-]+',
                         'letters, digits and _.:/@-'),
        None, 'Client that the tokens are issued for.')
    oidc_username_claim: str = _label(
        label_types.Text(_CLAIM, 'letters, digits and _.:/#-'), 'sub',
        'Claim with the name of a user.')
    oidc_username_prefix: str = _label(
        _PREFIX, 'oidc:', 'Prefix of user names.')
    oidc_groups_claim: str = _label(
        label_types.Text(_CLAIM, 'letters, digits and _.:/#-'), 'groups',
        'Claim with the groups of a user.')
    oidc_groups_prefix: str = _label(
        _PREFIX, 'oidc:', 'Prefix of group names.')

    octavia_provider: str = _label(
        label_types.Name(), 'amphora', 'Provider of load balancers.')
    octavia_lb_algorithm: str | None = _label(
        label_types.Enum(('ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP',
                          'SOURCE_IP_PORT')), None,
        'Algorithm of load balancers of services. Without the label, '
        'SOURCE_IP_PORT with the provider ovn (its only one), else '
        'ROUND_ROBIN.')
    octavia_lb_healthcheck: bool = _label(
        label_types.Bool(), True,
        'Give load balancers of services health monitors.')
    octavia_lb_flavor: str | None = _label(
        label_types.Uuid(), None,
        "Octavia flavor of load balancers of services.")
    octavia_lb_availability_zone: str | None = _label(
        label_types.Name(), None,
        'Octavia availability zone of load balancers of services.')

    fixed_subnet_cidr: str = _label(
        label_types.Cidr(), '10.0.0.0/24',
        'Network of the nodes, when the cluster names no fixed_subnet.')
    calico_ipv4pool: str | None = _label(
        label_types.Cidr(), None,
        'Network of the pods with the network driver calico; without the '
        'label, 172.16.0.0/13.')
    cilium_ipv4pool: str | None = _label(
        label_types.Cidr(), None, 'The same with cilium.')
    service_cluster_ip_range: str | None = _label(
        label_types.Cidr(), None,
        'Network of Services; without the label, 172.24.0.0/13.')
    dns_cluster_domain: str | None = _label(
        label_types.Text(label_types.DOMAIN, 'a domain like cluster.local'),
        None, 'Domain of Services; without the label, cluster.local.')
    cilium_hubble_ui_enabled: bool = _label(
        label_types.Bool(), False,
        'Install the user interface of Hubble, with the network driver '
        'cilium.')
    extra_network_names: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Additional networks that nodes are attached to.', Scope.NODE_GROUP)
    extra_network_name: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Older name of extra_network_names.', Scope.NODE_GROUP)
    extra_network_control_plane: bool = _label(
        label_types.Bool(), False,
        'Attach the control plane to extra_network_names, too.')
    availability_zone: str | None = _label(
        label_types.Name(), None,
        'Availability zone of the nodes.', Scope.NODE_GROUP)
    control_plane_availability_zones: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Availability zones of the control plane; without the label, '
        'availability_zone.')

    server_group_policies: str | None = _label(
        label_types.Enum(('none', 'affinity', 'anti-affinity',
                          'soft-affinity', 'soft-anti-affinity')), None,
        "Policy of the nodes' Nova server group. Without the label, "
        'soft-anti-affinity for the control plane, and no server group for '
        'other nodes.', Scope.NODE_GROUP)

    boot_volume_size: int | None = _label(
        label_types.Size(), None,
        "Root volume from Cinder; 0 is the flavor's disk. Without the "
        'label, [cinder]default_boot_volume_size of magnum.conf.',
        Scope.NODE_GROUP)
    boot_volume_type: str | None = _label(
        label_types.Name(), None,
        'Volume type of the root volume. Without the label, '
        '[cinder]default_boot_volume_type.', Scope.NODE_GROUP)
    boot_volume_availability_zone: str | None = _label(
        label_types.Name(), None,
        'Availability zone of root volumes; without the label, that of the '
        'machine.', Scope.NODE_GROUP)
    etcd_blockdevice_size: int | None = _label(
        label_types.Size(), None,
        "Size of a separate volume for etcd; 0 is the node's disk.")
    etcd_blockdevice_type: str = _label(
        label_types.Enum(('volume', 'local')), 'volume',
        "Kind of etcd's volume: from Cinder, or the flavor's ephemeral "
        'disk.')
    etcd_blockdevice_volume_type: str | None = _label(
        label_types.Name(), None, "Volume type of etcd's volume.")
    etcd_blockdevice_volume_az: str | None = _label(
        label_types.Name(), None, "Availability zone of etcd's volume.")
    etcd_volume_size: int | None = _label(
        label_types.Size(), None, 'Older name of etcd_blockdevice_size.')
    etcd_volume_type: str | None = _label(
        label_types.Name(), None,
        'Older name of etcd_blockdevice_volume_type.')

    auto_healing_enabled: bool = _label(
        label_types.Bool(), True,
        'Replace nodes that stay unhealthy.', Scope.NODE_GROUP)
    auto_scaling_enabled: bool = _label(
        label_types.Bool(), False,
        'Let the autoscaler change the size of node groups that have a '
        'max_node_count.', Scope.NODE_GROUP)
    min_node_count: int | None = _label(
        label_types.Int(), None,
        'Minimum number of nodes of default-worker; Magnum reads it, too. '
        'Other node groups have a field for it.')
    max_node_count: int | None = _label(
        label_types.Int(), None,
        'Maximum number of nodes of default-worker. Other node groups have a '
        'field for it.')

    cinder_csi_enabled: bool = _label(
        label_types.Bool(), True, 'Cinder volumes for pods.')
    csi_cinder_availability_zone: str = _label(
        label_types.Name(), 'nova', 'Availability zone of those volumes.')
    csi_cinder_reclaim_policy: str = _label(
        label_types.Enum(('Retain', 'Delete')), 'Retain',
        'What happens to a volume when its claim is deleted.')
    csi_cinder_volume_binding_mode: str = _label(
        label_types.Enum(('WaitForFirstConsumer', 'Immediate')),
        'WaitForFirstConsumer', 'When volumes are created.')
    csi_cinder_fstype: str = _label(
        label_types.Enum(('ext3', 'ext4', 'xfs')), 'ext4',
        'File system of those volumes.')
    csi_cinder_allow_volume_expansion: bool = _label(
        label_types.Bool(), True, 'Allow volumes to be expanded.')

    manila_csi_enabled: bool = _label(
        label_types.Bool(), False,
        'Manila shares for pods. Requires manila_csi_share_type.')
    manila_csi_share_type: str | None = _label(
        label_types.Name(), None, 'Share type of their storage class.')
    manila_csi_share_protocol: str = _label(
        label_types.Enum(('NFS', 'CEPHFS')), 'NFS',
        'Protocol of those shares; the driver that mounts them is also '
        'installed.')
    manila_csi_share_network_id: str | None = _label(
        label_types.Uuid(), None,
        'Share network of those shares, for share types whose back end '
        'creates share servers.')

    monitoring_enabled: bool = _label(
        label_types.Bool(), False, 'Prometheus, Grafana and Loki.')
    metrics_server_enabled: bool = _label(
        label_types.Bool(), True, 'Metrics server.')
    ingress_controller: str = _label(
        label_types.Enum(('none', 'nginx', 'traefik')), 'none',
        'Ingress controller; the chart must have it.')
    kube_dashboard_enabled: bool = _label(
        label_types.Bool(), False,
        "The chart's dashboard (Headlamp in later versions); refused if it "
        'has none.')
    keystone_auth_enabled: bool = _label(
        label_types.Bool(), False,
        'Let users of Keystone log in to the Kubernetes API.')

    given: frozenset[str] = frozenset()


REGISTRY = types.MappingProxyType({
    field.name: field for field in dataclasses.fields(Labels)
    if field.metadata})


def documentation() -> str:
    """The registry as list-tables of reStructuredText."""
    rows = [('Label', 'Accepted', 'Default', 'Set in', 'Meaning',
             'magnum-capi-helm 1.4', 'magnum-cluster-api 0.38')]
    rows += [(f'``{name}``', field.metadata['kind'].form, _shown(field),
              field.metadata['scope'].value, field.metadata['text'],
              *other_drivers.columns(name))
             for name, field in REGISTRY.items()]
    return (f'{_table(rows)}\nThe last columns show which other driver has '
            'the label, and what is different there. Labels of '
            'magnum-cluster-api that are refused:\n\n' + _table([
                ('Label', 'Instead'), *other_drivers.rows()]))


def _table(rows: typing.Iterable[tuple[str, ...]]) -> str:
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in rows:
        lines += [f'   {"* -" if n == 0 else "  -"} {cell}'.rstrip()
                  for n, cell in enumerate(row)]
    return '\n'.join(lines) + '\n'


def _shown(field: dataclasses.Field[typing.Any]) -> str:
    value = field.default
    if value is None or value == ():
        return '(none)'
    return str(value).lower() if isinstance(value, bool) else str(value)
