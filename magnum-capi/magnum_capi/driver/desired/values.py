# SPDX-License-Identifier: Apache-2.0

"""Helm values of a cluster: a pure function of its desired state.

The values are for both charts, the published openstack-cluster and this
project's sandbox-cluster; differences between their versions are in
``charts``. A value that was not requested is left out, so that the chart's own
default applies.
"""

import hashlib
import re
import typing

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import kubeadm
from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import merging
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import versions
from magnum_capi import errors

#: Values that belong to the driver: if an overlay changed one, the cluster
#: would differ from what Magnum shows and the driver expects.
PROTECTED = (
    'cloudCredentialsSecretName', 'clouds', 'cloudName', 'projectPrefix',
    'kubernetesVersion', 'machineImage', 'machineImageId', 'nodeGroups',
    'controlPlane.kubernetesVersion', 'controlPlane.machineCount',
    'controlPlane.machineFlavor', 'controlPlane.machineImage',
    'controlPlane.machineImageId', 'nodeGroupDefaults.autoscale',
    'nodeGroupDefaults.kubernetesVersion', 'nodeGroupDefaults.machineImage',
    'nodeGroupDefaults.machineImageId')

#: Mounts NFS shares for Manila's plugin. This repository has releases; the
#: one in the branch master has changed charts after their release, and the
#: index of a tag points to branches.
_NFS_CHART = {
    'repo': 'https://kubernetes-csi.github.io/csi-driver-nfs',
    'name': 'csi-driver-nfs', 'version': '4.13.4'}

_Values: typing.TypeAlias = dict[str, typing.Any]
_STORAGE_CLASS = re.compile(
    r'[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?', re.ASCII).fullmatch


def values(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
           chart: charts.Features, *, overlays: typing.Iterable[
               tuple[str, typing.Mapping[str, typing.Any]]] = (),
           policy: label_rules.Policy = label_rules.Policy(),
           scale_from_zero: bool = False) -> _Values:
    """Helm values of a cluster.

    :param spec: checked by ``validation``.
    :param labels: of the cluster, from validation.check.
    :param overlays: pairs of name and mapping, from the operator's
        allow-list, merged over the rest in this order; see ``merging``.
    :param policy: the operator's, for the labels of node groups.
    :raises spec.InvalidSpec: labels request what the chart does not support,
        or the default volume type does not exist.
    :raises errors.UsageError: an overlay changes a value in PROTECTED, or
        does not fit; see merging.Misfit.
    """
    refused = charts.refusals(labels, chart)
    if refused:
        raise spec_model.InvalidSpec(refused)
    result: _Values = {
        'kubernetesVersion': str(versions.parse(spec.image.kube_version)),
        'machineImageId': spec.image.id,
        'osDistro': spec.image.os_distro,
        'cloudCredentialsSecretName': names.credentials(spec.release),
        'clusterAnnotations': names.cluster_annotations(
            uuid=spec.uuid, name=spec.name, project_id=spec.project_id,
            user_id=spec.user_id, node_groups=[
                (group.kube_name, group.name)
                for group in spec.node_groups]),
        'apiServer': _api_server(spec, labels, chart),
        'clusterNetworking': _networking(spec, labels, chart),
        'controlPlane': _control_plane(spec, labels, chart),
        # Charts treat a group's false as unset (mustMerge), so a group could
        # not disable what is enabled by default.
        'nodeGroupDefaults': {'healthCheck': {'enabled': False}},
        'nodeGroups': [
            _node_group(spec, group, label_rules.node_group(
                labels, group.labels, spec.labels, policy), chart,
                scale_from_zero) for group in spec.node_groups],
        'addons': _addons(spec, labels, chart),
    }
    if spec.keypair:
        result['machineSSHKeyName'] = spec.keypair
    if labels.keystone_auth_enabled:
        result['authWebhook'] = 'k8s-keystone-auth'
    etcd = _etcd(labels)
    if etcd:
        result['etcd'] = {'blockDevice': etcd}
    result |= _kube_network(spec, labels) | _oidc(labels)
    proxies = node_files.proxies(spec, labels)
    for part, config in (('controlPlane', kubeadm.control_plane(labels)),
                         ('nodeGroupDefaults', kubeadm.nodes(labels))):
        if proxies:
            config = merging.merged(
                config, proxies.kubeadm(), (part, 'kubeadmConfigSpec'))
        if config:
            result[part]['kubeadmConfigSpec'] = config
    for name, overlay in overlays:
        result = _overlaid(result, name, overlay)
    return result


