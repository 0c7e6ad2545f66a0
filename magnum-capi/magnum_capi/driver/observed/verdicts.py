# SPDX-License-Identifier: Apache-2.0

"""The answer of a judgement, and what both kinds of it have in common."""

import dataclasses
import datetime
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: What the driver has to do before the operation can end.
NOTHING = ''
#: Apply what is wanted, again: a request was lost or is not yet here.
APPLY = 'apply'
#: Bring the Helm release out of the state in which a killed Helm left it,
#: then apply. Only who holds the cluster's lock may conclude that.
REPAIR = 'repair'
#: Ask again for the deletion of what nobody has asked to delete.
DELETE = 'delete'
#: Upgrade the next node group.
ADVANCE = 'advance'


@dataclasses.dataclass(frozen=True)
class GroupVerdict:
    """The status of a node group.

    :param status: of Magnum, ``CREATE_COMPLETE`` ...
    :param reason: text, empty when there is nothing to say.
    :param count: machines that it is to have by what is there; None when
        not known. Of autoscaled groups this is the node_count.
    :param gone: whether the row can be removed.
    """

    status: str
    reason: str = ''
    count: int | None = None
    gone: bool = False


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The status of a cluster, and what to do next.

    :param status: of Magnum, ``CREATE_IN_PROGRESS`` ...
    :param reason: one readable text, empty when all is well.
    :param api_address: URL as soon as it is known, else None.
    :param coe_version: that the control plane runs, None when not known.
    :param groups: by the key of the node group.
    :param action: NOTHING, APPLY, REPAIR, DELETE or ADVANCE; NOTHING when no
        operation is in progress.
    :param turn: key of the node group that is upgraded next, with ADVANCE.
    :param unseen: parts of the Snapshot to read: with them the answer could
        be another. Empty when what was seen is enough.
    :param failing: what controllers gave up, and when it was first seen to
        be so: aware datetimes by ``<part of the snapshot>/<name>``. It ends
        the operation once it lasts, and has to be remembered for that
        (``goal.Wanted.failing``).

    ``DELETE_COMPLETE`` means that the management cluster has nothing left;
    credentials and Secrets are the driver's business, before it says so.
    """

    status: str
    reason: str = ''
    api_address: str | None = None
    coe_version: str | None = None
    groups: typing.Mapping[str, GroupVerdict] = dataclasses.field(
        default_factory=dict)
    action: str = NOTHING
    unseen: frozenset[str] = frozenset()
    failing: typing.Mapping[str, datetime.datetime] = dataclasses.field(
        default_factory=dict)
    turn: str = ''

    @property
    def missing(self) -> bool:
        """Whether the operation never got to the management cluster."""
        return self.action in (APPLY, REPAIR)


def age(wanted: goal.Wanted, now: datetime.datetime) -> float | None:
    """Seconds since the operation began, None when that is not known."""
    if wanted.since is None:
        return None
    return (now - wanted.since).total_seconds()


def address(cluster: kinds.Object | None) -> str | None:
    """URL of the workload cluster's API, None when not known."""
    endpoint = conditions.spec(cluster or {}).get('controlPlaneEndpoint') or {}
    host, port = endpoint.get('host'), endpoint.get('port')
    if not host or not port:
        return None
    return f'https://[{host}]:{port}' if ':' in host else (
        f'https://{host}:{port}')


def version(snapshot: snapshot_module.Snapshot) -> str | None:
    """Lowest version that the control plane runs, None when not known."""
    plane = snapshot.get('control_plane', None)
    return conditions.status(plane).get('version') if plane else None
