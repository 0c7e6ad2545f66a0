# SPDX-License-Identifier: Apache-2.0

"""What must hold for a cluster in a quiet period; pure.

:class:`Expected` is the desired state, :class:`Seen` the observed one, from
Magnum's API and from Cluster API's objects. :func:`problems` compares them.
"""

import collections.abc
import dataclasses
import enum

from tests.proofs.soak import stories

WORKERS, MASTERS = stories.WORKERS, 'default-master'

#: Statuses in which Magnum's conductor accepts a resize; in any other, its API
#: accepts the request and the conductor silently drops it (magnum 23.0.0,
#: conductor/handlers/cluster_conductor.py, cluster_resize).
TAKEN = frozenset(('CREATE_COMPLETE', 'UPDATE_COMPLETE', 'UPDATE_FAILED',
                   'UPDATE_IN_PROGRESS'))


class Answer(enum.Enum):
    """Answer of Magnum's API to a request; UNKNOWN: none, or a 5xx."""

    ACCEPTED = 'accepted'
    REFUSED = 'refused'
    UNKNOWN = 'unknown'


@dataclasses.dataclass(frozen=True)
class Field:
    """One part of the desired state.

    :param values: the value in the last quiet period, then the values
        requested since, in order.
    :param doubt: whether values other than the last one are possible.
    """

    values: tuple
    doubt: bool = False

    def asked(self, value, answer, doubt=False) -> 'Field':
        if answer is Answer.REFUSED:
            return self
        return Field((*self.values, value),
                     self.doubt or doubt or answer is Answer.UNKNOWN)

    @property
    def allowed(self):
        return self.values if self.doubt else self.values[-1:]


@dataclasses.dataclass(frozen=True)
class Expected:
    """The desired state of a cluster after its users' requests.

    :param there: Field of booleans.
    :param release: Field of pairs: uuid of the template and Kubernetes'
        version.
    :param counts: by the node group's name: Field of numbers of nodes, None
        if there is no such group.
    :param uids: by the node group's name: the Machines of the last quiet
        period that no fault has removed since.
    :param rolled: whether other machines were requested.
    :param excused: whether there was a fault since then, so that the cluster
        may have failed.
    """

    there: Field = Field((False,))
    release: Field = Field((('', ''),))
    counts: dict = dataclasses.field(default_factory=dict)
    uids: dict = dataclasses.field(default_factory=dict)
    rolled: bool = False
    excused: bool = False

    def count(self, group) -> Field:
        return self.counts.get(group, Field((None,)))


@dataclasses.dataclass(frozen=True)
class Machine:
    """A Machine of Cluster API.

    :param runs: whether its phase is Running and it is not being deleted.
    """

    uid: str
    version: str
    runs: bool = True


@dataclasses.dataclass(frozen=True)
class Group:
    """A node group in Magnum, and its Machines."""

    status: str
    count: int
    machines: tuple[Machine, ...] = ()


@dataclasses.dataclass(frozen=True)
class Seen:
    """The observed state of a cluster.

    :param status: Magnum's; None: it has no such cluster.
    :param release: as in Expected.
    :param groups: by name.
    :param strangers: Machines of the cluster outside of Magnum's node groups.
    :param credentials: number of application credentials made for it.
    """

    status: str | None = None
    reason: str = ''
    release: tuple[str, str] = ('', '')
    groups: dict = dataclasses.field(default_factory=dict)
    strangers: tuple[str, ...] = ()
    credentials: int = 0

    @property
    def statuses(self) -> tuple[str, ...]:
        return (self.status or 'gone',
                *(group.status for group in self.groups.values()))

    @property
    def has_failed(self) -> bool:
        """Whether something has failed and is not being worked on."""
        return any(s.endswith('_FAILED') for s in self.statuses) and not any(
            s.endswith('_IN_PROGRESS') for s in self.statuses)

    @property
    def said(self):
        """All statuses that Magnum reports."""
        return (self.status, self.release, [
            (name, group.status, group.count)
            for name, group in sorted(self.groups.items())])

    def is_all(self, end) -> bool:
        return all(status.endswith(end) for status in self.statuses)


def asked(expected, step, answer, doubt=False, release=None) -> Expected:
    """The desired state after a request.

    :param step: stories.Step.
    :param doubt: whether Magnum itself may have lost the accepted request.
    :param release: of the template that the step names.
    """
    if step.op == 'rotate-ca':
        # Magnum itself turns a refusal of the driver into a failure.
        return dataclasses.replace(expected, excused=True)
    if answer is Answer.REFUSED:
        return expected
    args, changes = step.args, {}

    def count(group, number):
        return {**expected.counts, group: expected.count(group).asked(
            number, answer, doubt)}

    if step.op == 'create':
        changes = {
            'there': expected.there.asked(True, answer, doubt),
            'release': Field((release,)),
            'counts': {MASTERS: Field((1,)), WORKERS: Field((int(args[1]),))}}
    elif step.op in ('resize', 'add-group'):
        changes = {'counts': count(args[1], int(args[2]))}
    elif step.op == 'remove-group':
        changes = {'counts': count(args[1], None)}
    elif step.op == 'upgrade':
        changes = {'rolled': True, 'release': expected.release.asked(
            release, answer, doubt)}
    elif step.op == 'delete':
        changes = {'there': expected.there.asked(False, answer, doubt)}
    excused = expected.excused or any(
        arg.startswith('fault.') for arg in args)
    return dataclasses.replace(expected, excused=excused, **changes)


