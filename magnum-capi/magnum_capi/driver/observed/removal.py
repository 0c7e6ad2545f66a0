# SPDX-License-Identifier: Apache-2.0


"""Finds the machines for the nodes that a user wants to remove. Pure.

Magnum passes on what the user wrote: with Heat that was an index, or a
server's uuid or name. Here a node is identified by its server (its
providerID), its name in the workload cluster, or its Machine.
"""

import collections.abc
import re
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines as machine_rules
from magnum_capi.kube import kinds

#: providerID of OpenStack: openstack:///<uuid> or openstack://<region>/...
_SERVER = re.compile(r'[a-z0-9-]+://.*?([^/]+)')


def machines(found: collections.abc.Iterable[kinds.Object],
             nodes: collections.abc.Iterable[typing.Any],
             naming: names.Naming, group: typing.Any,
             earlier: collections.abc.Collection[str] = ()) -> list[str]:
    """Names of the Machines to remove.

    :param found: the Machines of the cluster.
    :param nodes: what the user named.
    :param group: row of the node group, with its desired size.
    :param earlier: names of the Machines in requests that this one overtakes.
        Those of the group are removed as well, unless it no longer loses that
        many.
    :raises spec.InvalidSpec: a node is not in the group, or there are more
        than it loses.
    """
    own = [machine for machine in found if _is_of(machine, naming, group)]
    chosen: dict[str, bool] = {}
    unknown = []
    for node in nodes:
        meant = [machine for machine in own if str(node) in _names(machine)]
        if meant:
            chosen[conditions.name(meant[0])] = True
        else:
            unknown.append(str(node))
    if unknown:
        raise spec.InvalidSpec([
            f'node {node} is not in the node group {group.name}'
            for node in unknown])
    there = [machine for machine in own if not conditions.deleting(machine)]
    loses = len(there) - group.node_count
    if len(chosen) > loses:
        raise spec.InvalidSpec([
            f'{len(chosen)} nodes to remove are named, but the node group '
            f'{group.name} only loses {max(loses, 0)} when it is resized from '
            f'{len(there)} to {group.node_count}'])
    mine = {conditions.name(machine) for machine in own}
    others = [name for name in earlier if name not in mine]
    kept = [name for name in map(conditions.name, there)
            if name in earlier and name not in chosen]
    return [*others, *(kept if len(kept) + len(chosen) <= loses else ()),
            *chosen]


def _is_of(machine: kinds.Object, naming: names.Naming,
           group: typing.Any) -> bool:
    labels = conditions.labels(machine)
    if group.role == goal.MASTER:
        return machine_rules.CONTROL_PLANE in labels
    return labels.get(machine_rules.DEPLOYMENT) == (
        naming.machine_deployment(group.uuid))


def _names(machine: kinds.Object) -> collections.abc.Iterator[str]:
    yield conditions.name(machine)
    node = (conditions.status(machine).get('nodeRef') or {}).get('name')
    if node:
        yield node
    provider = conditions.spec(machine).get('providerID') or ''
    if provider:
        yield provider
    match = _SERVER.fullmatch(provider)
    if match:
        yield match[1]
