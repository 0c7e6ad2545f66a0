# SPDX-License-Identifier: Apache-2.0

"""Machines of a cluster: their owners, and which have failed."""

import collections.abc

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: Label of what belongs to a MachineDeployment; its name.
DEPLOYMENT = 'cluster.x-k8s.io/deployment-name'

#: Label of the machines of the control plane.
CONTROL_PLANE = 'cluster.x-k8s.io/control-plane'

#: Reasons with which the OpenStack provider gives up a machine that is not a
#: node yet (controllers/openstackmachine_controller.go of 0.14, SetFailure and
#: capoerrors.Terminal).
_GIVEN_UP = ('InstanceStateError', 'InstanceDeleted', 'InvalidMachineSpec')


def of_group(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
             desired: goal.DesiredCluster) -> kinds.Objects:
    """The existing machines of a node group of workers."""
    return [machine for machine in snapshot.machines
            if is_of(machine, group, desired)]


def of(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
       desired: goal.DesiredCluster) -> kinds.Objects:
    """The existing machines of any node group."""
    if group.role == goal.MASTER:
        return masters(snapshot)
    return of_group(snapshot, group, desired)


def is_of(machine: kinds.Object, group: goal.DesiredGroup,
          desired: goal.DesiredCluster) -> bool:
    """Whether a machine belongs to a node group of workers."""
    return (conditions.labels(machine).get(DEPLOYMENT)
            == f'{desired.name}-{group.key}')


def masters(snapshot: snapshot_module.Snapshot) -> kinds.Objects:
    """The existing machines of the control plane."""
    return [machine for machine in snapshot.machines
            if CONTROL_PLANE in conditions.labels(machine)]


def addresses(found: collections.abc.Iterable[kinds.Object]) -> list[str]:
    """One IP address of each machine: the external one, if it has one."""
    result = []
    for machine in found:
        known = {address.get('type'): address.get('address') for address
                 in conditions.status(machine).get('addresses') or ()}
        address = known.get('ExternalIP') or known.get('InternalIP')
        if address:
            result.append(str(address))
    return result


def is_node(machine: kinds.Object) -> bool:
    """Whether a machine has joined its cluster and is not being deleted."""
    return bool(conditions.status(machine).get('nodeRef')
                and not conditions.deleting(machine))


def given_up(machine: kinds.Object,
             servers: collections.abc.Mapping[str, kinds.Object]) -> str:
    """Why a machine has failed; empty when it has not.

    There is no failureReason after v1beta1, only what the provider says about
    the infrastructure. For a server that Nova refused, or could not build, it
    says nothing there (0.14): the machine waits forever, and the
    OpenStackServer with its name has the reason.

    :param servers: OpenStackServers by name.
    """
    text = conditions.failure(machine) or _refused(machine, servers)
    ready = (conditions.newer(machine) or conditions.older(machine)).get(
        'InfrastructureReady')
    if text or ready is None or ready.well or (
            ready.reason not in _GIVEN_UP
            or conditions.status(machine).get('nodeRef')):
        return text
    return f'{ready.reason}: {ready.message}'


def _refused(machine: kinds.Object,
             servers: collections.abc.Mapping[str, kinds.Object]) -> str:
    """Why the provider has no server for a machine that is not a node.

    The provider no longer reconciles a server in this state
    (controllers/openstackserver_controller.go of 0.14, reconcileNormal).
    """
    reference = conditions.spec(machine).get('infrastructureRef') or {}
    server = servers.get(reference.get('name') or '', {})
    if (conditions.status(server).get('instanceState') != 'ERROR'
            or conditions.status(machine).get('nodeRef')):
        return ''
    # Its API version is v1alpha1, whose conditions are in the old place.
    ready = (conditions.older(server) | conditions.newer(server)).get(
        'InstanceReady')
    if ready is None:
        return 'its server is in the state ERROR'
    return ': '.join(filter(None, (ready.reason, ready.message)))


def failed(found: collections.abc.Iterable[kinds.Object],
           servers: collections.abc.Mapping[str, kinds.Object]
           ) -> dict[str, str]:
    """Texts about failed machines, by name.

    Machines that are being deleted are already replaced, and do not count.

    :param servers: OpenStackServers by name.
    """
    texts = {conditions.name(machine): given_up(machine, servers)
             for machine in found if not conditions.deleting(machine)}
    return {name: f'machine {name} failed: {text}'
            for name, text in texts.items() if text}


def addresses_of_groups(snapshot: snapshot_module.Snapshot,
                        desired: goal.DesiredCluster) -> dict[str, list[str]]:
    """Addresses of the machines, by names of node groups in Kubernetes.

    Magnum puts them together as master_addresses and node_addresses of a
    cluster (magnum 23.0.0, magnum/objects/cluster.py).
    """
    return {group.key: addresses(of(snapshot, group, desired))
            for group in desired.groups}
