# SPDX-License-Identifier: Apache-2.0


"""What the driver records of a cluster, in addition to Magnum's rows.

The recorded state is one Secret in the management cluster, written only over
the content that was read before: who lost the lock can overwrite nothing. It
has the record of application credentials with their secrets (see
``credentials``), when the present operation began (Magnum's updated_at changes
with every save), what was observed of it, which node groups were ever handed
to Helm, and the desired values. So every conductor knows what another one
observed. Times are by the management cluster's clock.
"""

import dataclasses
import datetime
import json
import typing

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import goal
from magnum_capi import errors

#: Key of the Secret.
KEY = 'state.json'

#: Version of the content. It is raised when an earlier driver must not go on
#: with what a later one wrote; content without a version is older than 1.
SCHEMA = 1


class Unreadable(errors.MagnumCapiError):
    """The state of a cluster cannot be read, so nothing can be done.

    Its Secret is left as it is: without it, the credentials that it names
    would stay in Keystone.
    """


class Damaged(Unreadable):
    """Its content is invalid.

    :param release: of the cluster.
    :param cause: the error of the content, which is not shown.
    """

    def __init__(self, release: str, namespace: str,
                 cause: Exception) -> None:
        super().__init__(
            f'The Secret {name(release)} with the state of the cluster is '
            'damaged; its operator must restore it', where=namespace,
            last_seen=type(cause).__name__,
            hint='Restore it from a backup of the management cluster; until '
                 'then nothing is done with the cluster. Without a backup, '
                 'delete it, unless another driver created the cluster: the '
                 'next request makes a new credential')


class Newer(Unreadable):
    """A later release of the driver wrote it.

    What this release does not know would be lost.
    """

    def __init__(self, release: str, schema: int) -> None:
        super().__init__(
            f'The Secret {name(release)} with the state of the cluster is of '
            f'a newer release of the driver', last_seen=f'schema {schema}',
            hint='Install the same release on all conductors')


@dataclasses.dataclass(frozen=True)
class Adopted:
    """What another driver used, and what is needed to undo the adoption.

    :param groups: names of node groups in the chart's values, by uuid.
    :param revision: of the Helm release at the time of the adoption.
    :param driver: that the template named; None: it named none.
    :param images: former images of rows of node groups that were changed, by
        uuid.
    """

    groups: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    revision: int = 0
    driver: str | None = None
    images: typing.Mapping[str, str | None] = dataclasses.field(
        default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Former:
    """What a cluster had before an upgrade that is not applied yet.

    :param desired: chart and values.
    :param images: image ids in rows of node groups, by uuid.
    :param deferred: see State.
    :param in_rows: whether Magnum's rows have the upgrade. Only recorded of
        one to the present template; the row of any other names its template.
    """

    desired: desired_values.DesiredValues
    images: typing.Mapping[str, str | None] = dataclasses.field(
        default_factory=dict)
    deferred: typing.Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict)
    in_rows: bool = False


@dataclasses.dataclass(frozen=True)
class State:
    """The recorded state of a cluster.

    :param operation: CREATE, UPDATE, DELETE; empty when none is in progress.
    :param since: when it began, aware datetime.
    :param applied: uuids of non-default node groups that were handed to Helm.
        One that failed before that has left nothing behind.
    :param secrets: of the credentials, by name.
    :param batch: nodes of a group that the present upgrade replaces at once,
        None: the chart's default.
    :param desired: chart and values; None: the cluster is not created yet, or
        the state was lost.
    :param failing: what is seen to fail in the operation, and since when;
        see ``verdicts.Verdict.failing``.
    :param progress: None before the cluster was first read whole.
    :param failed: why the last operation ended as FAILED, if that was because
        of the observed state; the text that Magnum has as status_reason.
    :param marked: names of the Machines that a user named for removal; they
        are marked when Helm is run, and the mark is removed at the end from
        those that still exist.
    :param sizes: of node groups, by uuid, that were requested, the first one
        included, and that are not set yet: charts leave those of autoscaled
        groups to the autoscaler.
    :param deferred: node groups whose upgrade waits for its turn, by uuid:
        pairs of image id and Kubernetes version that they keep until then.
        This survives a failed operation, so that the next one continues in
        order.
    :param adopted: None: this driver created the cluster.
    :param former: None: no upgrade waits to be applied.
    :param generation: number of the last request; each raises it.
    :param version: resourceVersion of the Secret that this was read from;
        None: there is none. It is not part of the content.
    """

    operation: str = ''
    since: datetime.datetime | None = None
    applied: frozenset[str] = frozenset()
    record: credentials.Record = ()
    secrets: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict, repr=False)
    batch: int | None = None
    desired: desired_values.DesiredValues | None = None
    failing: typing.Mapping[str, datetime.datetime] = dataclasses.field(
        default_factory=dict)
    progress: goal.Progress | None = None
    failed: str = ''
    marked: tuple[str, ...] = ()
    sizes: typing.Mapping[str, int] = dataclasses.field(default_factory=dict)
    deferred: typing.Mapping[str, tuple[str, str]] = dataclasses.field(
        default_factory=dict)
    adopted: Adopted | None = None
    former: Former | None = None
    generation: int = 0
    version: str | None = dataclasses.field(default=None, compare=False)

    @property
    def values(self) -> typing.Mapping[str, typing.Any]:
        """The last values of the cluster; empty: it has none yet."""
        return self.desired.values if self.desired else {}


