# SPDX-License-Identifier: Apache-2.0

"""The labels of this driver: one table, read strictly.

A field of :class:`Labels` is a label: its name, type, default, scope and
meaning, and whether magnum-capi-helm and magnum-cluster-api have it. Labels
have the names of those and of Magnum's own drivers wherever the meaning is the
same, so that a template can move between drivers. Of the labels that Magnum 23
itself reads, the API uses boot_volume_size, min_node_count and
cinder_csi_enabled, and its Heat monitor auto_healing_enabled and
master_lb_floating_ip_enabled; they mean the same here. Magnum adds no label.

The other drivers were read in magnum-capi-helm 1.4.0 (conf.py, group
capi_helm_cluster_labels) and magnum-cluster-api 0.38.2 (resources.py,
utils.py, and the labels that its compiled part reads).
"""

import dataclasses
import difflib
import enum
import types
import typing

from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import spec as spec_model

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


#: Another driver has the label, with the same meaning.
SAME = 'same'


def _label(kind: label_types.LabelType, default: typing.Any, text: str,
           scope: Scope = Scope.CLUSTER, *, helm: str | None = None,
           capi: str | None = None) -> typing.Any:
    """A label.

    :param helm: what is different in magnum-capi-helm, None: it has no such
        label.
    :param capi: the same for magnum-cluster-api.
    """
    return dataclasses.field(default=default, metadata={
        'kind': kind, 'text': text, 'scope': scope, 'helm': helm,
        'capi': capi})


