# SPDX-License-Identifier: Apache-2.0

"""Rules for node groups: bounds of their size, images, labels and taints.

Magnum's API checks some of this when it gets a request. A chart and a kubelet
require more, and a node that never joins cannot report a problem.
"""

import re
import typing

from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import merging
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import upgrade
from magnum_capi.driver.desired import versions

#: Value of a node group with the taints of its nodes; charts have no key for
#: them.
TAINTS = 'kubeadmConfigSpec.joinConfiguration.nodeRegistration.taints'
#: Prefix of annotations that the autoscaler reads.
CAPACITY = 'capacity.cluster-autoscaler.kubernetes.io'
EFFECTS = ('NoSchedule', 'PreferNoSchedule', 'NoExecute')
#: Keys that charts and this driver set themselves.
OWN_PREFIXES = ('capi.stackhpc.com', names.PREFIX.rstrip('/'))


def bounds(group: spec_model.NodeGroupSpec, labels: label_rules.Labels,
           scale_from_zero: bool) -> tuple[int, int] | None:
    """Bounds of the autoscaler, or None when the size of a group is fixed.

    It is fixed when autoscaling is off, and when the group has no
    max_node_count, so that its limit is unknown. As in Magnum's API, 0 is not
    a maximum either.

    min_node_count is 0 by default. The cluster autoscaler ignores a group
    without nodes unless it knows the capacity of a node, so the group would
    stay empty forever. Therefore 0 means 1, unless the operator wants the
    autoscaler to know the capacity (scale_from_zero, see :func:`capacity`).

    :param labels: of the group.
    :returns: low and high.
    """
    high = group.max
    if high is None and group.is_default and group.role != 'master':
        # Labels of the cluster are about this group.
        high = labels.max_node_count
    if not labels.auto_scaling_enabled or not high:
        return None
    return group.min or (0 if scale_from_zero else 1), high


def capacity(ram: int, vcpus: int, disk: int,
             values: typing.Mapping[str, typing.Any]) -> dict[str, str]:
    """The capacity of a node, for an autoscaler that cannot see one.

    Annotations of a MachineDeployment (cluster-autoscaler, cloudprovider/
    clusterapi/README.md, "Scale from zero support").

    :param ram: MiB.
    :param disk: GiB, 0: unknown.
    :param values: of the group, for the chart.
    """
    found = {'cpu': str(vcpus), 'memory': f'{ram}Mi'}
    size = (values.get('machineRootVolume') or {}).get('diskSize') or disk
    if size:
        found['ephemeral-disk'] = f'{size}Gi'
    labels = values.get('nodeLabels') or {}
    if labels:
        found['labels'] = ','.join(
            f'{key}={value}' for key, value in sorted(labels.items()))
    taints = merging.get(values, TAINTS)
    if taints:
        found['taints'] = ','.join(
            f'{taint["key"]}={taint.get("value", "")}:{taint["effect"]}'
            for taint in taints)
    return {f'{CAPACITY}/{name}': text for name, text in found.items()}


def is_own(key: str) -> bool:
    """Whether charts and this driver alone set a label or taint."""
    prefix = key.rpartition('/')[0]
    return any(prefix == own or prefix.endswith(f'.{own}')
               for own in OWN_PREFIXES)


def problems(group: spec_model.NodeGroupSpec, labels: label_rules.Labels,
             version: versions.Version, joins: bool,
             scale_from_zero: bool) -> typing.Iterator[str]:
    """Problems of a node group: texts that begin with its name.

    :param labels: of the group.
    :param version: Kubernetes version of the control plane.
    :param joins: whether nodes of the group will join the cluster.
    """
    for text in (*_counts(group, labels, scale_from_zero), *_image(
            group, version, joins), *_labels(group.node_labels), *_taints(
                group.node_taints)):
        yield f'node group {group.name!r}: {text}'


def _counts(group: spec_model.NodeGroupSpec, labels: label_rules.Labels,
            scale_from_zero: bool) -> typing.Iterator[str]:
    limits = bounds(group, labels, scale_from_zero)
    if group.count < 0:
        yield f'node_count is {group.count}'
    if not limits:
        return
    low, high = limits
    if high < low:
        yield f'max_node_count {high} is less than min_node_count {low}'
    elif group.count < low:
        why = ('' if group.min else
               '; an autoscaled group needs a node to grow from')
        yield (f'node_count {group.count} is less than min_node_count '
               f'{low}{why}')
    elif group.count > high:
        yield (f'node_count {group.count} is more than max_node_count '
               f'{high}')


def _image(group: spec_model.NodeGroupSpec, control_plane: versions.Version,
           joins: bool) -> typing.Iterator[str]:
    """Rules of kubeadm and kubelet, as in Cluster API's MachineSet.

    A joining node needs the minor release of the control plane
    (KubeadmVersionSkew in machineset_preflight.go); an existing one may be
    some behind, as after an upgrade that did not change the group's image.
    """
    if not group.image:
        return
    try:
        version = versions.parse(group.image.kube_version)
    except ValueError as e:
        yield f'image {group.image.id}: its property kube_version: {e}'
        return
    if joins and (version.release != control_plane.release
                  or version > control_plane):
        yield (f'its image {group.image.id} has Kubernetes {version}, the '
               f'cluster {control_plane}; nodes can only join with the same '
               'minor release, and no newer patch')
    elif not joins:
        why = upgrade.skew(str(control_plane), str(version))
        if why:
            yield f'its image {group.image.id}: {why}'


def _labels(labels: typing.Mapping[str, str]) -> typing.Iterator[str]:
    for key, value in sorted((labels or {}).items()):
        yield from _key('node_labels', key)
        if value and not names.is_label_value(value):
            yield (f'node_labels: {value!r} of {key!r} is not a valid label '
                   'value in Kubernetes')


def _taints(taints: tuple[typing.Mapping[str, str], ...]
            ) -> typing.Iterator[str]:
    for taint in taints or ():
        key, value = taint.get('key') or '', taint.get('value')
        yield from _key('node_taints', key)
        if value and not names.is_label_value(value):
            yield (f'node_taints: {value!r} of {key!r} is not a valid taint '
                   'value in Kubernetes')
        if taint.get('effect') not in EFFECTS:
            yield (f'node_taints: the effect of {key!r} is '
                   f'{taint.get("effect")!r}, but must be one of '
                   f'{", ".join(EFFECTS)}')


def _key(field: str, key: str) -> typing.Iterator[str]:
    prefix, slash, name = key.rpartition('/')
    if (not names.is_label_value(name) or len(prefix) > 253
            or slash and not re.fullmatch(label_types.DOMAIN, prefix)):
        yield f'{field}: {key!r} is not a valid key in Kubernetes'
    elif is_own(key):
        yield f'{field}: {key!r} belongs to the driver'
