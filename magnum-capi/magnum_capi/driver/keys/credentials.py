# SPDX-License-Identifier: Apache-2.0

"""The life of a cluster's application credential, as steps. Pure.

Keystone chooses a credential's id and shows its secret once, so a process that
dies at the wrong moment leaves a credential that cannot be used. Therefore its
name is recorded before it is created, its id before it is used, and it is
deleted in Keystone before its record is dropped. Every step can be repeated;
after a crash ``next_step`` of the record says how to continue.

Keystone's response can be lost, too: a proxy in front of a slow Keystone, or
keystoneauth with ``connect_retries`` (5.18.1, session.py: of any method, after
a timeout as well), sends the request again, and Keystone refuses the second
one, because the name exists. Names are never used twice, so the first request
created the credential, and its secret is lost: the credential is looked up,
deleted and created again, like after a crash.

Rotation has two phases: the new credential is created, recorded and applied,
and only when it is adopted (see :func:`adopted`) the old one is deleted. Until
then both are valid, so nodes need not be replaced.

A record is a tuple of entries; the driver keeps it in the management cluster,
together with the secrets, and writes all of it at once.
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
ADOPTED = 'adopted'     # in use by everything that reads it
RETIRED = 'retired'     # no longer needed; to be deleted

#: Desired state: a valid credential (the record requests a rotation, see
#: :func:`rotate`), or none, once the cluster is gone.
KEEP = 'keep'
REMOVE = 'remove'

#: Kinds of steps; see Step.
PLAN = 'plan'
LOOK = 'look'
MAKE = 'make'
APPLY = 'apply'
WAIT = 'wait'
ADOPT = 'adopt'
RETIRE = 'retire'
DELETE = 'delete'
FORGET = 'forget'
DONE = 'done'

#: Minimum seconds for controllers to read a changed Secret.
SETTLE = 30
#: Seconds after which a credential counts as adopted if its use cannot be
#: observed (a chart without addons that use it), or is reported as overdue if
#: it is seen not to be in use.
BOUND = 15 * 60

_NO_TOKEN = 'a member of its project must request a new credential'


@dataclasses.dataclass(frozen=True)
class Entry:
    """A credential that is or may be in Keystone.

    :param name: in Keystone, never used twice.
    :param user_id: of its owner; only the owner or an administrator can delete
        it.
    :param stage: PLANNED, MADE, APPLIED, ADOPTED or RETIRED.
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


@dataclasses.dataclass(frozen=True)
class State:
    """All that the next step depends on.

    :param wish: KEEP or REMOVE.
    :param now: aware datetime.
    :param user_id: of the user whose token is available; None: no token. In
        Keystone only the user can create the user's application credentials.
    :param fresh: makes a name never used before; see ``delegation.name``.
    :param found: ids in Keystone by name, for each user who was looked up,
        for entries without an id; empty after a MAKE.
    :param adopted: of the applied entry: True, False, or None when unknown;
        see :func:`adopted`.
    :param gone: ids that are known to be gone from Keystone.
    :param settle: seconds, see SETTLE.
    :param bound: seconds, see BOUND.
    """

    record: Record
    wish: str
    now: datetime.datetime
    user_id: str | None
    fresh: typing.Callable[[], str]
    found: typing.Mapping[str, typing.Mapping[str, str]] = (
        dataclasses.field(default_factory=dict))
    adopted: bool | None = None
    gone: frozenset[str] = frozenset()
    settle: float = SETTLE
    bound: float = BOUND


@dataclasses.dataclass(frozen=True)
class Step:
    """What to do next. The caller does exactly this, then asks again.

    ========= =========================================================
    PLAN      write ``record``
    LOOK      look up the names of ``entry.user_id`` at Keystone, into
              ``State.found``
    MAKE      create ``entry.name`` at Keystone with a token of
              ``entry.user_id``, then write the record of :func:`made`, with
              the secret, in one write. Refused because the name is there:
              nothing, ask again
    APPLY     write the Secret that the cluster reads, then ``record``
    WAIT      nothing; ask again later. ``reason`` says what for
    ADOPT     write ``record``
    RETIRE    write ``record``
    DELETE    delete ``id`` at Keystone; "not found" is success; remember
              it in ``State.gone``
    FORGET    write ``record``; the secret goes with it
    DONE      nothing, the wish is fulfilled
    ========= =========================================================

    :param record: to be written, or None.
    :param overdue: whether a WAIT is longer than BOUND: the operator should
        check; both credentials stay valid.
    """

    kind: str
    entry: Entry | None = None
    record: Record | None = None
    id: str | None = None
    reason: str = ''
    overdue: bool = False


def made(record: Record, entry: Entry, credential_id: str) -> Record:
    """The record once an entry's credential exists.

    :returns: to be written before the credential is used for anything.
    """
    return _with(record, entry, stage=MADE, id=credential_id)


