# SPDX-License-Identifier: Apache-2.0

"""Checks the desired state and reports all problems at once. Pure.

This refuses before anything is created, in terms that a user of Magnum
understands. Otherwise a chart or webhook would refuse later, or a node would
never join.
"""

import ipaddress
import itertools
import re
import typing

from magnum_capi.driver.desired import attributes
from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import versions

#: Drivers that both charts support. Magnum's own default is flannel, for which
#: a chart renders nothing, so nodes would never be ready.
NETWORK_DRIVERS = ('calico', 'cilium')

_PROXY = re.compile(r'https?://[A-Za-z0-9._~:@%\[\]-]+(?:/[A-Za-z0-9._~/-]*)?',
                    re.ASCII).fullmatch
_NO_PROXY = re.compile(r'[A-Za-z0-9._:*/\[\], -]+', re.ASCII).fullmatch


def check(spec: spec_model.ClusterSpec,
          policy: label_rules.Policy = label_rules.Policy(), *,
          creating: bool = False,
          joining: typing.Container[str] | None = None,
          scale_from_zero: bool = False) -> label_rules.Labels:
    """Read the labels of a cluster and check everything.

    :param policy: the operator's, for labels.
    :param creating: the cluster is new: also check its own copies of labels
        that only a template may carry, and refuse attributes that have no
        effect.
    :param joining: uuids of the node groups that get nodes; None: all. A
        group whose own image is a minor release behind, as after an upgrade,
        cannot get new nodes, but must not block other changes.
    :param scale_from_zero: see node_groups.bounds.
    :raises spec.InvalidSpec: with every problem, those of labels included.
    """
    problems: list[str] = []
    if creating:
        problems += label_rules.misplaced(spec.labels, spec.template_labels)
        problems += attributes.refusals(spec.attributes)
    try:
        read = label_rules.parse(label_rules.merged(
            spec.labels, spec.template_labels), policy)
    except spec_model.InvalidSpec as e:
        problems += e.problems
        read = label_rules.Labels()
    problems += _problems(spec, read, creating)
    for group in spec.node_groups:
        try:
            own = label_rules.node_group(
                read, group.labels, spec.labels, policy)
        except spec_model.InvalidSpec as e:
            problems += e.problems
            own = read
        problems += node_groups.problems(
            group, own, versions.parse(spec.image.kube_version),
            joins=not group.deferred and (
                joining is None or group.uuid in joining),
            scale_from_zero=scale_from_zero)
        problems += _root_volume(spec, own, f'node group {group.name!r}: ')
    if problems:
        # Report what Magnum copied into every node group only once.
        raise spec_model.InvalidSpec(dict.fromkeys(problems))
    return read


def _problems(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
              creating: bool) -> typing.Iterator[str]:
    yield from _kubernetes(spec, labels, creating)
    if spec.network_driver not in (None, *NETWORK_DRIVERS):
        yield (f'network driver {spec.network_driver!r} is not supported, '
               f'only {" and ".join(NETWORK_DRIVERS)} are; the template '
               'chooses it (network_driver)')
    if spec.master_count < 1 or spec.master_count % 2 == 0:
        yield f'{spec.master_count} masters: it must be an odd number'
    uuids = [group.uuid for group in spec.node_groups]
    if len(set(uuids)) < len(uuids):
        yield 'two node groups have the same uuid'
    yield from _texts(spec)
    yield from _networks(spec, labels, creating)
    yield from _api_server(spec, labels, creating)
    yield from _root_volume(spec, labels, '')
    if labels.keystone_auth_enabled and not spec.auth_url:
        yield 'label keystone_auth_enabled: the URL of Keystone is unknown'


def _kubernetes(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                creating: bool) -> typing.Iterator[str]:
    version = versions.parse(spec.image.kube_version)
    tags = [labels.kube_tag]
    if creating:
        tags.append(spec.labels.get('kube_tag'))
    for tag in dict.fromkeys(tags):
        if (tag and versions.is_version(tag)
                and versions.parse(tag) != version):
            yield (f'label kube_tag: it says {tag}, but the image '
                   f'{spec.image.id} has Kubernetes '
                   f'{spec.image.kube_version}; correct the label or choose '
                   'another image')