def name(release: str) -> str:
    """Name of the Secret."""
    return f'{release}-magnum'


def begun(state: State, operation: str, now: datetime.datetime) -> State:
    """The state after a request for an operation."""
    return dataclasses.replace(
        state, operation=operation, since=now, failing={}, progress=None,
        failed='', generation=state.generation + 1)


def resumed(state: State, operation: str,
            now: datetime.datetime) -> State:
    """The state for an operation found in progress; it may be a lost one."""
    if state.operation == operation and state.since:
        return state
    return begun(state, operation, now)


def ended(state: State, failed: str = '') -> State:
    """The state after the end of an operation.

    :param failed: see State.
    """
    return dataclasses.replace(
        state, operation='', since=None, batch=None, failing={},
        progress=None, failed=failed, marked=(), sizes={})


def with_record(state: State, record: credentials.Record,
                **secrets: str) -> State:
    """The state with another record; secrets without an entry are dropped."""
    names = {entry.name for entry in record}
    return dataclasses.replace(state, record=record, secrets={
        name: secret for name, secret in {**state.secrets, **secrets}.items()
        if name in names})


def dump(state: State) -> str:
    """The content of the Secret, JSON.

    Its keys are older than the names of some fields. They do not change:
    clusters live longer than releases of the driver.
    """
    return json.dumps({
        'schema': SCHEMA,
        'generation': state.generation,
        'operation': state.operation,
        'since': _text(state.since),
        'applied': sorted(state.applied),
        'batch': state.batch,
        'kept': desired_values.dump(state.desired),
        'failing': {key: _text(since)
                    for key, since in state.failing.items()},
        'progress': state.progress and {
            'at': _text(state.progress.at),
            'looked': _text(state.progress.observed_at),
            'left': dict(state.progress.left)},
        'failed': state.failed,
        'marked': list(state.marked),
        'sizes': dict(state.sizes),
        'held': dict(state.deferred),
        'adopted': state.adopted and dataclasses.asdict(state.adopted),
        'former': state.former and {
            'kept': desired_values.dump(state.former.desired),
            'images': dict(state.former.images),
            'held': dict(state.former.deferred),
            'in_rows': state.former.in_rows},
        'record': [{**dataclasses.asdict(entry),
                    'applied_at': _text(entry.applied_at)}
                   for entry in state.record],
        'secrets': dict(state.secrets),
    }, sort_keys=True)


def load(text: str, release: str = '') -> State:
    """Read what :func:`dump` wrote, also before there was a SCHEMA.

    :param release: of the cluster, for the error.
    :raises Newer: of a later SCHEMA.
    :raises ValueError, KeyError, TypeError, AttributeError: it is invalid.
    """
    found = json.loads(text)
    if int(found.get('schema', 0)) > SCHEMA:
        raise Newer(release, found['schema'])
    record = tuple(map(_entry, found.get('record', ())))
    return State(found.get('operation', ''), _time(found.get('since')),
                 frozenset(found.get('applied', ())),
                 record,
                 dict(found.get('secrets', {})), found.get('batch'),
                 desired_values.load(found.get('kept')),
                 {key: datetime.datetime.fromisoformat(since)
                  for key, since in found.get('failing', {}).items()},
                 _progress(found.get('progress')), found.get('failed', ''),
                 tuple(found.get('marked', ())), dict(found.get('sizes', {})),
                 _deferred(found), _adopted(found.get('adopted')),
                 _former(found.get('former')),
                 int(found.get('generation', 0)))


def _entry(found: typing.Mapping[str, typing.Any]) -> credentials.Entry:
    """An entry of the record, perhaps with a stage that there was once."""
    fields = {field.name for field in dataclasses.fields(credentials.Entry)}
    known = {key: value for key, value in found.items() if key in fields}
    known['applied_at'] = _time(found.get('applied_at'))
    if known.get('stage') in ('adopted', 'retired'):
        known['outgoing'] = (
            known['stage'] == 'retired' or known.get('outgoing', False))
        known['stage'] = (credentials.APPLIED if known.get('id')
                          else credentials.PLANNED)
    return credentials.Entry(**known)


def _deferred(found: typing.Mapping[str, typing.Any]
              ) -> dict[str, tuple[str, str]]:
    return {uuid: (image, version)
            for uuid, (image, version) in found.get('held', {}).items()}


def _former(found: typing.Mapping[str, typing.Any] | None) -> Former | None:
    desired = desired_values.load(found['kept']) if found else None
    return None if not (found and desired) else Former(
        desired, dict(found['images']), _deferred(found),
        # Earlier releases did not record this.
        found.get('in_rows', True))


def _adopted(found: typing.Mapping[str, typing.Any] | None
             ) -> Adopted | None:
    fields = {field.name for field in dataclasses.fields(Adopted)}
    return None if found is None else Adopted(**{
        key: value for key, value in found.items() if key in fields})


def _progress(found: typing.Mapping[str, typing.Any] | None
              ) -> goal.Progress | None:
    return goal.Progress(
        datetime.datetime.fromisoformat(found['at']),
        datetime.datetime.fromisoformat(found['looked']),
        {part: tuple(pair) for part, pair in found['left'].items()}
    ) if found else None


def _text(moment: datetime.datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _time(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text) if text else None
