# SPDX-License-Identifier: Apache-2.0

"""Values that another driver has given to Helm, kept as they are. Pure.

Two drivers say the same in other values, and a chart makes other machine
templates of those: every node would be replaced because its driver is another
one. So a cluster that was adopted keeps the values that it was found with, and
only what users change is written over them: sizes, and node groups that come
and go. An upgrade replaces the nodes anyway, and leaves them behind.
"""

import copy
import typing

_Values: typing.TypeAlias = dict[str, typing.Any]

#: What users change of a node group that is there.
_SIZES = ('machineCount', 'autoscale', 'machineCountMin', 'machineCountMax')


def carried(found: typing.Mapping[str, typing.Any],
            computed: typing.Mapping[str, typing.Any]) -> _Values:
    """The values that were found, with the sizes of now.

    :param found: of the other driver.
    :param computed: of this one.
    """
    result = copy.deepcopy(dict(found))
    plane = result.setdefault('controlPlane', {})
    plane['machineCount'] = computed['controlPlane']['machineCount']
    there = {group['name']: group for group in groups(result)}
    result['nodeGroups'] = [
        _sized(there[group['name']], group) if group['name'] in there
        else copy.deepcopy(group) for group in computed['nodeGroups']]
    return result


def groups(values: typing.Mapping[str, typing.Any]) -> list[_Values]:
    """The node groups in values of a chart."""
    return list(values.get('nodeGroups') or ())


def _sized(found: _Values, computed: _Values) -> _Values:
    return {**{key: value for key, value in found.items()
               if key not in _SIZES},
            **{key: computed[key] for key in _SIZES if key in computed}}