@dataclasses.dataclass(frozen=True)
class Labels:
    """Labels that were set, or their defaults.

    :param explicit: names of those that were set.
    """

    kube_tag: str | None = _label(
        label_types.KubernetesVersion(), None,
        'Kubernetes version. It comes from the image; a label with another '
        'version is refused.', Scope.TEMPLATE,
        capi='determines the version, default v1.25.3')
    capi_helm_chart_version: str | None = _label(
        label_types.ChartVersion(), None,
        'Version of the Helm chart, one that the operator allows.',
        Scope.TEMPLATE, helm='any version')
    capi_helm_values: tuple[str, ...] = _label(
        label_types.Names(), (),
        "Names of the operator's overlays of Helm values, merged over all "
        'other values in this order.', Scope.TEMPLATE)

    master_lb_floating_ip_enabled: bool | None = _label(
        label_types.Bool(), None,
        'Give the API server a floating IP. Without the label, '
        'floating_ip_enabled of the cluster decides.',
        helm='default true', capi='default true')
    api_master_lb_allowed_cidrs: tuple[str, ...] = _label(
        label_types.Cidrs(), (),
        'Networks that may reach the API server; all when not set. The '
        "operator's (management_cidrs) always may. Not with the provider "
        'ovn, which has no such list.', helm=SAME)
    api_server_floating_ip: str | None = _label(
        label_types.Address(), None,
        'The floating IP that the API server gets; it must exist and be '
        'free. Without the label a new one is created.', capi=SAME)
    api_server_cert_sans: tuple[str, ...] = _label(
        label_types.Hosts(), (),
        'Additional names in the certificate of the API server.', capi=SAME)
    api_server_tls_cipher_suites: tuple[str, ...] = _label(
        _CIPHERS, (), 'Cipher suites that the API server offers for TLS 1.2; '
        'without the label, the defaults of Kubernetes.',
        capi='default: six suites of ECDHE')
    kubelet_tls_cipher_suites: tuple[str, ...] = _label(
        _CIPHERS, (), 'The same for kubelets.',
        capi='default: three suites of ECDHE')
    admission_control_list: tuple[str, ...] = _label(
        label_types.Texts(r'[A-Z][A-Za-z]+', 'admission plugins'), (),
        'Admission plugins to enable in addition to the default ones and '
        'NodeRestriction.', capi=SAME)
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
        "images an operator's overlay can set mirrors (registryMirrors).",
        capi='also of all addons')
    audit_log_enabled: bool = _label(
        label_types.Bool(), False,
        'Have the API server log who did what (level Metadata) to '
        '/var/log/kubernetes/audit/audit.log on nodes of the control plane.',
        capi=SAME)
    audit_log_max_age: int = _label(
        label_types.Int(1, 3650), 30, 'Days for which audit logs are kept.',
        capi=SAME)
    audit_log_max_backup: int = _label(
        label_types.Int(1, 1000), 10, 'Number of audit logs that are kept.',
        capi=SAME)
    audit_log_max_size: int = _label(
        label_types.Int(1, 10000), 100, 'Size of an audit log in MiB.',
        capi=SAME)

    oidc_issuer_url: str | None = _label(
        label_types.Text(r'https://[A-Za-z0-9._~:/-]+', 'an https URL'),
        None, 'Let users of this OpenID provider log in to the Kubernetes '
        'API. Requires oidc_client_id.', capi=SAME)
    oidc_client_id: str | None = _label(
        label_types.Text(r'[A-Za-z0-9_.:/@-]+',
                         'letters, digits and _.:/@-'),
        None, 'Client that the tokens are issued for.', capi=SAME)
    oidc_username_claim: str = _label(
        label_types.Text(_CLAIM, 'letters, digits and _.:/#-'), 'sub',
        'Claim with the name of a user.', capi=SAME)
    oidc_username_prefix: str = _label(
        _PREFIX, 'oidc:', 'Prefix of user names.', capi='default -')
    oidc_groups_claim: str = _label(
        label_types.Text(_CLAIM, 'letters, digits and _.:/#-'), 'groups',
        'Claim with the groups of a user.', capi='default none')
    oidc_groups_prefix: str = _label(
        _PREFIX, 'oidc:', 'Prefix of group names.', capi='default none')

    octavia_provider: str = _label(
        label_types.Name(), 'amphora', 'Provider of load balancers.',
        helm=SAME, capi='default amphorav2')
    octavia_lb_algorithm: str | None = _label(
        label_types.Enum(('ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP',
                          'SOURCE_IP_PORT')), None,
        'Algorithm of load balancers of services. Without the label, '
        'SOURCE_IP_PORT with the provider ovn (its only one), else '
        'ROUND_ROBIN.', helm=SAME, capi=SAME)
    octavia_lb_healthcheck: bool = _label(
        label_types.Bool(), True,
        'Give load balancers of services health monitors.',
        helm=SAME, capi=SAME)
    octavia_lb_flavor: str | None = _label(
        label_types.Uuid(), None,
        "Octavia flavor of load balancers of services.")
    octavia_lb_availability_zone: str | None = _label(
        label_types.Name(), None,
        'Octavia availability zone of load balancers of services.')

    fixed_subnet_cidr: str = _label(
        label_types.Cidr(), '10.0.0.0/24',
        'Network of the nodes, when the cluster names no fixed_subnet.',
        helm=SAME, capi=SAME)
    calico_ipv4pool: str | None = _label(
        label_types.Cidr(), None,
        'Network of the pods with the network driver calico; without the '
        'label, 172.16.0.0/13.', capi='default 10.100.0.0/16')
    cilium_ipv4pool: str | None = _label(
        label_types.Cidr(), None, 'The same with cilium.',
        capi='default 10.100.0.0/16')
    service_cluster_ip_range: str | None = _label(
        label_types.Cidr(), None,
        'Network of Services; without the label, 172.24.0.0/13.',
        capi='default 10.254.0.0/16')
    dns_cluster_domain: str | None = _label(
        label_types.Text(label_types.DOMAIN, 'a domain like cluster.local'),
        None, 'Domain of Services; without the label, cluster.local.',
        capi=SAME)
    cilium_hubble_ui_enabled: bool = _label(
        label_types.Bool(), False,
        'Install the user interface of Hubble, with the network driver '
        'cilium.', capi=SAME)
    extra_network_names: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Additional networks that nodes are attached to.', Scope.NODE_GROUP,
        helm=SAME)
    extra_network_name: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Older name of extra_network_names.', Scope.NODE_GROUP, helm=SAME)
    extra_network_control_plane: bool = _label(
        label_types.Bool(), False,
        'Attach the control plane to extra_network_names, too.')
    availability_zone: str | None = _label(
        label_types.Name(), None,
        'Availability zone of the nodes.', Scope.NODE_GROUP, capi=SAME)
    control_plane_availability_zones: tuple[str, ...] = _label(
        label_types.Names(), (),
        'Availability zones of the control plane; without the label, '
        'availability_zone.', capi=SAME)

    server_group_policies: str | None = _label(
        label_types.Enum(('none', 'affinity', 'anti-affinity',
                          'soft-affinity', 'soft-anti-affinity')), None,
        "Policy of the nodes' Nova server group. Without the label, "
        'soft-anti-affinity for the control plane, and no server group for '
        'other nodes.', Scope.NODE_GROUP, capi='default also for other nodes')

    boot_volume_size: int | None = _label(
        label_types.Size(), None,
        "Root volume from Cinder; 0 is the flavor's disk. Without the "
        'label, [cinder]default_boot_volume_size of magnum.conf.',
        Scope.NODE_GROUP, helm=SAME, capi=SAME)
    boot_volume_type: str | None = _label(
        label_types.Name(), None,
        'Volume type of the root volume. Without the label, '
        '[cinder]default_boot_volume_type.', Scope.NODE_GROUP,
        helm=SAME, capi=SAME)
    boot_volume_availability_zone: str | None = _label(
        label_types.Name(), None,
        'Availability zone of root volumes; without the label, that of the '
        'machine.', Scope.NODE_GROUP, capi='default availability_zone')
    etcd_blockdevice_size: int | None = _label(
        label_types.Size(), None,
        "Size of a separate volume for etcd; 0 is the node's disk.", helm=SAME)
    etcd_blockdevice_type: str = _label(
        label_types.Enum(('volume', 'local')), 'volume',
        "Kind of etcd's volume: from Cinder, or the flavor's ephemeral "
        'disk.', helm=SAME)
    etcd_blockdevice_volume_type: str | None = _label(
        label_types.Name(), None, "Volume type of etcd's volume.", helm=SAME)
    etcd_blockdevice_volume_az: str | None = _label(
        label_types.Name(), None, "Availability zone of etcd's volume.",
        helm=SAME)
    etcd_volume_size: int | None = _label(
        label_types.Size(), None, 'Older name of etcd_blockdevice_size.',
        helm=SAME, capi=SAME)
    etcd_volume_type: str | None = _label(
        label_types.Name(), None,
        'Older name of etcd_blockdevice_volume_type.', helm=SAME, capi=SAME)

    auto_healing_enabled: bool = _label(
        label_types.Bool(), True,
        'Replace nodes that stay unhealthy.', Scope.NODE_GROUP,
        helm=SAME, capi=SAME)
    auto_scaling_enabled: bool = _label(
        label_types.Bool(), False,
        'Let the autoscaler change the size of node groups that have a '
        'max_node_count.', Scope.NODE_GROUP,
        helm='counts for groups without a max_node_count, too', capi=SAME)
    min_node_count: int | None = _label(
        label_types.Int(), None,
        'Minimum number of nodes of default-worker; Magnum reads it, too. '
        'Other node groups have a field for it.', helm=SAME)
    max_node_count: int | None = _label(
        label_types.Int(), None,
        'Maximum number of nodes of default-worker. Other node groups have a '
        'field for it.', helm=SAME, capi='default min_node_count + 1')

    cinder_csi_enabled: bool = _label(
        label_types.Bool(), True, 'Cinder volumes for pods.', capi=SAME)
    csi_cinder_availability_zone: str = _label(
        label_types.Name(), 'nova', 'Availability zone of those volumes.',
        helm=SAME)
    csi_cinder_reclaim_policy: str = _label(
        label_types.Enum(('Retain', 'Delete')), 'Retain',
        'What happens to a volume when its claim is deleted.', helm=SAME)
    csi_cinder_volume_binding_mode: str = _label(
        label_types.Enum(('WaitForFirstConsumer', 'Immediate')),
        'WaitForFirstConsumer', 'When volumes are created.', helm=SAME)
    csi_cinder_fstype: str = _label(
        label_types.Enum(('ext3', 'ext4', 'xfs')), 'ext4',
        'File system of those volumes.', helm=SAME)
    csi_cinder_allow_volume_expansion: bool = _label(
        label_types.Bool(), True, 'Allow volumes to be expanded.', helm=SAME)

    manila_csi_enabled: bool = _label(
        label_types.Bool(), False,
        'Manila shares for pods. Requires manila_csi_share_type.',
        capi='a storage class for each share type')
    manila_csi_share_type: str | None = _label(
        label_types.Name(), None, 'Share type of their storage class.')
    manila_csi_share_protocol: str = _label(
        label_types.Enum(('NFS', 'CEPHFS')), 'NFS',
        'Protocol of those shares; the driver that mounts them is also '
        'installed.')
    manila_csi_share_network_id: str | None = _label(
        label_types.Uuid(), None,
        'Share network of those shares, for share types whose back end '
        'creates share servers.', capi=SAME)

    monitoring_enabled: bool = _label(
        label_types.Bool(), False, 'Prometheus, Grafana and Loki.', helm=SAME)
    metrics_server_enabled: bool = _label(
        label_types.Bool(), True, 'Metrics server.')
    ingress_controller: str = _label(
        label_types.Enum(('none', 'nginx', 'traefik')), 'none',
        'Ingress controller; the chart must have it.')
    kube_dashboard_enabled: bool = _label(
        label_types.Bool(), False,
        "The chart's dashboard (Headlamp in later versions); refused if it "
        'has none.', helm='default true')
    keystone_auth_enabled: bool = _label(
        label_types.Bool(), False,
        'Let users of Keystone log in to the Kubernetes API.',
        helm=SAME, capi='default true')

    explicit: frozenset[str] = frozenset()