def _api_server(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                chart: charts.Features) -> _Values:
    result: _Values = {
        # Magnum's master_lb_enabled does not count, which is False by
        # default: without a load balancer the API server is one node, which
        # upgrades replace.
        'enableLoadBalancer': True,
        'associateFloatingIP': label_rules.floating_ip(spec, labels),
        'loadBalancerProvider': labels.octavia_provider}
    if labels.api_master_lb_allowed_cidrs:
        # A cluster that blocks the management cluster is never ready.
        allowed = dict.fromkeys((*labels.api_master_lb_allowed_cidrs,
                                 *spec.management_cidrs))
        for key in chart.allowed_cidrs:
            result[key] = list(allowed)
    if labels.api_server_floating_ip:
        result['floatingIP'] = labels.api_server_floating_ip
    return result


def _oidc(labels: label_rules.Labels) -> _Values:
    if not labels.oidc_issuer_url:
        return {}
    return {'oidc': {
        'issuerUrl': labels.oidc_issuer_url,
        'clientId': labels.oidc_client_id,
        'usernameClaim': labels.oidc_username_claim,
        'usernamePrefix': labels.oidc_username_prefix,
        'groupsClaim': labels.oidc_groups_claim,
        'groupsPrefix': labels.oidc_groups_prefix}}


def _kube_network(spec: spec_model.ClusterSpec,
                  labels: label_rules.Labels) -> _Values:
    result: _Values = {}
    pods = label_rules.pods(spec, labels)
    if pods:
        result['pods'] = {'cidrBlocks': [pods]}
    if labels.service_cluster_ip_range:
        result['services'] = {
            'cidrBlocks': [labels.service_cluster_ip_range]}
    if labels.dns_cluster_domain:
        result['serviceDomain'] = labels.dns_cluster_domain
    return {'kubeNetwork': result} if result else {}


def _networking(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                chart: charts.Features) -> _Values:
    inside: _Values = {}
    if spec.fixed_network_id:
        inside['networkFilter'] = {'id': spec.fixed_network_id}
    if spec.fixed_subnet_id:
        inside['subnetFilter'] = {'id': spec.fixed_subnet_id}
    if not inside:
        inside['nodeCidr'] = labels.fixed_subnet_cidr
    result: _Values = {'internalNetwork': inside}
    if spec.dns_nameservers:
        (inside if chart.dns_inside else result)['dnsNameservers'] = list(
            spec.dns_nameservers)
    if spec.external_network_id:
        result['externalNetworkId'] = spec.external_network_id
    return result


def _control_plane(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                   chart: charts.Features) -> _Values:
    result: _Values = {
        'machineFlavor': spec.master_flavor,
        'machineCount': spec.master_count,
        'healthCheck': {'enabled': labels.auto_healing_enabled},
        **_disk(spec, labels)}
    if chart.expiry and labels.certificates_expiry_days:
        result['certificatesExpiryDays'] = labels.certificates_expiry_days
    if labels.extra_network_control_plane:
        result |= _networks(labels)
    zones = labels.control_plane_availability_zones or (
        labels.availability_zone,)
    if any(zones):
        result |= {'omitFailureDomain': False, 'failureDomains': list(zones)}
    return result


