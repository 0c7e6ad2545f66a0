# SPDX-License-Identifier: Apache-2.0


"""From rows to Helm values: names and ids are looked up in the cloud.

All mistakes of users are found here, before anything is created.
"""

import collections.abc
import dataclasses
import hashlib
import os
import pathlib
import stat
import types
import typing

import yaml

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver import config
from magnum_capi.driver.desired import attributes
from magnum_capi.driver.desired import carried
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver.desired import placement
from magnum_capi.driver.desired import registries as registries_module
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

_Found = typing.TypeVar('_Found')

_Overlay: typing.TypeAlias = tuple[str, dict[str, typing.Any]]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is handed to Helm.

    :param digest: see rows.Rows.digest.
    :param addons: whether the chart deploys any.
    :param pins: what it is made of, to be recorded before it is applied.
    :param registries: its Secret must exist first. The data is empty when
        the Secret was already written with what is pinned.
    :param capacities: annotations of MachineDeployments, by the names of
        node groups in the chart.
    :param unplaced: server groups that must exist first; then the plan is
        made again with their ids in ``pins``.
    :param proxies: its Secret must exist first.
    """

    spec: spec_model.ClusterSpec
    chart: config.Chart
    values: dict[str, typing.Any]
    digest: str
    addons: bool
    pins: pins_module.Pins
    proxies: node_files.ProxyFile | None = None
    registries: registries_module.File = registries_module.File(
        spec_model.Registries())
    capacities: collections.abc.Mapping[
        str, dict[str, str]] = dataclasses.field(default_factory=dict)
    unplaced: collections.abc.Mapping[
        str, placement.Wanted] = dataclasses.field(default_factory=dict)


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
         pins: pins_module.Pins = pins_module.Pins()) -> Plan:
    """Make the values of a cluster.

    :param applied, held: see state.State.
    :param creating, joining: see validation.check.
    :param batch: see values.values.
    :param pins: what the cluster was made of; anything else is taken from
        the present rows, cloud and options.
    :raises spec.InvalidSpec: the desired state is impossible.
    :raises services.CloudError: something does not exist, or no answer.
    :raises errors.UsageError: a chart or overlay does not exist, or differs
        from the one that the cluster was made of.
    """
    look = _Lookup(cloud, options, pins)
    volumes = pins.volumes or _volumes(
        _volume_types(cloud), options, defaults)
    images = _registries(options, rows.naming.release, pins)
    found = _describe(rows, look, volumes, applied, held,
                      cloud.services.identity_url(
                          options.credential_interface))
    found = dataclasses.replace(
        found, management_cidrs=options.management_cidrs,
        registries=images.registries)
    default_labels = pins.labels_of(options.default_labels)
    rules = label_rules.Policy(
        default_labels, frozenset(options.ignored_labels))
    labels = validation.check(
        found, rules, creating=creating, joining=joining,
        scale_from_zero=options.scale_from_zero)
    if labels.manila_csi_enabled and not cloud.services.has(_SHARES):
        raise spec_model.InvalidSpec([
            'label manila_csi_enabled: this cloud has no Manila'])
    chart_pin = pins.chart or pin(choose_chart(options, labels))
    if chart_pin.digest not in (None, _digest(chart_pin.name)):
        raise errors.UsageError(
            'The chart on the machines of Magnum has changed since this '
            'cluster was made', last_seen=f'it was made of {chart_pin.name} '
            f'with the digest {chart_pin.digest[:12]}',
            hint='Put the chart back, or upgrade the cluster')
    chart = config.Chart(
        chart_pin.name, chart_pin.repository, chart_pin.version)
    layers = (tuple(overlays(options, labels.capi_helm_values))
              if pins.overlays is None else pins.overlays)
    features = charts.features(chart.name, chart.version)
    if pins.chart is None:
        unfit = charts.unfit(
            features, labels, found.image.kube_version, creating)
        if unfit:
            raise spec_model.InvalidSpec(unfit)
    unplaced: dict[str, placement.Wanted] = {}
    if pins.values is None and cloud.services.has('compute'):
        unplaced = placement.missing(placement.wanted(
            found, labels, rules, features, layers), pins.server_groups)
    found = placement.with_group_ids(found, pins.server_groups)
    computed = values_module.values(
        found, labels, features, overlays=layers, policy=rules,
        scale_from_zero=options.scale_from_zero, batch=batch)
    if pins.values is not None:
        computed = carried.carried(pins.values, computed)
    made_of = dataclasses.replace(
        look.found, chart=chart_pin, overlays=layers,
        default_labels=default_labels, volumes=volumes,
        values=pins.values, registries=images.registries,
        server_groups=placement.decided(
            found, unplaced, placement.NOBODY if pins.values is not None
            else pins.server_groups))
    return Plan(found, chart, computed, rows.digest(applied, held, made_of),
                (computed.get('addons') or {}).get('enabled', True), made_of,
                node_files.proxies(found, labels), images,
                _capacities(cloud, options, computed), unplaced)


def _capacities(cloud: openstack.Cloud, options: config.Options,
                values: dict[str, typing.Any]) -> dict[str, dict[str, str]]:
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


def _registries(options: config.Options, release: str,
                pins: pins_module.Pins = pins_module.Pins()
                ) -> registries_module.File:
    """Registries of a cluster: the pinned ones, else the operator's.

    :raises UsageError: the operator's file cannot be used.
    """
    if pins.values is not None:
        # Values of another driver are kept as they are.
        return registries_module.File(spec_model.Registries())
    pinned = pins.registries
    if pinned is not None and not pinned.secret:
        return registries_module.File(pinned)
    try:
        found = _read_registries(options.registries_file, release)
    except errors.UsageError:
        if pinned is None:
            raise
        found = registries_module.File(pinned)
    if pinned is not None and pinned != found.registries:
        # Its Secret exists; the operator has changed the file since.
        return registries_module.File(pinned)
    return found


def _read_registries(path: str | None, release: str) -> registries_module.File:
    if not path:
        return registries_module.File(spec_model.Registries())
    try:
        with open(path, encoding='utf-8') as file:
            if os.fstat(file.fileno()).st_mode & stat.S_IROTH:
                raise ValueError('other users may read it (chmod o-r)')
            told = yaml.safe_load(file) or {}
        return registries_module.read(told, release)
    except yaml.YAMLError:
        # The error's text would quote the contents.
        raise _unread('it is not YAML') from None
    except (OSError, ValueError) as e:
        raise _unread(getattr(e, 'strerror', None) or str(e)) from None


def _unread(why: str) -> errors.UsageError:
    return errors.UsageError(
        f'The registries of the operator cannot be read: {why}',
        where='[k8s_capi]/registries_file')


def pin(chart: config.Chart) -> pins_module.ChartPin:
    """What a cluster records of its chart."""
    return pins_module.ChartPin(
        chart.name, chart.repository, chart.version,
        _digest(chart.name) if chart.is_path else None)


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


def choose_chart(options: config.Options,
                 labels: label_rules.Labels) -> config.Chart:
    """The chart of a template, in the version that the template names.

    :raises UsageError: the operator does not allow it.
    """
    name, version = labels.capi_helm_chart_name, labels.capi_helm_chart_version
    if version and options.chart_of(name).is_path:
        raise spec_model.InvalidSpec([
            'label capi_helm_chart_version: the chart of this driver is a '
            'folder, whose version cannot be chosen'])
    return options.chart_of(name, version)


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
              held: rows_module.Held, auth_url: str | None
              ) -> spec_model.ClusterSpec:
    """The cluster that the rows ask for, with ids and names looked up."""
    cluster, template = rows.cluster, rows.template
    masters = rows.masters()
    network = look.network(cluster.fixed_network)
    return spec_model.ClusterSpec(
        uuid=cluster.uuid, name=cluster.name,
        project_id=cluster.project_id, user_id=cluster.user_id,
        image=look.image(template.image_id),
        master_flavor=look.flavor(
            masters.flavor_id or cluster.master_flavor_id),
        master_count=masters.node_count,
        node_groups=tuple(
            rows_module.node_group(
                group, flavor=look.flavor(group.flavor_id),
                image=_image(group, template, look, held),
                held=group.uuid in held,
                given=rows.naming.groups.get(group.uuid))
            for group in rows.live(applied)
            if group.role != rows_module.MASTER),
        labels=dict(cluster.labels or {}),
        template_labels=dict(template.labels or {}),
        network_driver=template.network_driver,
        external_network_id=look.external_network(
            template.external_network_id),
        fixed_network_id=network,
        fixed_subnet_id=look.subnet(cluster.fixed_subnet, network),
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


def _volume_types(cloud: openstack.Cloud) -> tuple[str, ...] | None:
    """Names, None when the cloud has no block storage."""
    if cloud.services.has('block-storage'):
        return cloud.volume_types()
    return None


def _volumes(types: tuple[str, ...] | None,
             options: config.Options,
             defaults: Defaults) -> spec_model.Volumes:
    zones = list(options.csi_cinder_allowed_topologies)
    return spec_model.Volumes(
        types, options.csi_cinder_default_volume_type or None,
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
    """Looks each thing up once, and pinned ones not at all."""

    def __init__(self, cloud: openstack.Cloud,
                 options: config.Options,
                 pins: pins_module.Pins) -> None:
        self._cloud = cloud
        self._options = options
        self._pins = pins
        #: Pins of everything that was looked up.
        self.found = pins_module.Pins()

    def image(self, reference: str) -> spec_model.Image:
        return self._look('images', reference, self._image)

    def flavor(self, reference: str | None) -> str:
        if not reference:
            raise services.NotUsable('There is no flavor for the nodes')
        return self._look('flavors', reference, self._flavor)

    def network(self, reference: str | None) -> str | None:
        return reference and self._look(
            'networks', reference, self._cloud.network)

    def external_network(self, reference: str | None) -> str | None:
        return reference and self._look(
            'external_networks', reference,
            lambda name: self._cloud.network(name, external=True))

    def subnet(self, reference: str | None,
               network_id: str | None) -> str | None:
        return reference and self._look(
            'subnets', reference,
            lambda name: self._cloud.subnet(name, network_id))

    def _look(self, field: str, reference: str,
              ask: collections.abc.Callable[[str], _Found]) -> _Found:
        found: dict[str, _Found] = getattr(self.found, field)
        if reference not in found:
            pinned = getattr(self._pins, field)
            found[reference] = (pinned[reference] if reference in pinned
                                else ask(reference))
        return found[reference]

    def _image(self, reference: str) -> spec_model.Image:
        found = self._cloud.image(reference)
        return spec_model.image(found.id, {
            'kube_version': found.kube_version,
            'os_distro': found.magnum_distro or found.os_distro})

    def _flavor(self, reference: str) -> str:
        return self._cloud.usable_flavor(
            reference, ram=self._options.minimum_flavor_ram,
            vcpus=self._options.minimum_flavor_vcpus).name