REGISTRY = types.MappingProxyType({
    field.name: field for field in dataclasses.fields(Labels)
    if field.metadata})


_CHART = ('it is part of the chart, which determines its version; choose '
          'another chart')
_DOMAIN = ('no chart passes on hints to the scheduler of Nova; '
           'control_plane_availability_zones and availability_zone spread '
           'nodes over zones, server_group_policies over hosts')
_BALANCER = ('no chart passes it on to the load balancer of the API server; '
             'octavia_provider chooses its provider')

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
    'api_server_lb_availability_zone': _BALANCER,
    'api_server_lb_flavor': _BALANCER,
})


#: Older names of labels, and the present ones.
_OLDER = {'extra_network_name': 'extra_network_names',
          'etcd_volume_size': 'etcd_blockdevice_size',
          'etcd_volume_type': 'etcd_blockdevice_volume_type'}
_LONGEST_SHOWN = 80

#: Labels as Magnum has them.
Texts: typing.TypeAlias = typing.Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Policy:
    """An operator's options about labels.

    :param defaults: values of labels that are not set.
    :param ignored: names to accept without effect, so that templates of
        another driver can be used unchanged.
    """

    defaults: Texts = dataclasses.field(default_factory=dict)
    ignored: frozenset[str] = frozenset()


def parse(labels: Texts, policy: Policy = Policy()) -> Labels:
    """Read labels; all of them or none.

    :param labels: from :func:`merged`.
    :raises spec.InvalidSpec: with every problem, not only the first.
    """
    problems: list[str] = []
    explicit = _layer(labels, policy.ignored, problems)
    values = _layer(policy.defaults, policy.ignored, problems) | explicit
    problems += _contradictions(values)
    if problems:
        raise spec_model.InvalidSpec(problems)
    return Labels(explicit=frozenset(explicit), **values)


