# SPDX-License-Identifier: Apache-2.0

"""Which of what there is was left behind, and by which test. Pure.

Two snapshots are compared; what is new, belongs to who made it. A ledger of
what tests made names them, also in a run of several workers: things are
found by their own id, by the names that drivers make of it, and at last by
the user or project, which Tempest makes for each class of tests.
"""

import dataclasses
import uuid

#: Characters of a name that is like nothing else; Tempest's have more, but
#: there are tests of short ones.
_TELLING = 16


@dataclasses.dataclass(frozen=True, order=True)
class Made:
    """Something that a test made on purpose.

    :param kind: as of evidence.leaks.Thing.
    :param test: id of the test, or of its class.
    :param project: id of the project in which it was made.
    :param user: id of the user who made it.
    :param stack_id: of a cluster, when Magnum has said it.
    """

    kind: str
    ident: str
    name: str
    test: str
    project: str = ''
    user: str = ''
    stack_id: str = ''

    def words(self):
        """Return what others are named after it: its ids and its name."""
        found = [self.ident, self.stack_id]
        if len(self.name) >= _TELLING:
            found.append(self.name)
        try:
            found.append(uuid.UUID(self.ident).hex)
        except ValueError:
            pass
        return tuple(word for word in dict.fromkeys(found) if word)


@dataclasses.dataclass(frozen=True, order=True)
class Leak:
    """Something that should be gone.

    :param thing: evidence.leaks.Thing.
    :param test: id of the test that left it; empty when nobody knows.
    :param owner: in words.
    """

    thing: object
    test: str
    owner: str

    def __str__(self):
        return (f'{self.thing}, owner: {self.owner}, left by: '
                f'{self.test or "unknown, no test wrote it down"}')


def leaked(before, after, made=()):
    """Return what was not there before, a sorted list of Leak.

    Kinds that could not be read at one of the times are not compared.

    :param before: evidence.leaks.Snapshot.
    :param after: the same, later.
    :param made: iterable of Made.
    """
    kinds = before.kinds & after.kinds
    known = {(thing.kind, thing.ident) for thing in before.things}
    return sorted(
        attributed(thing, made) for thing in after.things
        if thing.kind in kinds and (thing.kind, thing.ident) not in known)


def still_there(after, made):
    """Return the things that were made, by their ids, and are not gone."""
    idents = {(m.kind, m.ident) for m in made}
    return sorted(attributed(thing, made) for thing in after.things
                  if (thing.kind, thing.ident) in idents)


def attributed(thing, made):
    """Return the Leak that says who left a thing."""
    made = tuple(made)
    for matches in (_is, _is_named_after):
        for maker in made:
            if matches(thing, maker):
                return Leak(thing, maker.test, _owner(thing, maker))
    for what in ('user', 'project'):
        tests = {maker.test for maker in made
                 if _is_of(thing, getattr(thing, what), getattr(maker, what))}
        if tests:
            return Leak(thing, _one_of(tests), _owner(thing))
    return Leak(thing, '', _owner(thing))


def not_compared(before, after):
    """Return sentences about what could not be compared, sorted."""
    return sorted({f'{kind} could not be listed: {why}'
                   for snapshot in (before, after)
                   for kind, why in snapshot.unread.items()})


def _is(thing, maker):
    return (thing.kind, thing.ident) == (maker.kind, maker.ident)


def _is_named_after(thing, maker):
    return any(word in thing.ident or word in thing.name
               for word in maker.words())


def _is_of(thing, owner, who):
    """Return whether a thing is of a user or project, both ids.

    Drivers name their namespaces in the management cluster after projects.
    """
    return bool(who) and (owner == who or who in thing.ident)


def _one_of(tests):
    """Return the test, or the class when it may be several of it."""
    if len(tests) == 1:
        return next(iter(tests))
    return 'one of ' + ', '.join(sorted(tests))


def _owner(thing, maker=None):
    """Say whose it is: what the service says, or else who made it."""
    parts = []
    if maker is not None and (maker.kind, maker.ident) != (
            thing.kind, thing.ident):
        parts.append(f'{maker.kind} {maker.name or maker.ident}')
    for what in ('user', 'project'):
        value = getattr(thing, what) or (
            getattr(maker, what) if maker is not None else '')
        if value:
            parts.append(f'{what} {value}')
    return ', '.join(parts) or 'unknown'
