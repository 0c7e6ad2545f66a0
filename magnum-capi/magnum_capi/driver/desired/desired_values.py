# SPDX-License-Identifier: Apache-2.0

"""The chart and values that a cluster should have. Pure.

It is recorded in the driver's state before Helm applies it, and it outlives
what it was made from. Options of the driver, files of the operator, images and
networks change during the life of a cluster, and another driver expresses the
same cluster in other values. A resize must not apply such a change: it could
replace every node. So a cluster keeps its chart and values, and only sizes and
node groups change in them. An upgrade computes them anew, except for what no
cluster can change.
"""

import collections.abc
import copy
import dataclasses
import hashlib
import json
import typing

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import merging
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_groups
from magnum_capi.driver.desired import rollout
from magnum_capi.driver.desired import spec as spec_model
from magnum_capi.driver.desired import versions

CONTROL_PLANE = names.CONTROL_PLANE

_Values: typing.TypeAlias = dict[str, typing.Any]
_AnyValues: typing.TypeAlias = typing.Mapping[str, typing.Any]

#: Value of apiServer with the networks that may use it; charts before 0.24
#: have the first name.
ALLOWED_CIDRS = ('allowedCidrs', 'allowedCIDRs')

#: Values of a node group that users change, beside labels and taints.
_SIZES = ('machineCount', 'autoscale', 'machineCountMin', 'machineCountMax')

#: Values of a node group that an upgrade of it changes.
_IMAGE = ('machineImageId', 'kubernetesVersion')

#: Values that stay in an upgrade. The OpenStackCluster refuses changes of its
#: networks and of the load balancer of the API server
#: (cluster-api-provider-openstack, pkg/webhooks/openstackcluster_webhook.go),
#: and the networks of pods and Services are in every node. Values of load
#: balancers of Services fit the provider, which is also the API server's.
#: Flavors stay, too (see flavors), since those of rows cannot change.
FIXED = (
    'apiServer.associateFloatingIP', 'apiServer.enableLoadBalancer',
    'apiServer.floatingIP', 'apiServer.loadBalancerProvider',
    'clusterNetworking.externalNetworkId',
    'clusterNetworking.internalNetwork.networkFilter',
    'clusterNetworking.internalNetwork.nodeCidr',
    'clusterNetworking.internalNetwork.subnetFilter',
    'kubeNetwork.pods', 'kubeNetwork.serviceDomain', 'kubeNetwork.services',
    *(f'addons.openstack.cloudConfig.LoadBalancer.{key}' for key in (
        'availability-zone', 'flavor-id', 'lb-method', 'lb-provider')))

_CINDER = 'addons.openstack.csiCinder'
_MANILA = 'addons.openstack.csiManila'

#: The same for a StorageClass that exists (kubernetes,
#: pkg/apis/storage/validation/validation.go): parameters, provisioner,
#: reclaimPolicy and volumeBindingMode.
_FIXED_OF_CLASS = ('availabilityZone', 'fstype', 'parameters', 'provisioner',
                   'reclaimPolicy', 'volumeBindingMode', 'volumeType')