def merged(cluster: Texts | None, template: Texts | None) -> dict[str, str]:
    """The effective labels of a cluster.

    They are the cluster's own, as Magnum merged them, and those of its present
    template that only a template may set.

    Example: a cluster was made from a template with ``kube_tag=v1.34.2`` and
    upgraded to one with ``kube_tag=v1.35.0``. Magnum keeps the copy v1.34.2
    in the cluster; v1.35.0 counts.
    """
    own = {k: v for k, v in (cluster or {}).items() if not _of_template(k)}
    return own | {
        k: v for k, v in (template or {}).items() if _of_template(k)}


def misplaced(cluster: Texts | None,
              template: Texts | None) -> tuple[str, ...]:
    """Problems of a new cluster: labels that only its template may carry.

    Magnum's copies of the template's labels are allowed. ``kube_tag`` may be
    set in both if it is correct (validation.check). Not for upgraded clusters,
    whose copies are those of an older template.
    """
    return tuple(
        f'label {name}: only the template may set it, the cluster asks for '
        f'{_cut(text)}' for name, text in sorted((cluster or {}).items())
        if _of_template(name) and name != 'kube_tag'
        and (template or {}).get(name) != text)


def node_group(labels: Labels, group: Texts | None, cluster: Texts | None,
               policy: Policy = Policy()) -> Labels:
    """Labels of a node group.

    Labels that a node group may override are read from its own, as Magnum
    copied or merged them; the rest are the cluster's.

    :param labels: the cluster's, read.
    :param group: the node group's.
    :param cluster: the cluster's, as Magnum has them.
    :raises spec.InvalidSpec: a label is invalid, or differs although it
        applies to the whole cluster.
    """
    group, cluster = group or {}, cluster or {}
    # Defaults for the cluster may go with labels of the cluster.
    policy = dataclasses.replace(policy, defaults={
        name: text for name, text in policy.defaults.items()
        if _of_node_group(name)})
    problems = [
        f'label {name}: it applies to a whole cluster, a node group cannot '
        f'have its own value {_cut(text)}'
        for name, text in sorted(group.items())
        if name in REGISTRY and not _of_node_group(name)
        and cluster.get(name) != text]
    try:
        read = parse({
            name: text for name, text in group.items()
            if _of_node_group(name) or name not in REGISTRY}, policy)
    except spec_model.InvalidSpec as e:
        problems += e.problems
    if problems:
        raise spec_model.InvalidSpec(problems)
    own = {name: getattr(read, name) for name in REGISTRY
           if _of_node_group(name)}
    explicit = read.explicit | {
        name for name in labels.explicit if not _of_node_group(name)}
    return dataclasses.replace(labels, explicit=frozenset(explicit), **own)