def failed(expected) -> Expected:
    """The desired state of a cluster that was seen to have failed.

    Depending on the moment, Magnum restores the old values or does not.
    """
    def doubted(field):
        return dataclasses.replace(field, doubt=True)

    return dataclasses.replace(
        expected, there=doubted(expected.there),
        release=doubted(expected.release),
        counts={name: doubted(f) for name, f in expected.counts.items()})


def without(expected, uid) -> Expected:
    """The desired state after a fault has removed a Machine."""
    return dataclasses.replace(expected, uids={
        name: uids - {uid} for name, uids in expected.uids.items()})


def doubtful(expected) -> bool:
    """Whether a request may still be on its way."""
    return any(field.doubt for field in (
        expected.there, expected.release, *expected.counts.values()))


def cure(seen, cluster) -> stories.Step:
    """What a user would do after a failure."""
    if seen.status in ('CREATE_FAILED', 'DELETE_FAILED'):
        return stories.step('delete', cluster)
    for name, group in seen.groups.items():
        if group.status.endswith('_FAILED') and name not in (
                WORKERS, MASTERS):
            return stories.step('remove-group', cluster, name)
    return stories.step('resize', cluster, WORKERS,
                        seen.groups[WORKERS].count)


def quiet(seen) -> Expected:
    """The desired state from now on, given a correct observed state."""
    if seen.status is None:
        return Expected()
    return Expected(
        Field((True,)), Field((seen.release,)),
        {name: Field((group.count,)) for name, group in seen.groups.items()},
        {name: frozenset(m.uid for m in group.machines)
         for name, group in seen.groups.items()})


def problems(expected, seen) -> list[str]:
    """Differences from the desired state of a cluster; empty: none."""
    if seen.status is None:
        return untrue(seen) + ([] if False in expected.there.allowed else [
            'lost: Magnum has no such cluster'])
    if True not in expected.there.allowed:
        return [f'lost: its deletion was accepted, it is {seen.status}']
    return [*_statuses(expected, seen), *_lost(expected, seen),
            *untrue(seen), *_replaced(expected, seen)]


def untrue(seen) -> list[str]:
    """Untrue claims of Magnum when it reports completion."""
    if seen.status is None:
        return [f'left: {text}' for text in (
            *seen.strangers, *['application credential'] * seen.credentials)]
    if not seen.is_all('_COMPLETE'):
        return []
    found = [f'untrue: {seen.status}, but there is {text}'
             for text in seen.strangers]
    for name, group in seen.groups.items():
        runs = sum(m.runs for m in group.machines)
        if (runs, len(group.machines)) != (group.count, group.count):
            found.append(
                f'untrue: {seen.status}, but of {group.count} nodes of {name} '
                f'{runs} run, of {len(group.machines)} Machines')
        others = {m.version for m in group.machines} - {seen.release[1]}
        if others:
            found.append(f'untrue: {seen.status} with {seen.release[1]}, but '
                         f'{name} has {", ".join(sorted(others))}')
    return found


def _statuses(expected, seen):
    for status in seen.statuses:
        if status.endswith('_IN_PROGRESS'):
            yield f'unfinished: {status} ({seen.reason})'
    if not any(status.endswith('_FAILED') for status in seen.statuses):
        if seen.is_all('_COMPLETE') and seen.credentials != 1:
            yield f'left: {seen.credentials} application credentials, not one'
        return
    said = ', '.join(sorted(set(seen.statuses)))
    yield f'failed: {said} ({seen.reason or "no reason"})' if (
        expected.excused) else f'failed, and nothing was broken: {said} (' \
        f'{seen.reason or "no reason"})'


def _lost(expected, seen):
    if seen.release not in expected.release.allowed:
        yield (f'lost: it has {seen.release[1]} of template '
               f'{seen.release[0]}, not {expected.release.values[-1][1]} of '
               f'{expected.release.values[-1][0]}')
    for name in sorted({*expected.counts, *seen.groups}):
        count = seen.groups[name].count if name in seen.groups else None
        field = expected.count(name)
        if count not in field.allowed:
            yield (f'lost: {name} has {_nodes(count)}, not '
                   f'{_nodes(field.values[-1])}')


def _nodes(count):
    return 'no row' if count is None else f'{count} nodes'


def _replaced(expected, seen):
    """Machines that disappeared although no request explains it."""
    if expected.rolled:
        return
    for name, before in expected.uids.items():
        group = seen.groups.get(name)
        now = {m.uid for m in group.machines} if group else set()
        least = min(count or 0 for count in expected.count(name).values)
        kept, wanted = len(before & now), min(least, len(before))
        if kept < wanted:
            yield (f'replaced: {wanted - kept} of {len(before)} Machines of '
                   f'{name}, which nobody asked for')


@dataclasses.dataclass(frozen=True)
class Place:
    """A place where a secret of a cluster was found.

    :param secret: "application credential" or "private key".
    :param kind: of the object; "log", or "answer" of Magnum's API.
    """

    release: str
    secret: str
    kind: str
    namespace: str
    name: str


def misplaced(places: collections.abc.Iterable[Place],
              namespaces: dict) -> list[str]:
    """Secrets outside of the places in SECURITY.rst.

    :param namespaces: of the clusters' projects, by release.
    """
    return sorted(
        f'secret: {p.secret} of {p.release} in {p.kind} '
        f'{p.namespace}/{p.name}' for p in set(places)
        if p.kind != 'Secret' or p.namespace != namespaces[p.release]
        or not _belongs(p))


def _belongs(place):
    rest = place.name.removeprefix(place.release)
    if rest == place.name:
        return False
    if place.secret == 'application credential':
        return rest in ('-cloud-credentials', '-magnum')
    # User data of a control plane contains the keys.
    return (rest in ('-ca', '-etcd', '-proxy', '-sa')
            or rest.startswith('-control-plane-'))
