# SPDX-License-Identifier: Apache-2.0

"""The health of a cluster: ``health_status`` and ``health_status_reason``.

Everything is read from the management cluster: Magnum needs no access to the
workload cluster. The reasons have the format of Magnum's own monitors, which
users' tools read: ``{'api': 'ok', '<node>.Ready': 'True'}``, texts only
(magnum/objects/cluster.py, DictOfStringsField).

Work in progress does not make a cluster unhealthy: neither what is being
rolled out, added or removed, nor what is only a little late.
"""

import datetime
import json

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import reasons
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

HEALTHY = 'HEALTHY'
UNHEALTHY = 'UNHEALTHY'
UNKNOWN = 'UNKNOWN'

OK = 'ok'

#: Seconds in which a new machine should have become a node: the startup
#: timeout that capi-helm-charts gives machine health checks.
STARTUP = 30 * 60

#: Longest JSON of the reasons in bytes: Magnum keeps them in a column of this
#: size in MySQL (magnum/db/sqlalchemy/models.py, JSONEncodedDict: TEXT), and
#: a cluster with longer ones keeps its old health forever.
MAX_BYTES = 65535

#: Suffix of the keys of nodes.
_NODE = '.Ready'

#: What to do when Keystone refuses the cluster's application credential.
REFUSED = ('the application credential of the cluster is no longer valid '
           '(it or its user was deleted or disabled, or the user lost a '
           'role); fix: a member of the project runs "openstack coe '
           'credential rotate <cluster>"')

#: The same when the cluster does not trust the certificate of Keystone.
DISTRUST = ('the cluster does not trust the certificate of Keystone; fix: an '
            'operator names the file of its authority in '
            '[drivers]openstack_ca_file of Magnum')


def health(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
           now: datetime.datetime,
           credential: str | None = None) -> tuple[str, dict[str, str]]:
    """Judge the health of a cluster.

    :param now: aware.
    :param credential: what is wrong with the access to the cloud.
    :returns: HEALTHY, UNHEALTHY or UNKNOWN, and texts by their subject.
    """
    found = {'credential': credential} if credential else {}
    if desired.operation == 'DELETE':
        return UNKNOWN, {'cluster': 'is being deleted'} | found
    if snapshot.cluster is None:
        # That is normal before it is created, and unhealthy afterwards.
        return (UNKNOWN if desired.creating else UNHEALTHY,
                {'cluster': 'is not in the management cluster'} | found)
    ill = bool(found)
    for key, text in (('api', _api(snapshot.cluster)),
                      ('infrastructure', _infrastructure(snapshot.cluster)),
                      ('controlplane', _control_plane(snapshot, desired))):
        found[key] = reasons.cut(
            reasons.readable(text, desired), reasons.PART)
        ill |= text != OK
    for machine in _machines(snapshot, desired):
        key, text, bad = _machine(
            machine, machines.given_up(machine, snapshot.servers),
            _expected(machine, desired, snapshot), now)
        found[reasons.readable(key, desired)] = reasons.cut(
            reasons.readable(text, desired), reasons.PART)
        ill |= bad
    ill |= _groups(snapshot, desired, found)
    found = _shortened(found)
    if ill:
        # A cluster that is not created yet cannot be healthy.
        return UNKNOWN if desired.creating else UNHEALTHY, found
    return HEALTHY, found


def _api(cluster: kinds.Object) -> str:
    """Whether the API of the workload cluster answers Cluster API."""
    probe = conditions.newer(cluster).get('RemoteConnectionProbe')
    plane = (conditions.newer(cluster).get('ControlPlaneInitialized')
             or conditions.older(cluster).get('ControlPlaneInitialized'))
    for condition in (probe, plane):
        if condition and not condition.well:
            return str(condition)
    return OK if probe or plane else 'unknown'


def _infrastructure(cluster: kinds.Object) -> str:
    failure = conditions.failure_of_cluster(cluster)
    if failure:
        return failure
    known = conditions.newer(cluster) or conditions.older(cluster)
    condition = known.get('InfrastructureReady')
    if condition is None:
        return 'unknown'
    return OK if condition.well else str(condition)