def floating_ip(spec: spec_model.ClusterSpec, labels: Labels) -> bool:
    """Whether the API server gets a floating IP, as Magnum reads it.

    The label master_lb_floating_ip_enabled wins over floating_ip_enabled
    (drivers/common/k8s_monitor.py).
    """
    if labels.master_lb_floating_ip_enabled is None:
        return spec.floating_ip_enabled
    return labels.master_lb_floating_ip_enabled


def pods(spec: spec_model.ClusterSpec, labels: Labels) -> str | None:
    """Network of the pods; None: the chart's default."""
    if spec.network_driver == 'cilium':
        return labels.cilium_ipv4pool
    return labels.calico_ipv4pool


def root_volume(spec: spec_model.ClusterSpec, labels: Labels
                ) -> tuple[int, str | None]:
    """Size in GiB, 0 for the flavor's disk, and type of root volumes."""
    size = labels.boot_volume_size
    return (spec.volumes.boot_size if size is None else size,
            labels.boot_volume_type or spec.volumes.boot_type or None)


def _layer(labels: Texts | None, ignored: frozenset[str],
           problems: list[str]) -> dict[str, typing.Any]:
    """Values of one layer, under the present names of labels."""
    values: dict[str, typing.Any] = {}
    older: dict[str, typing.Any] = {}
    for name, text in sorted((labels or {}).items()):
        if name in REGISTRY:
            try:
                (older if name in _OLDER else values)[name] = _read(name, text)
            except ValueError as e:
                problems.append(str(e))
        elif name not in ignored:
            problems.append(_unknown(name))
    for name, value in older.items():
        if values.setdefault(_OLDER[name], value) != value:
            problems.append(
                f'label {name}: it is an older name of {_OLDER[name]}, and '
                'both are set, to different values')
    return values


def _of_template(name: str) -> bool:
    return (name in REGISTRY
            and REGISTRY[name].metadata['scope'] is Scope.TEMPLATE)


def _of_node_group(name: str) -> bool:
    return (name in REGISTRY
            and REGISTRY[name].metadata['scope'] is Scope.NODE_GROUP)


def _read(name: str, text: str) -> typing.Any:
    kind: label_types.LabelType = REGISTRY[name].metadata['kind']
    try:
        return kind.read(str(text))
    except ValueError as e:
        why = f' ({e})' if str(e) else ''
        raise ValueError(f'label {name}: {_cut(text)}{why} is not accepted, '
                         f'only {kind.form}') from None


def _unknown(name: str) -> str:
    if name in REFUSED:
        return (f'label {name}: magnum-cluster-api has it, this driver does '
                f'not; {REFUSED[name]}')
    near = difflib.get_close_matches(name, REGISTRY, n=1)
    hint = f', perhaps {near[0]} is meant' if near else ''
    return (f'label {_cut(name)}: this driver has no such label{hint}; see '
            'its documentation for the accepted ones')


def _contradictions(values: typing.Mapping[str, typing.Any]
                    ) -> typing.Iterator[str]:
    low, high = values.get('min_node_count'), values.get('max_node_count')
    if low is not None and high is not None and high < low:
        yield (f'label max_node_count: {high} is less than min_node_count '
               f'{low}')
    if 0 < values.get('certificates_expiry_days', 0) < 7:
        # The webhook of KubeadmControlPlane requires this.
        yield ('label certificates_expiry_days: it must be 0, or from 7 to '
               '364')
    if values.get('manila_csi_enabled') and not values.get(
            'manila_csi_share_type'):
        yield ('label manila_csi_enabled: it requires '
               'manila_csi_share_type, which is not set')
    if ('oidc_issuer_url' in values) != ('oidc_client_id' in values):
        yield ('label oidc_issuer_url: it goes with oidc_client_id, but only '
               'one of them is set')
    if (values.get('octavia_provider') == 'ovn' and values.get(
            'octavia_lb_algorithm', 'SOURCE_IP_PORT') != 'SOURCE_IP_PORT'):
        yield ('label octavia_lb_algorithm: the provider ovn only supports '
               'SOURCE_IP_PORT')


def _cut(text: str) -> str:
    shown = repr(str(text))
    if len(shown) <= _LONGEST_SHOWN:
        return shown
    return f"{shown[:_LONGEST_SHOWN]}...'"