@dataclasses.dataclass(frozen=True)
class DesiredValues:
    """The desired chart and values, and what they were made from.

    :param values: as Helm gets them.
    :param chart: None: unknown; the operator's present one counts.
    :param template: uuid of the template.
    :param default_labels: the operator's at that time; None: unknown; the
        present ones count.
    :param images: by their references in rows. Their properties may have
        changed, and they may have been deleted.
    :param rows: rows.Rows.digest of the rows; empty: unknown.
    """

    values: _AnyValues
    chart: charts.Chart | None = None
    template: str = ''
    default_labels: typing.Mapping[str, str] | None = None
    images: typing.Mapping[str, spec_model.Image] = dataclasses.field(
        default_factory=dict)
    rows: str = ''

    @property
    def digest(self) -> str:
        """Digest of what Helm is to apply, 32 hexadecimal digits.

        Sizes of autoscaled groups are not included, because the autoscaler
        changes them.
        """
        values = {**self.values, 'nodeGroups': [
            {key: value for key, value in group.items()
             if key != 'machineCount' or not group.get('autoscale')}
            for group in groups(self.values)]}
        text = json.dumps(
            [self.chart and dataclasses.asdict(self.chart), values],
            sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def groups(values: _AnyValues) -> list[_Values]:
    """The node groups in values of a chart."""
    return list(values.get('nodeGroups') or ())


def bounds(values: _AnyValues) -> dict[str, tuple[int, int]]:
    """Bounds of the autoscaled node groups, by names in the chart."""
    return {group['name']: (group.get('machineCountMin', 0),
                            group.get('machineCountMax', 0))
            for group in groups(values) if group.get('autoscale')}


def flavors(values: _AnyValues) -> dict[str, str]:
    """Names of flavors, by CONTROL_PLANE and names of node groups."""
    parts = {CONTROL_PLANE: values.get('controlPlane') or {},
             **{group['name']: group for group in groups(values)}}
    return {name: part['machineFlavor'] for name, part in parts.items()
            if part.get('machineFlavor')}


def images(values: _AnyValues) -> dict[str, tuple[str, str]]:
    """Ids of images and Kubernetes versions, by names of node groups."""
    image, version = _IMAGE
    return {group['name']: (group.get(image) or values[image],
                            group.get(version) or values[version])
            for group in groups(values)}


def networks(values: _AnyValues) -> spec_model.Networks:
    """Ids of networks; another driver may have found them by name."""
    inside = merging.get(values, 'clusterNetworking.internalNetwork') or {}
    return spec_model.Networks(
        merging.get(values, 'clusterNetworking.externalNetworkId'),
        (inside.get('networkFilter') or {}).get('id'),
        (inside.get('subnetFilter') or {}).get('id'))


def has_addons(values: _AnyValues) -> bool:
    """Whether the chart deploys any addons."""
    return bool((values.get('addons') or {}).get('enabled', True))


def server_groups(values: _AnyValues) -> frozenset[str]:
    """Ids of the server groups in values of a chart."""
    parts = [values.get('controlPlane') or {}, *groups(values)]
    return frozenset(part['serverGroupId'] for part in parts
                     if part.get('serverGroupId'))


def resized(found: _AnyValues, computed: _AnyValues,
            spec: spec_model.ClusterSpec, batch: int | None = None
            ) -> _Values:
    """The values of a cluster with the present sizes and node groups.

    A group that is already there keeps the rest of its values, except for an
    image of its own and what follows from that, and for the labels and taints
    of its nodes, which users change.

    :param found: that the cluster has.
    :param computed: what its rows would make of it now.
    :param spec: of the rows.
    :param batch: see rollout.strategy.
    """
    result = copy.deepcopy(dict(found))
    plane = result.setdefault('controlPlane', {})
    plane['machineCount'] = computed['controlPlane']['machineCount']
    api = result.get('apiServer') or {}
    for key in set(ALLOWED_CIDRS) & {*api} & {*computed['apiServer']}:
        # Those of the management cluster may have changed.
        api[key] = computed['apiServer'][key]
    if found.get('clusterAnnotations'):
        result['clusterAnnotations'] |= computed['clusterAnnotations']
    there = {group['name']: group for group in groups(result)}
    specs = {group.kube_name: group for group in spec.node_groups}
    result['nodeGroups'] = [
        _marked(_resized(there[group['name']], group, found, computed),
                group, specs[group['name']])
        if group['name'] in there else copy.deepcopy(group)
        for group in groups(computed)]
    return with_strategies(result, spec, batch, there)


def _resized(group: _Values, now: _Values, found: _AnyValues,
             computed: _AnyValues) -> _Values:
    keys: tuple[str, ...] = _SIZES
    if _image(group, found) != _image(now, computed):
        keys += _IMAGE
    return {**{key: value for key, value in group.items() if key not in keys},
            **{key: now[key] for key in keys if key in now}}


def _marked(group: _Values, now: _AnyValues,
            spec: spec_model.NodeGroupSpec) -> _Values:
    """A group with the present labels and taints of its row.

    The driver's own labels stay as they are: another release of the driver may
    have others. What another driver has set stays until a user sets something.
    """
    if spec.adopted_name and not (spec.node_labels or spec.node_taints):
        return group
    kept = {key: value for key, value in (
        group.get('nodeLabels') or {}).items()
        if spec.adopted_name or node_groups.is_own(key)}
    merging.put(group, 'nodeLabels', {**kept, **spec.node_labels} or None)
    merging.put(group, node_groups.TAINTS,
                merging.get(now, node_groups.TAINTS))
    return group


def _image(group: _AnyValues, values: _AnyValues) -> tuple[typing.Any, ...]:
    """Id of the image of a group's nodes, and its Kubernetes version."""
    image, version = (group.get(key) or values.get(key) for key in _IMAGE)
    try:
        return image, versions.parse(str(version))
    except ValueError:
        return image, version


def with_strategies(
        values: _Values, spec: spec_model.ClusterSpec, batch: int | None,
        there: typing.Container[str] = ()) -> _Values:
    """The values with the rollout strategy of each node group.

    :param there: names of groups that exist. If another driver made one, it
        keeps its strategy, except while it waits for its turn in an upgrade.
    """
    specs = {group.kube_name: group for group in spec.node_groups}
    for group in values['nodeGroups']:
        of = specs[group['name']]
        if (of.adopted_name and group['name'] in there and not of.deferred
                and group.get('rolloutStrategy') != rollout.ON_DELETE):
            continue
        group.pop('rolloutStrategy', None)
        group |= rollout.strategy(
            values.get('nodeGroupDefaults') or {}, batch, of)
    return values


def upgraded(found: _AnyValues, computed: _Values) -> _Values:
    """Values for an upgrade: computed anew, but for what cannot change.

    :param found: that the cluster has.
    :param computed: from the new template and the present options.
    """
    result = copy.deepcopy(computed)
    for path in FIXED:
        merging.put(result, path, merging.get(found, path))
    _keep_storage_classes(found, result)
    return result


def _keep_storage_classes(found: _AnyValues, result: _Values) -> None:
    known = _storage_classes(found)
    for name, made in _storage_classes(result).items():
        for key in _FIXED_OF_CLASS if name in known else ():
            merging.put(made, key, known[name].get(key))


def _storage_classes(values: _AnyValues
                     ) -> dict[tuple[str, str | None], _Values]:
    """Storage classes by addon and name; None: the chart's own name.

    Without the values of an addon, the chart's defaults apply: Cinder's class
    exists, that of shares does not.
    """
    result = {}
    for path, default in ((_CINDER, True), (_MANILA, False)):
        addon = merging.get(values, path) or {}
        if not addon.get('enabled', default):
            continue
        for made in (addon.get('defaultStorageClass') or {},
                     *(addon.get('additionalStorageClasses') or ())):
            result[path, made.get('name')] = made
    return result


def reclaims_volumes(values: _AnyValues) -> bool:
    """Whether volumes end with their claims, in each storage class.

    An upgrade may have added one with another policy, and Cinder does not show
    which one a volume is of.
    """
    policies = {made.get('reclaimPolicy') for (addon, _name), made
                in _storage_classes(values).items() if addon == _CINDER}
    return policies == {'Delete'}


def dump(desired: DesiredValues | None) -> _Values | None:
    """In the form of JSON."""
    return None if desired is None else dataclasses.asdict(desired)


def load(found: collections.abc.Mapping[str, typing.Any] | None
         ) -> DesiredValues | None:
    """Read what :func:`dump` made; fields of other releases are left out.

    :raises TypeError: values are missing.
    """
    if found is None:
        return None
    known = _known(DesiredValues, found)
    if known.get('chart'):
        known['chart'] = charts.Chart(**_known(charts.Chart, known['chart']))
    known['images'] = {
        name: spec_model.Image(**_known(spec_model.Image, image))
        for name, image in known.get('images', {}).items()}
    return DesiredValues(**known)


def _known(kind: type[DesiredValues | charts.Chart | spec_model.Image],
           found: typing.Mapping[str, typing.Any]) -> _Values:
    fields = {field.name for field in dataclasses.fields(kind)}
    return {key: value for key, value in found.items() if key in fields}