def _control_plane(snapshot: snapshot_module.Snapshot,
                   desired: goal.DesiredCluster) -> str:
    plane = snapshot.control_plane
    if plane is None:
        return (OK if desired.creating
                else 'is not in the management cluster')
    failure = conditions.failure(plane)
    if failure:
        return failure
    known = conditions.newer(plane) or conditions.older(plane)
    if 'Available' not in known:
        return 'unknown'
    # "Available" tolerates the loss of a member, the others do not, but while
    # members are replaced one is always missing.
    judged = ('Available',) if desired.in_progress or _is_rolling_out(
        snapshot) else (
        'Available', 'EtcdClusterHealthy', 'ControlPlaneComponentsHealthy')
    for kind in judged:
        if kind in known and not known[kind].well:
            return str(known[kind])
    return OK


def _is_rolling_out(snapshot: snapshot_module.Snapshot) -> bool:
    """Whether members of the control plane are being replaced.

    Cluster API also does so unasked, before certificates expire.
    """
    found = conditions.newer(snapshot.control_plane or {}).get('RollingOut')
    return found is not None and found.status == 'True'


def _machines(snapshot: snapshot_module.Snapshot,
              desired: goal.DesiredCluster) -> kinds.Objects:
    """Machines that count: of node groups that exist and stay."""
    going = [group for group in desired.groups if group.deleting]
    return [machine for machine in snapshot.machines
            if not conditions.deleting(machine)
            and not any(machines.is_of(machine, group, desired)
                        for group in going)]


def _machine(machine: kinds.Object, failure: str, expected: bool,
             now: datetime.datetime) -> tuple[str, str, bool]:
    """Key and text of a machine, and whether it is unhealthy.

    Replacing a machine is normal, so one that is not a node yet gets some
    time; one that is an unhealthy node gets it only if machines of its part
    are being added or removed.
    """
    age = _age(machine, now)
    young = age is not None and age <= STARTUP
    excused = young and expected
    found = conditions.status(machine)
    node = (found.get('nodeRef') or {}).get('name')
    key = f'{node or conditions.name(machine)}{_NODE}'
    if failure:
        return key, f'False: {failure}', True
    known = conditions.newer(machine) or conditions.older(machine)
    healthy = known.get('NodeHealthy')
    if node and healthy and healthy.well:
        return key, 'True', False
    if not node:
        return key, 'False: is not a node yet', not young
    if healthy is None:
        return key, 'Unknown', not excused
    why = healthy.message or healthy.reason
    return key, f'{healthy.status}: {why}', not excused


def _expected(machine: kinds.Object, desired: goal.DesiredCluster,
              snapshot: snapshot_module.Snapshot) -> bool:
    """Whether new machines are expected in this machine's part."""
    if machines.CONTROL_PLANE in conditions.labels(machine):
        return desired.in_progress or _is_rolling_out(snapshot)
    return desired.in_progress or any(
        group.autoscaled and machines.is_of(machine, group, desired)
        for group in desired.groups)


def _age(machine: kinds.Object, now: datetime.datetime) -> float | None:
    begun = reasons.moment(
        conditions.metadata(machine).get('creationTimestamp'))
    return (now - begun).total_seconds() if begun else None


def _groups(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
            found: dict[str, str]) -> bool:
    """Add missing groups to ``found``; return whether one is missing."""
    missed = False
    for group in desired.groups:
        if (group.role == goal.MASTER or group.deleting
                or group.status.startswith('CREATE_')
                and not group.status.endswith('_COMPLETE')):
            continue
        if group.key not in snapshot.machine_deployments:
            found[f'{group.name}{_NODE}'] = (
                'False: the node group is not in the management cluster')
            missed = True
    return missed


def _shortened(found: dict[str, str]) -> dict[str, str]:
    """The reasons that Magnum can keep; healthy nodes are left out first."""
    if len(json.dumps(found)) <= MAX_BYTES:
        return found
    kept, left = set(), MAX_BYTES - len(json.dumps(_left_out(len(found))))
    for key in sorted(found, key=lambda key: (
            key.endswith(_NODE), found[key] == 'True')):
        size = len(json.dumps({key: found[key]}))
        if size <= left:
            kept.add(key)
            left -= size
    return {**{key: text for key, text in found.items() if key in kept},
            **_left_out(len(found) - len(kept))}


def _left_out(number: int) -> dict[str, str]:
    return {'more': f'{number} left out'}
