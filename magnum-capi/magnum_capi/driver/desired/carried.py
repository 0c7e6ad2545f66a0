# SPDX-License-Identifier: Apache-2.0

"""Keeps the Helm values of another driver for adopted clusters. Pure.

Two drivers express the same cluster in different values, from which a chart
makes different machine templates, so a change of the driver would replace
every node. Therefore an adopted cluster keeps the values that it was found
with, except for what users change: sizes, and node groups that are added or
removed. An upgrade, which replaces the nodes anyway, drops the old values.
"""

import copy
import typing

_Values: typing.TypeAlias = dict[str, typing.Any]

#: Values of an existing node group that users change.
_SIZES = ('machineCount', 'autoscale', 'machineCountMin', 'machineCountMax')

#: Where values have what labels say of what no cluster can change; see
#: pins.FIXED_LABELS.
_FIXED = {
    'master_lb_floating_ip_enabled': 'apiServer.associateFloatingIP',
    'octavia_provider': 'apiServer.loadBalancerProvider',
    'fixed_subnet_cidr': 'clusterNetworking.internalNetwork.nodeCidr',
    **{f'csi_cinder_{label}':
       f'addons.openstack.csiCinder.defaultStorageClass.{key}'
       for label, key in (('availability_zone', 'availabilityZone'),
                          ('fstype', 'fstype'),
                          ('reclaim_policy', 'reclaimPolicy'),
                          ('volume_binding_mode', 'volumeBindingMode'))}}


def carried(found: typing.Mapping[str, typing.Any],
            computed: typing.Mapping[str, typing.Any]) -> _Values:
    """The values that were found, with the present sizes.

    :param found: of the other driver.
    :param computed: of this driver.
    """
    result = copy.deepcopy(dict(found))
    plane = result.setdefault('controlPlane', {})
    plane['machineCount'] = computed['controlPlane']['machineCount']
    there = {group['name']: group for group in groups(result)}
    result['nodeGroups'] = [
        _sized(there[group['name']], group) if group['name'] in there
        else copy.deepcopy(group) for group in computed['nodeGroups']]
    return result


def fixed_labels(found: typing.Mapping[str, typing.Any]) -> dict[str, str]:
    """Labels that keep what no cluster can change, for an upgrade.

    The other driver has defaults of its own, and does not read
    floating_ip_enabled.

    :param found: see :func:`carried`.
    """
    result = {}
    for label, path in _FIXED.items():
        value: typing.Any = found
        for key in path.split('.'):
            value = (value or {}).get(key)
        if value is not None:
            result[label] = (str(value).lower() if isinstance(value, bool)
                             else str(value))
    return result


def groups(values: typing.Mapping[str, typing.Any]) -> list[_Values]:
    """The node groups in values of a chart."""
    return list(values.get('nodeGroups') or ())


def _sized(found: _Values, computed: _Values) -> _Values:
    return {**{key: value for key, value in found.items()
               if key not in _SIZES},
            **{key: computed[key] for key in _SIZES if key in computed}}
