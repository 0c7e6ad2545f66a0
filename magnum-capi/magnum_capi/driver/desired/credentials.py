# SPDX-License-Identifier: Apache-2.0

"""The record of a cluster's application credentials. Pure.

Keystone chooses a credential's id and shows its secret once, so a process that
dies at the wrong moment leaves a credential that cannot be used. Therefore its
name is recorded before it is created, its id before it is used, and it is
deleted in Keystone before its record is dropped. Every step can be repeated.

Keystone's response can be lost, too: a proxy in front of a slow Keystone, or
keystoneauth with ``connect_retries`` (5.18.1, session.py: of any method, after
a timeout as well), sends the request again, and Keystone refuses the second
one, because the name exists. Names are never used twice, so the first request
created the credential, and its secret is lost: the credential is looked up,
deleted and created again, like after a crash.

Rotation has two phases: the new credential is created, recorded and applied,
and only when everything that reads it has taken it up, the old one is deleted.
Until then both are valid, so nodes need not be replaced.

A record is a tuple of entries; the driver keeps it in the management cluster,
together with the secrets, and writes all of it at once. ``ownership`` acts on
it.
"""

import dataclasses
import datetime
import typing

#: Keystone's answer about a credential: authenticated, refused, no answer;
#: or the cluster has no CA certificate for the one that Keystone shows.
VALID = 'valid'
INVALID = 'invalid'
UNKNOWN = 'unknown'
UNTRUSTED = 'untrusted'

#: Stages of an entry, in this order.
PLANNED = 'planned'     # name recorded; Keystone may or may not have it
MADE = 'made'           # id recorded, secret kept; not in use
APPLIED = 'applied'     # in the Secret that the cluster reads


@dataclasses.dataclass(frozen=True)
class Entry:
    """A credential that is or may be in Keystone.

    :param name: in Keystone, never used twice.
    :param user_id: of its owner; only the owner or an administrator can delete
        it.
    :param stage: PLANNED, MADE or APPLIED.
    :param id: in Keystone, None while PLANNED.
    :param applied_at: aware datetime, once applied.
    :param outgoing: whether it should be replaced.
    """

    name: str
    user_id: str
    stage: str = PLANNED
    id: str | None = None
    applied_at: datetime.datetime | None = None
    outgoing: bool = False


#: Oldest first.
Record: typing.TypeAlias = tuple[Entry, ...]


def changed(record: Record, entry: Entry, **changes: typing.Any) -> Record:
    """The record with an entry that has changed."""
    return tuple(dataclasses.replace(other, **changes)
                 if other == entry else other for other in record)


def without(record: Record, entry: Entry) -> Record:
    """The record without an entry, which Keystone does not have."""
    return tuple(other for other in record if other != entry)


def rotate(record: Record) -> Record:
    """The record that asks for a rotation; writing it starts one.

    Any process that finds it continues the rotation, so it is not lost. A
    credential that is MADE but not yet recorded as APPLIED may already be in
    the cluster's Secret, so nothing is dropped here.
    """
    return tuple(dataclasses.replace(entry, outgoing=True)
                 for entry in record)


def begun(record: Record) -> Entry | None:
    """The first entry that is not applied yet, None: all are."""
    return next((entry for entry in record if entry.stage != APPLIED), None)


def in_use(record: Record) -> Entry | None:
    """The credential that the cluster uses; None before there is one.

    A cluster can be created as soon as there is one.
    """
    used = [entry for entry in record if entry.stage == APPLIED]
    return used[-1] if used else None


def obtained(record: Record) -> bool:
    """Whether there is a credential for the cluster, in use or not.

    From then on a creation can continue without a user's token.
    """
    return any(entry.stage in (MADE, APPLIED) for entry in record)
