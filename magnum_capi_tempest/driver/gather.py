# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""From rows to Helm values: names and ids are looked up in the cloud.

Everything a user can have wrong is found here, before anything is made.
"""

import dataclasses

import yaml

from magnum_capi_tempest.driver.cloud import services
from magnum_capi_tempest.driver.wanted import attributes
from magnum_capi_tempest.driver.wanted import charts
from magnum_capi_tempest.driver.wanted import labels as label_rules
from magnum_capi_tempest.driver.wanted import rows as rows_module
from magnum_capi_tempest.driver.wanted import spec as spec_model
from magnum_capi_tempest.driver.wanted import validation
from magnum_capi_tempest.driver.wanted import values as values_module
from magnum_capi_tempest import errors

_ZONE = 'topology.cinder.csi.openstack.org/zone'


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is handed to Helm.

    :param chart: settings.Chart.
    :param values: dict.
    :param digest: see rows.Rows.digest.
    :param addons: whether the chart deploys any.
    """

    spec: spec_model.ClusterSpec
    chart: object
    values: dict
    digest: str
    addons: bool


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
         joining=None, defaults=Defaults(), batch=None) -> Plan:
    """Make the values of a cluster.

    :param rows: rows.Rows.
    :param cloud: openstack.Cloud.
    :param applied: see state.State.
    :param creating, joining: see validation.check.
    :param batch: see values.values.
    :raises spec.InvalidSpec: what is asked for cannot be had.
    :raises services.CloudError: something does not exist, or no answer.
    :raises errors.UsageError: a chart or overlay is not there.
    """
    found = describe(rows, cloud, settings, applied, defaults)
    rules = policy(settings)
    labels = validation.check(
        found, rules, creating=creating, joining=joining,
        scale_from_zero=settings.scale_from_zero)
    chart = choose_chart(settings, labels)
    computed = values_module.values(
        found, labels, charts.features(chart.name, chart.version),
        overlays=overlays(settings, labels.capi_helm_values), policy=rules,
        scale_from_zero=settings.scale_from_zero, batch=batch)
    return Plan(found, chart, computed, rows.digest(applied),
                computed['addons'].get('enabled', True))


def choose_chart(settings, labels):
    """The chart of a template, in the version that it names."""
    chart = settings.chart_of(labels.capi_helm_chart_name)
    version = labels.capi_helm_chart_version
    if not version:
        return chart
    if chart.is_path:
        raise spec_model.InvalidSpec([
            'label capi_helm_chart_version: the chart of this driver is a '
            'folder, and has the version that it has'])
    return dataclasses.replace(chart, version=version)


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


def describe(rows, cloud, settings, applied=frozenset(),
             defaults=Defaults()) -> spec_model.ClusterSpec:
    """The cluster that the rows ask for, with ids and names looked up."""
    cluster, template = rows.cluster, rows.template
    look = _Lookup(cloud, settings)
    masters = rows.masters()
    network = cloud.network(cluster.fixed_network)
    subnet = cloud.subnet(cluster.fixed_subnet, network and network.id)
    external = cloud.network(template.external_network_id, external=True)
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
                image=None if rows_module.follows(group, template)
                else look.image(group.image_id))
            for group in rows.live(applied)
            if group.role != rows_module.MASTER),
        labels=dict(cluster.labels or {}),
        template_labels=dict(template.labels or {}),
        network_driver=template.network_driver,
        external_network_id=external and external.id,
        fixed_network_id=network and network.id,
        fixed_subnet_id=subnet and subnet.id,
        dns_nameservers=tuple(
            text.strip() for text in
            (template.dns_nameserver or '').split(',') if text.strip()),
        keypair=cluster.keypair,
        floating_ip_enabled=cluster.floating_ip_enabled is not False,
        proxies=spec_model.Proxies(
            template.http_proxy, template.https_proxy, template.no_proxy),
        volumes=_volumes(cloud, settings, defaults),
        auth_url=cloud.services.identity_url(
            settings.credential_interface),
        attributes=attributes.given(template, cluster))


def _volumes(cloud, settings, defaults):
    types = None
    if cloud.services.has('block-storage'):
        types = tuple(found.name for found in cloud.volume_types())
    zones = list(settings.csi_cinder_allowed_topologies)
    return spec_model.Volumes(
        types, settings.csi_cinder_default_volume_type or None,
        defaults.boot_size, defaults.boot_type,
        ({'matchLabelExpressions': [{'key': _ZONE, 'values': zones}]},)
        if zones else ())


class _Lookup:
    """Asks for an image or flavor once, however many groups have it."""

    def __init__(self, cloud, settings):
        self._cloud = cloud
        self._settings = settings
        self._images, self._flavors = {}, {}

    def image(self, reference):
        if reference not in self._images:
            found = self._cloud.image(reference)
            self._images[reference] = spec_model.image(found.id, {
                'kube_version': found.kube_version,
                'os_distro': found.magnum_distro or found.os_distro})
        return self._images[reference]

    def flavor(self, reference):
        if not reference:
            raise services.NotUsable('There is no flavor for the nodes')
        if reference not in self._flavors:
            self._flavors[reference] = self._cloud.usable_flavor(
                reference, ram=self._settings.minimum_flavor_ram,
                vcpus=self._settings.minimum_flavor_vcpus).name
        return self._flavors[reference]
