# SPDX-License-Identifier: Apache-2.0
"""Translates a template of the Heat driver for a Cluster API driver; pure.

Heat's fields and labels are those of magnum/drivers/heat/k8s_template_def.py
and magnum/drivers/k8s_fedora_coreos_v1 of Magnum 22.0.0.
"""

import collections.abc
import dataclasses
import typing

#: Says why a driver does not accept a label; None: it does.
Judge = collections.abc.Callable[[str, str], str | None]

#: Fields that both Cluster API drivers read, and those that none reads.
_KEPT = ('coe', 'server_type', 'external_network_id', 'fixed_network',
         'fixed_subnet', 'dns_nameserver', 'flavor_id', 'master_flavor_id',
         'keypair_id', 'floating_ip_enabled', 'public', 'tags')
_NETWORKS = ('calico', 'cilium')
_LOST = {
    'docker_volume_size': 'nodes have no volume of their own for containers; '
                          'the label boot_volume_size makes the root volume',
    'docker_storage_driver': 'containerd chooses it',
    'volume_driver': 'volumes are made by the CSI driver of Cinder',
    'insecure_registry': 'this depends on the image or the chart',
    'registry_enabled': 'there is no registry in the cluster',
    'tls_disabled': 'the API server always uses TLS',
    'apiserver_port': 'the API server listens on 6443',
    'master_lb_enabled': 'the API server is always behind a load balancer',
}
_PROXIES = ('http_proxy', 'https_proxy', 'no_proxy')
_VERSION = 'the image determines it, with its property kube_version'


@dataclasses.dataclass(frozen=True)
class Row:
    """The translation of a field or label.

    :param becomes: its new value; None: it is lost.
    """

    what: str
    name: str
    value: typing.Any
    becomes: typing.Any
    note: str


@dataclasses.dataclass(frozen=True)
class Translation:
    """The body for POST /v1/clustertemplates, and its translated rows."""

    template: dict[str, typing.Any]
    rows: tuple[Row, ...]

    @property
    def lost(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.becomes is None)


def translate(stored: collections.abc.Mapping[str, typing.Any], driver: str,
              judge: Judge, image: str, proxies: bool) -> Translation:
    """The template for a driver.

    :param stored: as Magnum shows it.
    :param judge: of the driver's labels.
    :param image: for the new template, which cannot use that of Heat.
    :param proxies: whether the driver reads proxies of templates.
    """
    rows = [Row('field', 'image_id', stored.get('image_id'), image,
                'an image for Cluster API; it determines distro and version'),
            Row('field', 'driver', stored.get('driver'), driver, '')]
    rows += _fields(stored, proxies)
    labels = {}
    for name, value in sorted((stored.get('labels') or {}).items()):
        why = _VERSION if name == 'kube_tag' else judge(name, str(value))
        rows.append(Row('label', name, value, None if why else value,
                        why or ''))
        if not why:
            labels[name] = value
    body = {row.name: row.becomes for row in rows
            if row.what == 'field' and row.becomes is not None}
    body |= {'name': f'{stored.get("name") or "template"}-{driver}',
             'labels': labels}
    return Translation(body, tuple(rows))


def _fields(stored: collections.abc.Mapping[str, typing.Any],
            proxies: bool) -> collections.abc.Iterator[Row]:
    kept = _KEPT + (_PROXIES if proxies else ())
    for name in kept:
        if stored.get(name) not in (None, ''):
            yield Row('field', name, stored[name], stored[name], '')
    for name in () if proxies else _PROXIES:
        if stored.get(name):
            yield Row('field', name, stored[name], None,
                      'the driver does not read it')
    network = stored.get('network_driver')
    if network:
        yield Row('field', 'network_driver', network,
                  network if network in _NETWORKS else _NETWORKS[0],
                  '' if network in _NETWORKS else
                  f'the charts have {" and ".join(_NETWORKS)}')
    for name, why in _LOST.items():
        if stored.get(name):
            yield Row('field', name, stored[name], None, why)
