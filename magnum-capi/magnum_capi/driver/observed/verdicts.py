# SPDX-License-Identifier: Apache-2.0

"""The answer of a judgement, and what both kinds of it have in common."""

import dataclasses
import datetime

from magnum_capi.driver.observed import conditions

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
    :param groups: GroupVerdict by the key of the node group.
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
    groups: dict = dataclasses.field(default_factory=dict)
    action: str = NOTHING
    unseen: frozenset = frozenset()
    failing: dict = dataclasses.field(default_factory=dict)
    turn: str = ''

    @property
    def missing(self):
        """Whether the operation never got to the management cluster."""
        return self.action in (APPLY, REPAIR)


def age(wanted, now):
    """Seconds since the operation began, None when that is not known."""
    if not isinstance(wanted.since, datetime.datetime):
        return None
    return (now - wanted.since).total_seconds()


def address(cluster):
    """URL of the workload cluster's API, None when not known."""
    endpoint = conditions.spec(cluster or {}).get('controlPlaneEndpoint') or {}
    host, port = endpoint.get('host'), endpoint.get('port')
    if not host or not port:
        return None
    return f'https://[{host}]:{port}' if ':' in host else (
        f'https://{host}:{port}')


def version(snapshot):
    """Lowest version that the control plane runs, None when not known."""
    plane = snapshot.get('control_plane', None)
    return conditions.status(plane).get('version') if plane else None
