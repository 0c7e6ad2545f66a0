# SPDX-License-Identifier: Apache-2.0

"""The result of judging a cluster, and what deletions share with the rest."""

import dataclasses
import datetime
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import versions
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: Actions that the driver must take before the operation can end.
NOTHING = ''
#: Apply the desired state again: a request was lost or has not arrived.
APPLY = 'apply'
#: Repeat delete requests that were lost or never sent.
DELETE = 'delete'
#: Upgrade the next node group.
ADVANCE = 'advance'


@dataclasses.dataclass(frozen=True)
class GroupVerdict:
    """The status of a node group.

    :param status: Magnum's, ``CREATE_COMPLETE`` ...
    :param reason: text, may be empty.
    :param count: machines that it should have according to the management
        cluster; None when unknown. For autoscaled groups this is the
        node_count.
    :param gone: whether the row can be removed.
    """

    status: str
    reason: str = ''
    count: int | None = None
    gone: bool = False


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The status of a cluster, and what to do next.

    :param status: Magnum's, ``CREATE_IN_PROGRESS`` ...
    :param reason: one readable text, empty when everything is good.
    :param api_address: URL as soon as it is known, else None.
    :param coe_version: lowest that a node runs, None when unknown.
    :param groups: by the key of the node group.
    :param action: NOTHING, APPLY, DELETE or ADVANCE; NOTHING when no
        operation is in progress.
    :param turn: key of the node group that is upgraded next, with ADVANCE.
    :param failing: failures, and when each was first seen: aware datetimes by
        ``<part of the snapshot>/<name>``. A lasting failure ends the
        operation, so the caller must keep this
        (``goal.DesiredCluster.failing``).

    ``DELETE_COMPLETE`` means that the management cluster has nothing left; the
    driver removes credentials and Secrets before it reports this.
    """

    status: str
    reason: str = ''
    api_address: str | None = None
    coe_version: str | None = None
    groups: typing.Mapping[str, GroupVerdict] = dataclasses.field(
        default_factory=dict)
    action: str = NOTHING
    failing: typing.Mapping[str, datetime.datetime] = dataclasses.field(
        default_factory=dict)
    turn: str = ''

    @property
    def is_complete(self) -> bool:
        return self.status.endswith('_COMPLETE')


def age(desired: goal.DesiredCluster, now: datetime.datetime) -> float | None:
    """Seconds since the operation began, None when unknown."""
    if desired.since is None:
        return None
    return (now - desired.since).total_seconds()


def address(cluster: kinds.Object | None) -> str | None:
    """URL of the workload cluster's API, None when unknown."""
    endpoint = conditions.spec(cluster or {}).get('controlPlaneEndpoint') or {}
    host, port = endpoint.get('host'), endpoint.get('port')
    if not host or not port:
        return None
    return f'https://[{host}]:{port}' if ':' in host else (
        f'https://{host}:{port}')


def version(snapshot: snapshot_module.Snapshot) -> str | None:
    """Lowest version that any node runs, None when unknown.

    An upgrade replaces the control plane first: its version alone would be
    shown while workers are older.
    """
    plane = snapshot.control_plane
    own = conditions.status(plane).get('version') if plane else None
    if not own:
        return None
    found: list[str] = [own, *(
        str(conditions.spec(machine).get('version'))
        for machine in snapshot.machines)]
    return min(filter(versions.is_version, found), key=versions.parse,
               default=None)
