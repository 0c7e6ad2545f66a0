# SPDX-License-Identifier: Apache-2.0


"""From rows to Helm values: names and ids are looked up in the cloud.

Everything a user can have wrong is found here, before anything is made.
"""

import dataclasses
import hashlib
import pathlib
import types

import yaml

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import attributes
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import pins as pins_module
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import validation
from magnum_capi.driver.desired import values as values_module
from magnum_capi.driver import settings as settings_module
from magnum_capi import errors

_ZONE = 'topology.cinder.csi.openstack.org/zone'

#: No node group waits for its turn in an upgrade.
_NOBODY = types.MappingProxyType({})


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is handed to Helm.

    :param chart: settings.Chart.
    :param values: dict.
    :param digest: see rows.Rows.digest.
    :param addons: whether the chart deploys any.
    :param pins: what it is made of, to be remembered before it is applied.
    :param proxies: node_files.ProxyFile of its nodes, or None; the Secret
        that it names is to be there first.
    """

    spec: spec_model.ClusterSpec
    chart: object
    values: dict
    digest: str
    addons: bool
    pins: pins_module.Pins
    proxies: node_files.ProxyFile | None = None


@dataclasses.dataclass(frozen=True)
class Defaults:
    """Options of Magnum's own that count for clusters.

    :param boot_size: GiB, 0 for the flavor's disk.
    """

    boot_size: int = 0
    boot_type: str | None = None


def policy(settings) -> label_rules.Policy:
    return label_rules.Policy(
        settings.default_labels, frozenset(settings.ignored_labels))


def plan(rows, cloud, settings, *, applied=frozenset(), creating=False,
         joining=None, defaults=Defaults(), batch=None, held=_NOBODY,
         pins=pins_module.Pins()) -> Plan:
    """Make the values of a cluster.

    :param rows: rows.Rows.
    :param cloud: openstack.Cloud.
    :param applied, held: see state.State.
    :param creating, joining: see validation.check.
    :param batch: see values.values.
    :param pins: what the cluster was made of; what it does not say is taken
        from the rows, the cloud and the settings as they are now.
    :raises spec.InvalidSpec: what is asked for cannot be had.
    :raises services.CloudError: something does not exist, or no answer.
    :raises errors.UsageError: a chart or overlay is not there, or is another
        than the cluster was made of.
    """
    look = _Lookup(cloud, settings, pins)
    volumes = pins.volumes or _volumes(
        _volume_types(cloud), settings, defaults)
    in_secret = pins.proxies_in_secret is not False
    found = _describe(rows, look, volumes, applied, held, in_secret,
                      cloud.services.identity_url(
                          settings.credential_interface))
    default_labels = (settings.default_labels if pins.default_labels is None
                      else pins.default_labels)
    rules = label_rules.Policy(
        default_labels, frozenset(settings.ignored_labels))
    labels = validation.check(
        found, rules, creating=creating, joining=joining,
        scale_from_zero=settings.scale_from_zero)
    chart_pin = pins.chart or _pin(choose_chart(settings, labels))
    if chart_pin.digest not in (None, _digest(chart_pin.name)):
        raise errors.UsageError(
            'The chart on the machines of Magnum has changed since this '
            'cluster was made', last_seen=f'it was made of {chart_pin.name} '
            f'with the digest {chart_pin.digest[:12]}',
            hint='Put the chart back, or upgrade the cluster')
    chart = settings_module.Chart(
        chart_pin.name, chart_pin.repository, chart_pin.version)
    layers = (tuple(overlays(settings, labels.capi_helm_values))
              if pins.overlays is None else pins.overlays)
    computed = values_module.values(
        found, labels, charts.features(chart.name, chart.version),
        overlays=layers, policy=rules,
        scale_from_zero=settings.scale_from_zero, batch=batch)
    made_of = dataclasses.replace(
        look.found, chart=chart_pin, overlays=layers,
        default_labels=dict(default_labels), volumes=volumes,
        proxies_in_secret=in_secret)
    return Plan(found, chart, computed, rows.digest(applied, held, made_of),
                computed['addons'].get('enabled', True), made_of,
                node_files.proxies(found, labels))


def configured(rows, settings, defaults=Defaults(),
               version=None) -> pins_module.Pins:
    """What a cluster would be made of now, as far as options tell.

    No cloud is asked: the volume types that it has are left out.

    :param rows: rows.Rows.
    :param version: of the chart, by an operator's command; None: as template
        and options say.
    :raises spec.InvalidSpec: a label is wrong.
    :raises errors.UsageError: a chart, its version or an overlay is not
        allowed, or not there.
    """
    labels = label_rules.parse(label_rules.merged(
        rows.cluster.labels, rows.template.labels), policy(settings))
    if version is None:
        chart = choose_chart(settings, labels)
    else:
        chart = settings.chart_of(labels.capi_helm_chart_name, version,
                                  'The command')
    return pins_module.Pins(
        chart=_pin(chart),
        overlays=tuple(overlays(settings, labels.capi_helm_values)),
        default_labels=dict(settings.default_labels),
        volumes=_volumes(None, settings, defaults))


def _pin(chart):
    return pins_module.ChartPin(
        chart.name, chart.repository, chart.version,
        _digest(chart.name) if chart.is_path else None)


def _digest(path):
    """Digest of a chart that is a folder or a package; None: not there."""
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


def choose_chart(settings, labels):
    """The chart of a template, in the version that it names.

    :raises UsageError: the operator does not allow it.
    """
    name, version = labels.capi_helm_chart_name, labels.capi_helm_chart_version
    if version and settings.chart_of(name).is_path:
        raise spec_model.InvalidSpec([
            'label capi_helm_chart_version: the chart of this driver is a '
            'folder, and has the version that it has'])
    return settings.chart_of(name, version)


def overlays(settings, names):
    """Pairs of name and mapping, first to last.

    :raises UsageError: one is not allowed or cannot be read.
    """
    found = []
    names = (*settings.default_value_overlays, *names)
    for name, path in zip(names, settings.overlays_of(
            names[len(settings.default_value_overlays):])):
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


def _describe(rows, look, volumes, applied, held, proxies_in_secret,
              auth_url) -> spec_model.ClusterSpec:
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
                held=group.uuid in held)
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
            template.http_proxy, template.https_proxy, template.no_proxy,
            proxies_in_secret),
        volumes=volumes, auth_url=auth_url,
        attributes=attributes.given(template, cluster))


def _volume_types(cloud):
    """Names, None when the cloud has no block storage."""
    if cloud.services.has('block-storage'):
        return tuple(found.name for found in cloud.volume_types())
    return None


def _volumes(types, settings, defaults):
    zones = list(settings.csi_cinder_allowed_topologies)
    return spec_model.Volumes(
        types, settings.csi_cinder_default_volume_type or None,
        defaults.boot_size, defaults.boot_type,
        ({'matchLabelExpressions': [{'key': _ZONE, 'values': zones}]},)
        if zones else ())


def _image(group, template, look, held):
    """spec.Image of a node group's nodes, None: the cluster's."""
    if group.uuid in held:
        # Not looked up: the image may be gone from Glance by now.
        image_id, version = held[group.uuid]
        return spec_model.Image(image_id, version, '')
    if rows_module.follows(group, template):
        return None
    return look.image(group.image_id)


class _Lookup:
    """Asks for each thing once, and not at all for what is pinned.

    :param pins: pins.Pins.
    """

    def __init__(self, cloud, settings, pins):
        self._cloud = cloud
        self._settings = settings
        self._pins = pins
        #: Pins of all that was looked up.
        self.found = pins_module.Pins()

    def image(self, reference):
        return self._look('images', reference, self._image)

    def flavor(self, reference):
        if not reference:
            raise services.NotUsable('There is no flavor for the nodes')
        return self._look('flavors', reference, self._flavor)

    def network(self, reference):
        return reference and self._look(
            'networks', reference, lambda name: self._cloud.network(name).id)

    def external_network(self, reference):
        return reference and self._look(
            'external_networks', reference,
            lambda name: self._cloud.network(name, external=True).id)

    def subnet(self, reference, network_id):
        return reference and self._look(
            'subnets', reference,
            lambda name: self._cloud.subnet(name, network_id).id)

    def _look(self, field, reference, ask):
        found = getattr(self.found, field)
        if reference not in found:
            pinned = getattr(self._pins, field)
            found[reference] = (pinned[reference] if reference in pinned
                                else ask(reference))
        return found[reference]

    def _image(self, reference):
        found = self._cloud.image(reference)
        return spec_model.image(found.id, {
            'kube_version': found.kube_version,
            'os_distro': found.magnum_distro or found.os_distro})

    def _flavor(self, reference):
        return self._cloud.usable_flavor(
            reference, ram=self._settings.minimum_flavor_ram,
            vcpus=self._settings.minimum_flavor_vcpus).name
