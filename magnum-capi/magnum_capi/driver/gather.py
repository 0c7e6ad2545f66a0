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
import types
import typing

import yaml

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import attributes
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import cluster_api
from magnum_capi.driver.desired import kept as kept_module
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

#: No node group waits for its turn in an upgrade.
_NOBODY: rows_module.Held = types.MappingProxyType({})

_Overlay: typing.TypeAlias = tuple[str, dict[str, typing.Any]]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is handed to Helm.

    :param kept: chart and values, to be recorded before they are applied.
    :param proxies: file of nodes that the values refer to, whose Secret must
        exist first. None if it was written before.
    :param capacities: annotations of MachineDeployments, by the names of
        node groups in the chart.
    :param unplaced: server groups that must exist first; see
        :meth:`placed`.
    """

    spec: spec_model.ClusterSpec
    kept: kept_module.Kept
    proxies: node_files.ProxyFile | None = None
    capacities: collections.abc.Mapping[
        str, dict[str, str]] = dataclasses.field(default_factory=dict)
    unplaced: collections.abc.Mapping[
        str, placement.Wanted] = dataclasses.field(default_factory=dict)

    @property
    def values(self) -> collections.abc.Mapping[str, typing.Any]:
        """The values, for Helm."""
        return self.kept.values

    @property
    def chart(self) -> charts.Chart:
        """The chart, for Helm."""
        assert self.kept.chart
        return self.kept.chart

    def placed(self, ids: collections.abc.Mapping[str, str]) -> 'Plan':
        """The plan with server groups.

        :param ids: by the keys of ``unplaced``.
        """
        return dataclasses.replace(
            self, unplaced={}, kept=dataclasses.replace(
                self.kept, values=placement.placed(
                    dict(self.kept.values), ids)))


@dataclasses.dataclass(frozen=True)
class Defaults:
    """Magnum's own options that apply to clusters.

    :param boot_size: GiB, 0 for the flavor's disk.
    """

    boot_size: int = 0
    boot_type: str | None = None


def policy(options: config.Options) -> label_rules.Policy:
    return label_rules.Policy(
        options.default_labels, frozenset(options.ignored_labels))


def plan(rows: rows_module.Rows, cloud: openstack.Cloud,
         options: config.Options, *,
         applied: frozenset[str] = frozenset(), creating: bool = False,
         joining: collections.abc.Container[str] | None = None,
         defaults: Defaults = Defaults(), batch: int | None = None,
         held: rows_module.Held = _NOBODY,
         kept: kept_module.Kept | None = None,
         renew: bool = False, core: str | None = None) -> Plan:
    """Make the values of a cluster.

    A cluster keeps its chart and values, and only sizes and node groups
    change, unless it is upgraded.

    :param applied, held: see state.State.
    :param creating, joining: see validation.check.
    :param batch: see rollout.strategy.
    :param kept: None for a new cluster.
    :param renew: it is upgraded, perhaps to its present template.
    :param core: version of Cluster API, for a new cluster; None: unknown.
    :raises spec.InvalidSpec: the desired state is impossible.
    :raises services.CloudError: something does not exist, or no answer.
    :raises errors.UsageError: a chart or overlay does not exist, or differs
        from the one that the cluster was made of.
    """
    if kept is None or renew or kept.template != rows.template.uuid:
        made = _made(rows, cloud, options, applied, creating, joining,
                     defaults, batch, held, kept, core)
    else:
        made = _resized(rows, cloud, options, applied, creating, joining,
                        defaults, batch, held, kept)
    return dataclasses.replace(
        made, kept=dataclasses.replace(made.kept, rows=rows.digest(
            applied, held, kept_module.bounds(made.values))),
        capacities=_capacities(cloud, options, made.values))


def _made(rows: rows_module.Rows, cloud: openstack.Cloud,
          options: config.Options, applied: frozenset[str], creating: bool,
          joining: collections.abc.Container[str] | None,
          defaults: Defaults, batch: int | None, held: rows_module.Held,
          kept: kept_module.Kept | None, core: str | None) -> Plan:
    """A plan for values that are computed anew; see :func:`plan`."""
    look = _Lookup(cloud, options)
    found = dataclasses.replace(
        _describe(rows, look, _volumes(cloud, options, defaults), applied,
                  held, cloud.services.identity_url(
                      options.credential_interface), kept),
        management_cidrs=options.management_cidrs)
    rules = policy(options)
    labels = validation.check(
        found, rules, creating=creating, joining=joining,
        scale_from_zero=options.scale_from_zero)
    if labels.manila_csi_enabled and not cloud.services.has(_SHARES):
        raise spec_model.InvalidSpec([
            'label manila_csi_enabled: this cloud has no Manila'])
    chart = choose_chart(options, labels)
    layers = overlays(options, labels.capi_helm_values)
    features = _features(chart)
    version = found.image.kube_version
    unfit = [*charts.unfit(features, labels, version, creating),
             *filter(None, [cluster_api.refusal(core, version)])]
    if unfit:
        raise spec_model.InvalidSpec(unfit)
    values = values_module.values(
        found, labels, features, overlays=layers, policy=rules,
        scale_from_zero=options.scale_from_zero)
    if kept is not None:
        values = kept_module.upgraded(kept.values, values)
    return Plan(
        found, kept_module.Kept(
            kept_module.with_strategies(values, found, batch), pin(chart),
            rows.template.uuid, dict(options.default_labels), look.images),
        node_files.proxies(found, labels),
        unplaced=placement.wanted(found, labels, rules, features, values)
        if cloud.services.has('compute') else {})


def _resized(rows: rows_module.Rows, cloud: openstack.Cloud,
             options: config.Options, applied: frozenset[str],
             creating: bool,
             joining: collections.abc.Container[str] | None,
             defaults: Defaults, batch: int | None, held: rows_module.Held,
             kept: kept_module.Kept) -> Plan:
    """A plan for the values that a cluster has, with the present sizes.

    Only what new node groups need is looked up.
    """
    default_labels = (options.default_labels if kept.default_labels is None
                      else kept.default_labels)
    chart = kept.chart or pin(choose_chart(options, label_rules.parse(
        label_rules.merged(rows.cluster.labels, rows.template.labels),
        policy(options))))
    if chart.digest not in (None, _digest(chart.name)):
        raise errors.UsageError(
            'The chart on the machines of Magnum has changed since this '
            'cluster was made', last_seen=f'it was made of {chart.name} '
            f'with the digest {chart.digest[:12]}',
            hint='Put the chart back, or upgrade the cluster')
    there = {group['name'] for group in kept_module.groups(kept.values)}
    new = any(rows.naming.node_group(group.uuid) not in there
              for group in rows.workers(applied))
    look = _Lookup(cloud, options, kept.images)
    found = dataclasses.replace(_describe(
        rows, look, _volumes(cloud, options, defaults) if new
        else spec_model.Volumes(), applied, held,
        cloud.services.identity_url(options.credential_interface), kept),
        management_cidrs=options.management_cidrs)
    rules = label_rules.Policy(
        default_labels, frozenset(options.ignored_labels))
    labels = validation.check(
        found, rules, creating=creating, joining=joining,
        scale_from_zero=options.scale_from_zero)
    features = _features(chart)
    values = kept_module.resized(kept.values, values_module.values(
        found, labels, features, policy=rules,
        scale_from_zero=options.scale_from_zero), found, batch)
    unplaced = placement.wanted(found, labels, rules, features, values)
    return Plan(
        found, dataclasses.replace(
            kept, values=values, chart=chart, images=look.images,
            default_labels=dict(default_labels)),
        unplaced={key: group for key, group in unplaced.items()
                  if key not in {placement.CONTROL_PLANE, *there}}
        if cloud.services.has('compute') else {})


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
    """What a chart can; a chart on this machine tells its version itself."""
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


def _describe(rows: rows_module.Rows, look: '_Lookup',
              volumes: spec_model.Volumes, applied: frozenset[str],
              held: rows_module.Held, auth_url: str | None,
              kept: kept_module.Kept | None) -> spec_model.ClusterSpec:
    """The cluster that the rows ask for, with ids and names looked up.

    :param kept: has names of flavors and ids of networks, which do not
        change; see kept.FIXED.
    """
    cluster, template = rows.cluster, rows.template
    masters = rows.masters()
    networks = (kept_module.networks(kept.values) if kept else
                _networks(rows, look))
    flavors = kept_module.flavors(kept.values) if kept else {}
    return spec_model.ClusterSpec(
        uuid=cluster.uuid, name=cluster.name,
        project_id=cluster.project_id, user_id=cluster.user_id,
        image=look.image(template.image_id),
        master_flavor=flavors.get(kept_module.CONTROL_PLANE) or look.flavor(
            masters.flavor_id or cluster.master_flavor_id),
        master_count=masters.node_count,
        node_groups=tuple(
            rows_module.node_group(
                group, flavor=flavors.get(rows.naming.node_group(group.uuid))
                or look.flavor(group.flavor_id),
                image=_image(group, template, look, held),
                held=group.uuid in held,
                given=rows.naming.groups.get(group.uuid))
            for group in rows.workers(applied)),
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
        volumes=volumes, auth_url=auth_url,
        attributes=attributes.given(template, cluster),
        given=rows.naming.release)


def _networks(rows: rows_module.Rows,
              look: '_Lookup') -> spec_model.Networks:
    cluster = rows.cluster
    network = look.network(cluster.fixed_network,
                           with_subnets=not cluster.fixed_subnet)
    return spec_model.Networks(
        look.external_network(rows.template.external_network_id), network,
        look.subnet(cluster.fixed_subnet, network))


def _volumes(cloud: openstack.Cloud, options: config.Options,
             defaults: Defaults) -> spec_model.Volumes:
    """Volume types are None when the cloud has no block storage."""
    zones = list(options.csi_cinder_allowed_topologies)
    return spec_model.Volumes(
        cloud.volume_types() if cloud.services.has('block-storage') else None,
        options.csi_cinder_default_volume_type or None,
        defaults.boot_size, defaults.boot_type,
        ({'matchLabelExpressions': [{'key': _ZONE, 'values': zones}]},)
        if zones else ())


def _image(group: typing.Any, template: typing.Any, look: '_Lookup',
           held: rows_module.Held) -> spec_model.Image | None:
    """Image of a node group's nodes, None: the cluster's."""
    if group.uuid in held:
        # Not looked up: the image may no longer be in Glance.
        image_id, version = held[group.uuid]
        return spec_model.Image(image_id, version, '')
    if rows_module.follows(group, template):
        return None
    return look.image(group.image_id)


class _Lookup:
    """Looks each thing up once in the cloud.

    :param images: known ones; see kept.Kept.
    """

    def __init__(self, cloud: openstack.Cloud, options: config.Options,
                 images: collections.abc.Mapping[
                     str, spec_model.Image] = types.MappingProxyType({})
                 ) -> None:
        self._cloud = cloud
        self._options = options
        self._known = images
        #: Those that were asked for, by reference.
        self.images: dict[str, spec_model.Image] = {}
        self._flavors: dict[str, str] = {}

    def image(self, reference: str) -> spec_model.Image:
        if reference not in self.images:
            self.images[reference] = (
                self._known.get(reference) or self._image(reference))
        return self.images[reference]

    def flavor(self, reference: str | None) -> str:
        if not reference:
            raise services.NotUsable('There is no flavor for the nodes')
        if reference not in self._flavors:
            self._flavors[reference] = self._cloud.usable_flavor(
                reference, ram=self._options.minimum_flavor_ram,
                vcpus=self._options.minimum_flavor_vcpus).name
        return self._flavors[reference]

    def network(self, reference: str | None,
                with_subnets: bool) -> str | None:
        """Id of a network.

        :param with_subnets: nodes may be in any of its subnets.
        """
        look = (self._cloud.nodes_network if with_subnets
                else self._cloud.network)
        return reference and look(reference)

    def external_network(self, reference: str | None) -> str | None:
        return reference and self._cloud.network(reference, external=True)

    def subnet(self, reference: str | None,
               network_id: str | None) -> str | None:
        return reference and self._cloud.subnet(reference, network_id)

    def _image(self, reference: str) -> spec_model.Image:
        found = self._cloud.image(reference)
        return spec_model.image(found.id, {
            'kube_version': found.kube_version,
            'os_distro': found.magnum_distro or found.os_distro})