def _node_group(spec: spec_model.ClusterSpec,
                group: spec_model.NodeGroupSpec, labels: label_rules.Labels,
                chart: charts.Features, scale_from_zero: bool) -> _Values:
    marks = names.node_group_marks(
        uuid=group.uuid, name=group.name, role=group.role)
    result: _Values = {
        'name': group.kube_name,
        'machineFlavor': group.flavor,
        'machineCount': group.count,
        'healthCheck': {'enabled': labels.auto_healing_enabled},
        'nodeLabels': {**(group.node_labels or {}), **marks.labels},
        **_disk(spec, labels), **_networks(labels)}
    if group.image:
        result |= {'machineImageId': group.image.id, 'kubernetesVersion': str(
            versions.parse(group.image.kube_version))}
    if labels.availability_zone:
        result['failureDomain'] = labels.availability_zone
    bounds = node_groups.bounds(
        group, labels, scale_from_zero=scale_from_zero)
    if bounds:
        result |= {'autoscale': True,
                   'machineCountMin': max(bounds[0], chart.autoscale_min),
                   'machineCountMax': bounds[1]}
    if group.node_taints:
        merging.put(result, node_groups.TAINTS, [
            {k: t[k] for k in ('key', 'value', 'effect') if t.get(k)}
            for t in group.node_taints])
    return result


def _disk(spec: spec_model.ClusterSpec,
          labels: label_rules.Labels) -> _Values:
    size, volume_type = label_rules.root_volume(spec, labels)
    if not size:
        return {}
    disk: _Values = {'diskSize': size}
    if volume_type:
        disk['volumeType'] = volume_type
    if labels.boot_volume_availability_zone:
        disk['availabilityZone'] = labels.boot_volume_availability_zone
    return {'machineRootVolume': disk}


def _networks(labels: label_rules.Labels) -> _Values:
    if not labels.extra_network_names:
        return {}
    # {} means the cluster's own network.
    ports: list[_Values] = [{}]
    for name in labels.extra_network_names:
        # As the provider has it: charts before 0.14.1 do not convert it.
        network = ({'id': name} if label_types.is_uuid(name)
                   else {'filter': {'name': name}})
        ports.append({'network': network, 'securityGroups': []})
    return {'machineNetworking': {'ports': ports}}


def _etcd(labels: label_rules.Labels) -> _Values | None:
    if not labels.etcd_blockdevice_size:
        return None
    result: _Values = {'size': labels.etcd_blockdevice_size}
    if labels.etcd_blockdevice_type == 'local':
        return result | {'type': 'Local'}
    result['type'] = 'Volume'
    if labels.etcd_blockdevice_volume_type:
        result['volumeType'] = labels.etcd_blockdevice_volume_type
    if labels.etcd_blockdevice_volume_az:
        result['availabilityZone'] = labels.etcd_blockdevice_volume_az
    return result


def _addons(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
            chart: charts.Features) -> _Values:
    provider = labels.octavia_provider
    algorithm = labels.octavia_lb_algorithm or (
        'SOURCE_IP_PORT' if provider == 'ovn' else 'ROUND_ROBIN')
    balancers: _Values = {
        'lb-provider': provider, 'lb-method': algorithm,
        'create-monitor': labels.octavia_lb_healthcheck}
    if labels.octavia_lb_flavor:
        balancers['flavor-id'] = labels.octavia_lb_flavor
    if labels.octavia_lb_availability_zone:
        balancers['availability-zone'] = labels.octavia_lb_availability_zone
    openstack: _Values = {'csiCinder': _csi(spec.volumes, labels),
                          'cloudConfig': {'LoadBalancer': balancers}}
    if labels.keystone_auth_enabled:
        openstack['k8sKeystoneAuth'] = {'enabled': True, 'values': {
            'openstackAuthUrl': spec.auth_url,
            'projectId': spec.project_id}}
    controller = labels.ingress_controller
    cni: _Values = {'type': spec.network_driver or 'calico'}
    if labels.cilium_hubble_ui_enabled:
        cni['cilium'] = {'release': {'values': {'hubble': {
            'relay': {'enabled': True}, 'ui': {'enabled': True}}}}}
    result: _Values = {
        'cni': cni,
        'openstack': openstack,
        'metricsServer': {'enabled': labels.metrics_server_enabled},
        'monitoring': {'enabled': labels.monitoring_enabled},
        'ingress': {'enabled': controller != 'none', **{
            name: {'enabled': name == controller}
            for name in chart.ingress}}}
    if labels.manila_csi_enabled:
        result = merging.merged(result, _manila(labels))
    if chart.reloader:
        # The cloud controller manager and Cinder's CSI plugin read the
        # application credential once, when they start.
        result['reloader'] = {'enabled': True}
    if chart.dashboard:
        result[chart.dashboard] = {'enabled': labels.kube_dashboard_enabled}
    return result


