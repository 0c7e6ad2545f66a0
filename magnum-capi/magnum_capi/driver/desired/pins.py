# SPDX-License-Identifier: Apache-2.0

"""Pins: what a cluster was made of, which it keeps until it is upgraded.

Options of the driver, files of the operator, images and networks change during
the life of a cluster. A resize must not apply such a change to a cluster,
because it could replace every node. So the cluster's own Secret records what
it was made of, and names keep the ids that they had when they were looked up.
An upgrade renews the pins that it changes.
"""

import dataclasses
import hashlib
import json
import typing

from magnum_capi.driver.desired import carried
from magnum_capi.driver.desired import spec


#: Labels that say what no cluster can change: the OpenStackCluster
#: (cluster-api-provider-openstack, pkg/webhooks/openstackcluster_webhook.go),
#: a StorageClass (kubernetes, pkg/apis/storage/validation/validation.go), and
#: the networks of its pods and Services. Values of load balancers of Services
#: fit the provider, which is also that of the API server's.
FIXED_LABELS = frozenset((
    'api_server_floating_ip', 'calico_ipv4pool', 'cilium_ipv4pool',
    'csi_cinder_availability_zone', 'csi_cinder_fstype',
    'csi_cinder_reclaim_policy', 'csi_cinder_volume_binding_mode',
    'dns_cluster_domain', 'fixed_subnet_cidr', 'master_lb_floating_ip_enabled',
    'octavia_lb_algorithm', 'octavia_lb_availability_zone',
    'octavia_lb_flavor', 'octavia_provider', 'service_cluster_ip_range'))

#: The same for Manila's StorageClass, which a cluster that had no share type
#: does not have yet.
_SHARE_TYPE = 'manila_csi_share_type'
_MANILA_LABELS = frozenset((
    _SHARE_TYPE, 'manila_csi_share_network_id', 'manila_csi_share_protocol'))


@dataclasses.dataclass(frozen=True)
class ChartPin:
    """A chart; see config.Chart.

    :param digest: of a chart that is a path, else None.
    """

    name: str
    repository: str | None = None
    version: str | None = None
    digest: str | None = None


@dataclasses.dataclass(frozen=True)
class Pins:
    """What a cluster was made of; None: unknown, so the present value counts.

    :param overlays: pairs of name and mapping, in order.
    :param default_labels: the operator's.
    :param images: by their references in rows.
    :param flavors: names by their references in rows.
    :param networks, external_networks, subnets: ids by their references in
        rows.
    :param registries: of images; other files replace nodes.
    :param server_groups: ids by CONTROL_PLANE and uuids of node groups,
        empty for parts without one; see placement. Another one replaces
        nodes.
    :param values: of the chart, as another driver gave them to Helm; see
        ``carried``. An upgrade drops them.
    :param fixed_labels: default labels of what no cluster can change, for one
        that takes the others as they are now.
    """

    chart: ChartPin | None = None
    overlays: tuple[
        tuple[str, typing.Mapping[str, typing.Any]], ...] | None = None
    default_labels: typing.Mapping[str, str] | None = None
    volumes: spec.Volumes | None = None
    images: typing.Mapping[str, spec.Image] = dataclasses.field(
        default_factory=dict)
    flavors: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    networks: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    external_networks: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    subnets: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    registries: spec.Registries | None = None
    server_groups: typing.Mapping[str, str] | None = None
    values: typing.Mapping[str, typing.Any] | None = None
    fixed_labels: typing.Mapping[str, str] | None = None

    def kept_in_upgrade(self) -> 'Pins':
        """The pins that stay in an upgrade: networks and flavors."""
        fixed = self.default_labels and {
            name: text for name, text in self.default_labels.items()
            if name in _fixed_in(self.default_labels)}
        if self.values is not None:
            fixed = carried.fixed_labels(self.values)
        return dataclasses.replace(
            self, chart=None, overlays=None, default_labels=None,
            fixed_labels=fixed, volumes=None, registries=None, values=None,
            images={}, server_groups=None)

    def labels_of(self, now: typing.Mapping[str, str]) -> dict[str, str]:
        """The default labels of the cluster.

        :param now: the operator's present ones.
        """
        if self.default_labels is not None:
            return dict(self.default_labels)
        if self.fixed_labels is None:
            return dict(now)
        return {**{name: text for name, text in now.items()
                   if name not in _fixed_in(self.fixed_labels)},
                **self.fixed_labels}

    @property
    def digest(self) -> str:
        """Digest of chart, overlays and options; empty when unknown."""
        if self.chart is None or self.overlays is None:
            return ''
        return _digest(dump(self), (
            'chart', 'overlays', 'default_labels', 'volumes',
            *self._registries()))

    def _registries(self) -> tuple[str, ...]:
        """Left out if there are none."""
        known = self.registries not in (None, spec.Registries())
        return ('registries',) if known else ()


def _fixed_in(labels: typing.Mapping[str, str]) -> frozenset[str]:
    """Names of labels that no cluster made with these can change."""
    return FIXED_LABELS | (
        _MANILA_LABELS if _SHARE_TYPE in labels else frozenset())


def _digest(found: typing.Mapping[str, typing.Any],
            fields: tuple[str, ...]) -> str:
    text = json.dumps([found[field] for field in fields], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def dump(pins: Pins) -> dict[str, typing.Any]:
    """Pins in the form of JSON."""
    return dataclasses.asdict(pins)


def load(found: typing.Mapping[str, typing.Any] | None) -> Pins:
    """Read what :func:`dump` made; fields of other releases are left out."""
    known = _known(Pins, found or {})
    if known.get('chart'):
        known['chart'] = ChartPin(**_known(ChartPin, known['chart']))
    if known.get('overlays') is not None:
        known['overlays'] = tuple(
            (name, overlay) for name, overlay in known['overlays'])
    if known.get('volumes'):
        volumes = _known(spec.Volumes, known['volumes'])
        for key, value in volumes.items():
            if isinstance(value, list):
                volumes[key] = tuple(value)
        known['volumes'] = spec.Volumes(**volumes)
    if known.get('registries') is not None:
        fields = _known(spec.Registries, known['registries'])
        known['registries'] = spec.Registries(**{
            **fields, 'authorities': tuple(fields.get('authorities', ())),
            'mirrors': {host: tuple(urls) for host, urls in fields.get(
                'mirrors', {}).items()}})
    known['images'] = {
        name: spec.Image(**_known(spec.Image, image))
        for name, image in known.get('images', {}).items()}
    return Pins(**known)


def _known(kind: type[Pins | ChartPin | spec.Volumes | spec.Image
                      | spec.Registries],
           found: typing.Mapping[str, typing.Any]
           ) -> dict[str, typing.Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {key: value for key, value in found.items() if key in names}
