# SPDX-License-Identifier: Apache-2.0


"""From rows to Helm values: names and ids are looked up in the cloud.

All mistakes of users are found here, before anything is created.
"""

import collections.abc
import dataclasses
import hashlib
import os
import pathlib
import re
import tarfile
import typing

import yaml

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import attributes
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import cluster_api
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import placement
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import validation
from magnum_capi.driver.desired import values as values_module
from magnum_capi import errors

_ZONE = 'topology.cinder.csi.openstack.org/zone'

#: Service type of Manila.
_SHARES = 'shared-file-system'

_Overlay: typing.TypeAlias = tuple[str, dict[str, typing.Any]]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is handed to Helm.

    :param desired: chart and values, to be recorded before they are applied.
    :param proxies: file of nodes that the values refer to, whose Secret must
        exist first. None if it was written before.
    :param capacities: annotations of MachineDeployments, by the names of
        node groups in the chart.
    :param missing_server_groups: server groups that must exist first; see
        :meth:`with_server_groups`.
    """

    spec: spec_model.ClusterSpec
    desired: desired_values.DesiredValues
    proxies: node_files.ProxyFile | None = None
    capacities: collections.abc.Mapping[
        str, dict[str, str]] = dataclasses.field(default_factory=dict)
    missing_server_groups: collections.abc.Mapping[
        str, placement.ServerGroup] = dataclasses.field(default_factory=dict)

    @property
    def values(self) -> collections.abc.Mapping[str, typing.Any]:
        """The values, for Helm."""
        return self.desired.values

    @property
    def chart(self) -> charts.Chart:
        """The chart, for Helm."""
        assert self.desired.chart
        return self.desired.chart

    def with_server_groups(
            self, ids: collections.abc.Mapping[str, str]) -> 'Plan':
        """The plan with server groups.

        :param ids: by the keys of ``missing_server_groups``.
        """
        return dataclasses.replace(
            self, missing_server_groups={}, desired=dataclasses.replace(
                self.desired, values=placement.with_server_groups(
                    dict(self.values), ids)))


@dataclasses.dataclass(frozen=True)
class Defaults:
    """Magnum's own options that apply to clusters.

    :param boot_size: GiB, 0 for the flavor's disk.
    """

    boot_size: int = 0
    boot_type: str | None = None


@dataclasses.dataclass(frozen=True)
class Planner:
    """Makes the values of a cluster.

    A cluster keeps its chart and values, and only sizes and node groups
    change, unless it is upgraded.

    :param applied, deferred: see state.State.
    :param creating, joining: see validation.check.
    :param batch: see rollout.strategy.
    :param current: what it has now; None for a new cluster.
    :param renew: it is upgraded, perhaps to its present template.
    :param core: version of Cluster API, for a new cluster; None: unknown.
    """

    rows: rows_module.Rows
    cloud: openstack.Cloud
    options: config.Options
    _: dataclasses.KW_ONLY
    applied: frozenset[str] = frozenset()
    creating: bool = False
    joining: collections.abc.Container[str] | None = None
    defaults: Defaults = Defaults()
    batch: int | None = None
    deferred: rows_module.Deferred = dataclasses.field(default_factory=dict)
    current: desired_values.DesiredValues | None = None
    renew: bool = False
    core: str | None = None

    #: Images that were asked for, by reference, and names of flavors.
    _images: dict[str, spec_model.Image] = dataclasses.field(
        default_factory=dict, init=False)
    _flavors: dict[str, str] = dataclasses.field(
        default_factory=dict, init=False)

    @property
    def _base(self) -> desired_values.DesiredValues | None:
        """What only sizes and node groups change in; None: all is new."""
        current = self.current
        return None if self.renew or current is None or (
            current.template != self.rows.template.uuid) else current

    def plan(self) -> Plan:
        """The plan for what the rows ask for.

        :raises spec.InvalidSpec: the desired state is impossible.
        :raises services.CloudError: something does not exist, or no answer.
        :raises errors.UsageError: a chart or overlay does not exist, or
            differs from the one that the cluster was made of.
        """
        base, options = self._base, self.options
        rules = label_rules.Policy(
            options.default_labels if base is None or (
                base.default_labels is None) else base.default_labels,
            frozenset(options.ignored_labels))
        there = {group['name'] for group in desired_values.groups(
            base.values if base else {})}
        found = self._describe(there)
        labels = validation.check(
            found, rules, creating=self.creating, joining=self.joining,
            scale_from_zero=options.scale_from_zero)
        chart = (base.chart if base else None) or pin(
            choose_chart(options, labels))
        features = _features(chart)
        if base:
            _refuse_changed(chart)
        else:
            self._refuse_unfit(found.image.kube_version, labels, features)
        values = values_module.values(
            found, labels, features, policy=rules, overlays=() if base
            else overlays(options, labels.capi_helm_values),
            scale_from_zero=options.scale_from_zero)
        if base:
            values = desired_values.resized(
                base.values, values, found, self.batch)
        else:
            if self.current:
                values = desired_values.upgraded(self.current.values, values)
            values = desired_values.with_strategies(values, found, self.batch)
        server_groups = placement.server_groups(
            found, labels, rules, features, values
        ) if self.cloud.services.has('compute') else {}
        if base:
            there.add(placement.CONTROL_PLANE)
        return Plan(
            found, desired_values.DesiredValues(
                values, chart, self.rows.template.uuid, dict(rules.defaults),
                self._images, self.rows.digest(
                    self.applied, self.deferred,
                    desired_values.bounds(values))),
            None if base else node_files.proxies(found, labels),
            _capacities(self.cloud, options, values),
            {key: group for key, group in server_groups.items()
             if key not in there})

    def _refuse_unfit(self, version: str, labels: label_rules.Labels,
                      features: charts.Features) -> None:
        """Refuse what this cloud, chart or Cluster API cannot serve."""
        problems = [*charts.unfit(features), *filter(
            None, [cluster_api.refusal(self.core, version)])]
        if labels.manila_csi_enabled and not self.cloud.services.has(_SHARES):
            problems.append(
                'label manila_csi_enabled: this cloud has no Manila')
        if problems:
            raise spec_model.InvalidSpec(problems)

    def _describe(self, there: collections.abc.Container[str]
                  ) -> spec_model.ClusterSpec:
        """The cluster that the rows ask for, with ids and names looked up.

        Names of flavors and ids of networks do not change; see
        desired_values.FIXED.

        :param there: names of the node groups that stay. Only what new ones
            need is looked up.
        """
        rows, current = self.rows, self.current
        cluster, template = rows.cluster, rows.template
        masters, workers = rows.masters(), rows.workers(self.applied)
        networks = (desired_values.networks(current.values) if current
                    else self._networks())
        flavors = desired_values.flavors(current.values) if current else {}
        has_new = self._base is None or any(
            rows.naming.node_group(group.uuid) not in there
            for group in workers)
        return spec_model.ClusterSpec(
            uuid=cluster.uuid, release=rows.naming.release, name=cluster.name,
            project_id=cluster.project_id, user_id=cluster.user_id,
            image=self._image(template.image_id),
            master_flavor=flavors.get(desired_values.CONTROL_PLANE)
            or self._flavor(masters.flavor_id or cluster.master_flavor_id),
            master_count=masters.node_count,
            node_groups=tuple(
                rows_module.node_group(
                    group,
                    flavor=flavors.get(rows.naming.node_group(group.uuid))
                    or self._flavor(group.flavor_id),
                    image=self._own_image(group),
                    deferred=group.uuid in self.deferred,
                    adopted_name=rows.naming.groups.get(group.uuid))
                for group in workers),
            labels=dict(cluster.labels or {}),
            template_labels=dict(template.labels or {}),
            network_driver=template.network_driver,
            external_network_id=networks.external,
            fixed_network_id=networks.network,
            fixed_subnet_id=networks.subnet,
            dns_nameservers=tuple(
                text.strip() for text in
                (template.dns_nameserver or '').split(',') if text.strip()),
            keypair=cluster.keypair,
            floating_ip_enabled=cluster.floating_ip_enabled is not False,
            proxies=spec_model.Proxies(
                template.http_proxy, template.https_proxy, template.no_proxy),
            volumes=self._volumes() if has_new else spec_model.Volumes(),
            auth_url=self.cloud.services.identity_url(
                self.options.credential_interface),
            management_cidrs=self.options.management_cidrs,
            attributes=attributes.requested(template, cluster))

    def _networks(self) -> spec_model.Networks:
        cluster, cloud = self.rows.cluster, self.cloud
        network = cluster.fixed_network
        if network:
            # Without a subnet, nodes may be in any of its subnets.
            look = (cloud.network if cluster.fixed_subnet
                    else cloud.nodes_network)
            network = look(network)
        return spec_model.Networks(
            cloud.network(
                self.rows.template.external_network_id, external=True),
            network, cloud.subnet(cluster.fixed_subnet, network))

    def _volumes(self) -> spec_model.Volumes:
        """Volume types are None when the cloud has no block storage."""
        cloud, options = self.cloud, self.options
        zones = list(options.csi_cinder_allowed_topologies)
        return spec_model.Volumes(
            cloud.volume_types() if cloud.services.has('block-storage')
            else None, options.csi_cinder_default_volume_type or None,
            self.defaults.boot_size, self.defaults.boot_type,
            ({'matchLabelExpressions': [{'key': _ZONE, 'values': zones}]},)
            if zones else ())

    def _own_image(self, group: typing.Any) -> spec_model.Image | None:
        """Image of a node group's nodes, None: the cluster's."""
        if group.uuid in self.deferred:
            # Not looked up: the image may no longer be in Glance.
            image_id, version = self.deferred[group.uuid]
            return spec_model.Image(image_id, version, '')
        if rows_module.follows(group, self.rows.template):
            return None
        return self._image(group.image_id)

    def _image(self, reference: str) -> spec_model.Image:
        """An image as it is known, or from Glance."""
        base = self._base
        known = base.images if base else {}
        if reference not in self._images:
            self._images[reference] = (
                known.get(reference) or self._looked_up(reference))
        return self._images[reference]

    def _looked_up(self, reference: str) -> spec_model.Image:
        found = self.cloud.image(reference)
        return spec_model.image(found.id, {
            'kube_version': found.kube_version,
            'os_distro': found.magnum_distro or found.os_distro})

    def _flavor(self, reference: str | None) -> str:
        """Name of a flavor that is large enough."""
        if not reference:
            raise services.NotUsable('There is no flavor for the nodes')
        if reference not in self._flavors:
            self._flavors[reference] = self.cloud.usable_flavor(
                reference, ram=self.options.minimum_flavor_ram,
                vcpus=self.options.minimum_flavor_vcpus).name
        return self._flavors[reference]


def _capacities(cloud: openstack.Cloud, options: config.Options,
                values: collections.abc.Mapping[str, typing.Any]
                ) -> dict[str, dict[str, str]]:
    """Capacity of the nodes of autoscaled groups, by names of groups."""
    if not options.scale_from_zero:
        return {}
    result = {}
    for group in values['nodeGroups']:
        if group.get('autoscale'):
            try:
                flavor = cloud.usable_flavor(
                    group['machineFlavor'], ram=options.minimum_flavor_ram,
                    vcpus=options.minimum_flavor_vcpus)
            except (services.NotThere, services.NotUsable):
                # It was checked when the group was made.
                continue
            result[group['name']] = node_groups.capacity(
                flavor.ram, flavor.vcpus, flavor.disk, group)
    return result


def _refuse_changed(chart: charts.Chart) -> None:
    """Refuse a chart at a path that has changed since it was recorded."""
    if chart.digest not in (None, _digest(chart.name)):
        raise errors.UsageError(
            'The chart on the machines of Magnum has changed since this '
            'cluster was made', last_seen=f'it was made of {chart.name} '
            f'with the digest {chart.digest[:12]}',
            hint='Put the chart back, or upgrade the cluster')


def pin(chart: charts.Chart) -> charts.Chart:
    """What a cluster records of its chart: with its digest if it is a path."""
    return (dataclasses.replace(chart, digest=_digest(chart.name))
            if chart.is_path else chart)


def _digest(path: str) -> str | None:
    """Digest of a chart that is a folder or package; None: it is missing."""
    top = pathlib.Path(path)
    if top.is_file():
        return hashlib.sha256(top.read_bytes()).hexdigest()
    files = sorted(file for file in top.rglob('*') if file.is_file())
    if not files:
        return None
    result = hashlib.sha256()
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        result.update(f'{file.relative_to(top)} {content}\n'.encode())
    return result.hexdigest()


def _features(chart: charts.Chart) -> charts.Features:
    """What a chart can; a chart on this machine contains its version."""
    return charts.features(chart.name, chart.version or charts.version_of(
        metadata(chart.name)))


def metadata(path: str) -> object:
    """Content of the Chart.yaml of a folder or package, None: no such."""
    try:
        if not os.path.isfile(path):
            with open(os.path.join(path, 'Chart.yaml'), 'rb') as file:
                return yaml.safe_load(file)
        with tarfile.open(path) as package:
            for member in package:
                if re.fullmatch(r'[^/]+/Chart\.yaml', member.name):
                    return yaml.safe_load(package.extractfile(member) or b'')
    except (OSError, ValueError, tarfile.TarError, yaml.YAMLError):
        # Helm says what is wrong with it.
        pass
    return None


def choose_chart(options: config.Options,
                 labels: label_rules.Labels) -> charts.Chart:
    """The chart, in the version that the template names.

    :raises UsageError: the operator does not allow it.
    """
    version = labels.capi_helm_chart_version
    if version and options.chart.is_path:
        raise spec_model.InvalidSpec([
            'label capi_helm_chart_version: the chart of this driver is a '
            'folder, whose version cannot be chosen'])
    return options.chart_of(version)


def overlays(options: config.Options,
             names: collections.abc.Iterable[str]) -> list[_Overlay]:
    """Names and contents of the files, in order.

    :raises UsageError: one is not allowed or cannot be read.
    """
    found: list[_Overlay] = []
    names = (*options.default_value_overlays, *names)
    for name, path in zip(names, options.overlays_of(
            names[len(options.default_value_overlays):])):
        try:
            with open(path, encoding='utf-8') as file:
                read = yaml.safe_load(file) or {}
        except (OSError, ValueError, yaml.YAMLError):
            read = None
        if not isinstance(read, dict):
            raise errors.UsageError(
                f'The value overlay "{name}" of the operator cannot be read')
        found.append((name, read))
    return found