def _manila(labels: label_rules.Labels) -> _Values:
    """Manila's CSI plugin, and the plugin of the protocol that it calls."""
    parameters = {'type': labels.manila_csi_share_type}
    if labels.manila_csi_share_network_id:
        parameters['shareNetworkID'] = labels.manila_csi_share_network_id
    protocol = labels.manila_csi_share_protocol.lower()
    result: _Values = {'openstack': {'csiManila': {
        'enabled': True, 'defaultStorageClass': {
            'enabled': True, 'parameters': parameters,
            'provisioner': f'{protocol}.manila.csi.openstack.org'}}}}
    if protocol == 'cephfs':
        result['csi'] = {'cephfs': {'enabled': True}}
    else:
        # The chart has no addon for it.
        result['custom'] = {'csi-driver-nfs': {
            'kind': 'HelmRelease', 'spec': {
                'namespace': 'kube-system', 'values': {},
                'chart': dict(_NFS_CHART)}}}
    return result


def _csi(volumes: spec_model.Volumes, labels: label_rules.Labels) -> _Values:
    if volumes.types is None or not labels.cinder_csi_enabled:
        return {'enabled': False}
    common: _Values = {
        'reclaimPolicy': labels.csi_cinder_reclaim_policy,
        'allowVolumeExpansion': labels.csi_cinder_allow_volume_expansion,
        'volumeBindingMode': labels.csi_cinder_volume_binding_mode,
        'availabilityZone': labels.csi_cinder_availability_zone,
        'fstype': labels.csi_cinder_fstype}
    if volumes.allowed_topologies:
        common['allowedTopologies'] = list(volumes.allowed_topologies)
    # The chart writes the name without quotes.
    types = [name for name in volumes.types if label_types.plain(name)]
    default = volumes.default_type or (types[0] if types else None)
    if default and default not in types:
        raise spec_model.InvalidSpec([
            f'default volume type {default!r} of the driver is not in Cinder'])
    if not default:
        return {'enabled': True, 'defaultStorageClass': common}
    classes = {name: {**common, 'name': _storage_class(name),
                      'volumeType': name} for name in types}
    return {'enabled': True,
            'defaultStorageClass': {**classes.pop(default), 'enabled': True},
            'additionalStorageClasses': list(classes.values())}


def _storage_class(volume_type: str) -> str:
    """Name of a storage class: the type's, or a unique substitute."""
    if _STORAGE_CLASS(volume_type):
        return volume_type
    readable = re.sub(r'[^a-z0-9]+', '-', volume_type.lower())[:50].strip('-')
    digest = hashlib.sha256(volume_type.encode()).hexdigest()[:8]
    return f'{readable or "type"}-{digest}'


def _overlaid(below: _Values, name: str,
              above: typing.Mapping[str, typing.Any]) -> _Values:
    touched = [path for path in PROTECTED if _has(above, path.split('.'))]
    annotations = (above.get('clusterAnnotations') or {})
    touched += [f'clusterAnnotations.{key}' for key in annotations
                if str(key).startswith(names.PREFIX)]
    if touched:
        raise errors.UsageError(
            f'The value overlay "{name}" changes values of the driver: '
            + ', '.join(touched))
    try:
        return merging.merged(below, above)
    except merging.Misfit as e:
        raise errors.UsageError(
            f'The value overlay "{name}" does not fit: {e}') from None


def _has(mapping: typing.Any, path: list[str]) -> bool:
    for key in path:
        if not isinstance(mapping, dict) or key not in mapping:
            return False
        mapping = mapping[key]
    return True