def _texts(spec: spec_model.ClusterSpec) -> typing.Iterator[str]:
    """Texts that charts write into YAML without quotes."""
    texts = [('master flavor', spec.master_flavor),
             ('keypair', spec.keypair),
             ('os_distro of the image', spec.image.os_distro),
             ('volume type', spec.volumes.boot_type)]
    texts += [(f'flavor of node group {group.name!r}', group.flavor)
              for group in spec.node_groups]
    for what, text in texts:
        if text is not None and not label_types.plain(text):
            yield (f'{what} {text!r}: charts only accept '
                   f'{label_types.Name.form}')
    for what in ('external_network_id', 'fixed_network_id',
                 'fixed_subnet_id'):
        if not (getattr(spec, what) is None
                or label_types.is_uuid(getattr(spec, what))):
            yield f'{what} {getattr(spec, what)!r} is not a uuid'
    for address in spec.dns_nameservers:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            yield f'dns_nameserver {address!r} is not an address'
    for name, pattern in (('http', _PROXY), ('https', _PROXY),
                          ('no', _NO_PROXY)):
        text = getattr(spec.proxies, name)
        if text and not pattern(text):
            # Not shown: it may hold a password.
            yield f'{name}_proxy of the template has an unexpected form'


def _networks(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
              creating: bool) -> typing.Iterator[str]:
    driver = spec.network_driver or 'calico'
    for name, of in (('calico_ipv4pool', 'calico'),
                     ('cilium_ipv4pool', 'cilium'),
                     ('cilium_hubble_ui_enabled', 'cilium')):
        if getattr(labels, name) and driver != of:
            yield f'label {name}: the network driver is {driver}'
    if not creating:
        # None of this can change later.
        return
    pods, services = node_files.cluster_networks(spec, labels)
    networks = [('pods', pods), ('Services', services)]
    if not (spec.fixed_network_id or spec.fixed_subnet_id):
        networks.append(('nodes', labels.fixed_subnet_cidr))
    for (one, first), (other, second) in itertools.combinations(networks, 2):
        if _overlap(first, second):
            yield (f'the networks of {one} ({first}) and {other} ({second}) '
                   'overlap')


def _overlap(one: str, other: str) -> bool:
    first, second = map(ipaddress.ip_network, (one, other))
    # IPv4 and IPv6 networks never overlap.
    return first.version == second.version and first.overlaps(second)


def _api_server(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                creating: bool) -> typing.Iterator[str]:
    if (creating and labels.api_master_lb_allowed_cidrs
            and labels.octavia_provider == 'ovn'):
        # Cluster API's provider would drop the list without a word
        # (pkg/utils/openstack/loadbalancer.go of 0.14, OctaviaFeatureVIPACL).
        yield ('label api_master_lb_allowed_cidrs: load balancers of the '
               'provider ovn (octavia_provider) let everybody pass')
    if (labels.api_server_floating_ip
            and not label_rules.floating_ip(spec, labels)):
        yield ('label api_server_floating_ip: the API server of this cluster '
               'gets no floating IP (master_lb_floating_ip_enabled)')


def _root_volume(spec: spec_model.ClusterSpec, labels: label_rules.Labels,
                 where: str) -> typing.Iterator[str]:
    size, _type = label_rules.root_volume(spec, labels)
    if 'boot_volume_type' in labels.explicit and not size:
        yield (f'{where}label boot_volume_type: it has no effect without '
               'boot_volume_size')
    if 'boot_volume_availability_zone' in labels.explicit and not size:
        yield (f'{where}label boot_volume_availability_zone: it has no '
               'effect without boot_volume_size')
    if size and spec.volumes.types is None:
        yield (f'{where}label boot_volume_size: this cloud has no block '
               'storage')
