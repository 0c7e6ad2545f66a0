# SPDX-License-Identifier: Apache-2.0


"""How many nodes of a group are replaced at once. Pure.

Magnum's ``max_batch_size`` is a number of nodes. Both charts pass the rollout
strategy of a MachineDeployment on unchanged, from ``nodeGroupDefaults`` or,
with precedence, from each of ``nodeGroups``. The charts' default removes a
node before it adds one (maxUnavailable 1, maxSurge 0), so that an upgrade
needs no quota. A group of one node would then be empty for a while, so there
the new node comes first. This does not concern the control plane: Cluster API
replaces its nodes one by one.
"""

import copy
import typing

from magnum_capi.driver.desired import spec

_ROLLING = 'RollingUpdate'
_NONE = (0, '0', '0%')

#: A chart treats a 0 of a group as unset, and replaces it by its default
#: (sprig's mustMerge); it keeps a text.
_SURGE = {'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': '0%'}}

#: Nodes are only replaced when they are deleted.
ON_DELETE = {'type': 'OnDelete'}


def batch(size: int | None) -> int | None:
    """Check ``max_batch_size``.

    :raises spec.InvalidSpec: no batch can be of that size.
    """
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise spec.InvalidSpec([
            f'max_batch_size is {size!r}, but must be a number of nodes, '
            '1 or more'])
    return size


def strategy(defaults: typing.Mapping[str, typing.Any], size: int | None,
             group: spec.NodeGroupSpec) -> dict[str, typing.Any]:
    """The rolloutStrategy of a node group.

    If the operator lets new nodes come before old ones go, the batch size is
    the number of new nodes; otherwise it is the number of removed nodes. The
    other number stays unchanged. A group that waits for its turn in an upgrade
    keeps its nodes, even if another chart or overlay changes the templates of
    all groups.

    :param defaults: ``nodeGroupDefaults`` of the values, which an operator
        may have changed; numbers that are set there also apply to groups of
        one node.
    :param size: from :func:`batch`.
    :returns: empty when the chart's default is right.
    """
    there = defaults.get('rolloutStrategy') or {}
    if there.get('type', _ROLLING) != _ROLLING:
        return {}
    if group.deferred:
        return {'rolloutStrategy': dict(ON_DELETE)}
    rolling = there.get('rollingUpdate') or {}
    explicit = 'maxSurge' in rolling or 'maxUnavailable' in rolling
    if group.count == 1 and not explicit:
        return {'rolloutStrategy': copy.deepcopy(_SURGE)}
    if size is None:
        return {}
    key = ('maxSurge' if rolling.get('maxUnavailable') in _NONE
           else 'maxUnavailable')
    return {'rolloutStrategy': {'rollingUpdate': {key: size}}}
