# SPDX-License-Identifier: Apache-2.0


"""How many nodes of a group are replaced at once. Pure.

Magnum's ``max_batch_size`` is a number of nodes. Both charts hand the rollout
strategy of a MachineDeployment through as it is, from ``nodeGroupDefaults``
and, above that, from each of ``nodeGroups``. The charts' own takes one node
away before another one comes (maxUnavailable 1, maxSurge 0), so that an
upgrade needs no quota. A group of one node would be without any then, so that
there the new one comes first. The control plane is none of this: Cluster API
replaces its nodes one by one.
"""

import copy
import typing

from magnum_capi.driver.desired import spec

_ROLLING = 'RollingUpdate'
_NONE = (0, '0', '0%')

#: A chart takes a 0 of a group for nothing said, and puts its default there
#: (sprig's mustMerge); a text it leaves alone.
_SURGE = {'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': '0%'}}

#: Nodes are replaced when somebody takes one away, for no other reason.
_HELD = {'type': 'OnDelete'}


def batch(size: int | None) -> int | None:
    """Check ``max_batch_size``.

    :raises spec.InvalidSpec: no batch can be of that size.
    """
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise spec.InvalidSpec([
            f'max_batch_size is {size!r} and has to be a number of nodes, '
            '1 or more'])
    return size


def strategy(defaults: typing.Mapping[str, typing.Any], size: int | None,
             group: spec.NodeGroupSpec) -> dict[str, typing.Any]:
    """The rolloutStrategy of a node group.

    Where the operator lets new nodes come before old ones go, so many of a
    batch come; elsewhere so many go, and the other number stays what it is.
    A group that waits for its turn in an upgrade keeps its nodes, also when
    another chart, or another overlay, makes other templates of all groups.

    :param defaults: ``nodeGroupDefaults`` of the values, which an operator
        may have changed; what they say there of numbers counts for groups of
        one node as well.
    :param size: of :func:`batch`.
    :returns: empty when nothing is to be said.
    """
    there = defaults.get('rolloutStrategy') or {}
    if there.get('type', _ROLLING) != _ROLLING:
        return {}
    if group.held:
        return {'rolloutStrategy': dict(_HELD)}
    rolling = there.get('rollingUpdate') or {}
    told = 'maxSurge' in rolling or 'maxUnavailable' in rolling
    if group.count == 1 and not told:
        return {'rolloutStrategy': copy.deepcopy(_SURGE)}
    if size is None:
        return {}
    key = ('maxSurge' if rolling.get('maxUnavailable') in _NONE
           else 'maxUnavailable')
    return {'rolloutStrategy': {'rollingUpdate': {key: size}}}