def rotate(record: Record) -> Record:
    """The record that asks for a rotation; writing it starts one.

    Any process that finds it continues the rotation, so it is not lost. A
    credential that is MADE but not yet recorded as APPLIED may already be in
    the cluster's Secret, so nothing is retired here.
    """
    return tuple(
        entry if entry.stage == RETIRED
        else dataclasses.replace(entry, outgoing=True) for entry in record)


def in_use(record: Record) -> Entry | None:
    """The credential that the cluster uses; None before there is one.

    A cluster can be created as soon as there is one.
    """
    used = [entry for entry in record if entry.stage in (APPLIED, ADOPTED)]
    return used[-1] if used else None


def obtained(record: Record) -> bool:
    """Whether there is a credential for the cluster, in use or not.

    From then on a creation can continue without a user's token.
    """
    return any(entry.stage in (MADE, APPLIED, ADOPTED) for entry in record)


def adopted(applied_id: str | None, entry: Entry,
            taken_up: tuple[bool, str] | None) -> bool | None:
    """Whether a credential is in use by everything that reads it.

    Cluster API's provider reads the Secret in each reconciliation, so for it
    the Secret is sufficient. Addons run in the workload cluster with a copy,
    which their provider replaces.

    :param applied_id: id in the Secret now, read back.
    :param entry: APPLIED.
    :param taken_up: what ``addons.uses_current_secret`` returns for it.
    :returns: True, False, or None when unknown.
    """
    if applied_id != entry.id:
        return False
    return None if taken_up is None else taken_up[0]


def next_step(state: State) -> Step:
    """The next step, for any record that a crash can leave."""
    for step in (_clean, _remove, _bring_in, _replace):
        found = step(state)
        if found:
            return found
    return Step(DONE)


def _clean(state: State) -> Step | None:
    """Delete what is no longer needed: in Keystone, then in the record."""
    for entry in state.record:
        if entry.stage != RETIRED:
            continue
        if entry.id is None:
            unresolved = _resolve(state, entry)
            if unresolved:
                return unresolved
        elif entry.id not in state.gone:
            return Step(DELETE, entry, id=entry.id)
        return Step(FORGET, entry, tuple(
            other for other in state.record if other != entry))
    return None


def _remove(state: State) -> Step | None:
    if state.wish != REMOVE or not state.record:
        return None
    return _retire(state, state.record[0])


def _bring_in(state: State) -> Step | None:
    """Complete entries that are PLANNED or MADE."""
    for entry in state.record:
        if entry.stage == PLANNED:
            return _resolve(state, entry) or _make(state, entry)
        if entry.stage == MADE:
            return Step(APPLY, entry, _with(
                state.record, entry, stage=APPLIED, applied_at=state.now))
    return None


def _make(state: State, entry: Entry) -> Step:
    # No longer needed, or now needed for another user: it is not created.
    if entry.outgoing or state.user_id not in (None, entry.user_id):
        return _retire(state, entry)
    if state.user_id is None:
        return Step(WAIT, entry, reason=_NO_TOKEN)
    return Step(MAKE, entry)


def _replace(state: State) -> Step | None:
    """Replace older entries with the last one that was applied."""
    if state.wish == REMOVE:
        return None
    if not state.record or state.record[-1].outgoing:
        if state.user_id is None:
            return Step(WAIT, reason=_NO_TOKEN)
        entry = Entry(state.fresh(), state.user_id)
        return Step(PLAN, entry, (*state.record, entry))
    last = state.record[-1]
    if last.stage == APPLIED:
        return _wait(state, last) or Step(ADOPT, last, _with(
            state.record, last, stage=ADOPTED))
    return _retire(state, state.record[0]) if len(state.record) > 1 else None


def _resolve(state: State, entry: Entry) -> Step | None:
    """Resolve a name without an id after a crash: Keystone may have it.

    Names are only unique per user, so the owner's credentials are searched.

    Its secret is lost, so it is useless: it is deleted by its id.
    """
    if entry.user_id not in state.found:
        return Step(LOOK, entry)
    known = state.found[entry.user_id].get(entry.name)
    if known is None or known in state.gone:
        return None
    return Step(DELETE, entry, id=known)


def _wait(state: State, entry: Entry) -> Step | None:
    if len(state.record) == 1:
        return None
    age = (state.now - (entry.applied_at or state.now)).total_seconds()
    if age < state.settle:
        return Step(WAIT, entry, reason='the new credential was just applied')
    if state.adopted or (state.adopted is None and age >= state.bound):
        return None
    return Step(
        WAIT, entry, overdue=age >= state.bound,
        reason='the new credential is applied but not yet taken up')


def _retire(state: State, entry: Entry) -> Step:
    return Step(RETIRE, entry, _with(state.record, entry, stage=RETIRED))


def _with(record: Record, entry: Entry, **changes: typing.Any) -> Record:
    return tuple(dataclasses.replace(other, **changes)
                 if other == entry else other for other in record)
