# SPDX-License-Identifier: Apache-2.0

"""The desired state of a cluster, in plain values.

This is independent of Magnum, so that every rule can be tested with a line of
Python. ``gather`` makes these from Magnum's rows, ``validation`` checks them,
``values`` turns them into a chart's values.
"""

import dataclasses
import typing

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import versions
from magnum_capi import errors


class InvalidSpec(errors.UsageError):
    """The desired state is impossible.

    :param problems: one text each, all that were found.
    """

    def __init__(self, problems: typing.Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__('; '.join(self.problems))


@dataclasses.dataclass(frozen=True)
class Image:
    """An image of Glance, and its properties."""

    id: str
    kube_version: str
    os_distro: str


@dataclasses.dataclass(frozen=True)
class Networks:
    """Ids of the networks of a cluster; None: not chosen by its owner."""

    external: str | None = None
    network: str | None = None
    subnet: str | None = None


@dataclasses.dataclass(frozen=True)
class Volumes:
    """What the cloud's block storage offers.

    :param types: names of volume types, the default of the cloud first; None:
        there is no block storage.
    :param default_type: of the default storage class; None: the first, or
        Cinder's own default when there are no types.
    :param boot_size: GiB of root volumes, 0: the flavor's disk.
    :param allowed_topologies: of storage classes, as Kubernetes has them.
    """

    types: tuple[str, ...] | None = ()
    default_type: str | None = None
    boot_size: int = 0
    boot_type: str | None = None
    allowed_topologies: tuple[typing.Any, ...] = ()


@dataclasses.dataclass(frozen=True)
class Proxies:
    """Proxies of the template, through which nodes pull container images."""

    http: str | None = None
    https: str | None = None
    no: str | None = None


@dataclasses.dataclass(frozen=True)
class NodeGroupSpec:
    """A group of worker nodes.

    :param count: desired nodes.
    :param flavor: its name; charts look a flavor up by it.
    :param min: of the autoscaler.
    :param max: None: no autoscaling of this group.
    :param image: None: the cluster's.
    :param labels: of the group, as Magnum has them.
    :param node_labels: for its nodes in Kubernetes.
    :param node_taints: with key, effect and perhaps value.
    :param deferred: whether its upgrade waits for its turn; ``image`` is then
        the one that its nodes were made of.
    :param adopted_name: its name in the chart's values, if another driver
        chose it.
    """

    uuid: str
    name: str
    count: int
    flavor: str
    role: str = 'worker'
    min: int = 0
    max: int | None = None
    image: Image | None = None
    labels: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    node_labels: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    node_taints: tuple[typing.Mapping[str, str], ...] = ()
    is_default: bool = False
    deferred: bool = False
    adopted_name: str | None = None

    @property
    def kube_name(self) -> str:
        """The name in the chart's values."""
        return self.adopted_name or names.node_group(self.uuid)


@dataclasses.dataclass(frozen=True)
class ClusterSpec:
    """A cluster.

    :param node_groups: of workers; masters are two fields.
    :param labels: of the cluster, as Magnum merged them.
    :param template_labels: of its present template.
    :param network_driver: None: calico.
    :param external_network_id: None: Cluster API's provider finds it.
    :param dns_nameservers: addresses.
    :param floating_ip_enabled: whether the API server gets a floating IP,
        unless a label says otherwise.
    :param auth_url: of Keystone, for keystone_auth_enabled.
    :param management_cidrs: from which the management cluster connects.
    :param attributes: see attributes.requested.
    :param release: name of the Helm release and of the Cluster.
    """

    uuid: str
    release: str
    name: str
    project_id: str
    user_id: str
    image: Image
    master_flavor: str
    master_count: int = 1
    node_groups: tuple[NodeGroupSpec, ...] = ()
    labels: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    template_labels: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    network_driver: str | None = None
    external_network_id: str | None = None
    fixed_network_id: str | None = None
    fixed_subnet_id: str | None = None
    dns_nameservers: tuple[str, ...] = ()
    keypair: str | None = None
    floating_ip_enabled: bool = True
    proxies: Proxies = Proxies()
    volumes: Volumes = Volumes()
    auth_url: str | None = None
    management_cidrs: tuple[str, ...] = ()
    attributes: typing.Mapping[str, typing.Any] = dataclasses.field(
        default_factory=dict)


def image(image_id: str,
          properties: typing.Mapping[str, typing.Any] | None) -> Image:
    """Read an image of Glance.

    :param properties: by name.
    :raises InvalidSpec: kube_version or os_distro is missing, or the version
        is invalid. It is kept as it is: v1.35.0-rc.1 is not 1.35.0.1.
    """
    found = {name: str((properties or {}).get(name) or '').strip()
             for name in ('kube_version', 'os_distro')}
    problems = [f'image {image_id} has no property {name}; set it, for '
                f'example {name}={example}'
                for name, example in (('kube_version', 'v1.34.2'),
                                      ('os_distro', 'ubuntu'))
                if not found[name]]
    if found['kube_version'] and not versions.is_version(
            found['kube_version']):
        problems.append(f'image {image_id}: its property kube_version is '
                        f'{found["kube_version"]!r}, not {versions.FORM}')
    if problems:
        raise InvalidSpec(problems)
    return Image(image_id, **found)
