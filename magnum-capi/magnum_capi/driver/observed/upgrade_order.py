# SPDX-License-Identifier: Apache-2.0


"""Determines the next node group in an upgrade. Pure.

The control plane goes first, because no kubelet may be newer than an API
server (https://kubernetes.io/releases/version-skew-policy/
#supported-component-upgrade-order), and kubeadm only joins nodes of the
control plane's own minor release. Node groups follow one after the other, each
when all previous ones are ready, so that a problem of the new version affects
only one of them. Cluster API has the same order for clusters with a topology;
these have none, and would change everything at once.

The decision depends on the observed state, not on past actions: after a
conductor died, the next one makes the same decision.
"""

import collections.abc

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import groups as node_groups
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot as snapshot_module


def turn(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
         observed: collections.abc.Mapping[str, node_groups.Observation]
         ) -> str:
    """Key of the node group that is upgraded next; empty: none yet.

    :param observed: by the keys of the groups.
    """
    deferred = [group for group in desired.groups
                if observed[group.key].state is node_groups.State.DEFERRED]
    ready = all(
        observed[group.key].state is node_groups.State.READY
        for group in desired.groups
        if group not in deferred and not group.deleting)
    if deferred and ready and _has_its_version(snapshot, desired):
        return deferred[0].key
    return ''


def _has_its_version(snapshot: snapshot_module.Snapshot,
                     desired: goal.DesiredCluster) -> bool:
    """Whether each Machine of the control plane is a node of its version.

    The control plane's own status lags behind.
    """
    version = conditions.spec(snapshot.control_plane or {}).get('version')
    found = machines.masters(snapshot)
    count = sum(group.count for group in desired.groups
                if group.role == goal.MASTER)
    return len(found) == count and all(
        node_groups.same_version(conditions.spec(machine).get('version'),
                                 version)
        and conditions.status(machine).get('nodeRef')
        and not conditions.deleting(machine) for machine in found)
