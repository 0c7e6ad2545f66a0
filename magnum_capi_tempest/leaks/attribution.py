# SPDX-License-Identifier: Apache-2.0

"""What was left behind, and by which test? Pure.

Two snapshots are compared; what is new belongs to the test that created it. A
record of what tests created names the tests, even in a run with several
workers. Things are matched by their own id, then by the names that drivers
derive from it, and finally by the user or project, which Tempest creates for
each class of tests.
"""

import collections.abc
import dataclasses

from magnum_capi_tempest.leaks import model


def leaked(
        before: model.Snapshot, after: model.Snapshot,
        made: collections.abc.Sequence[model.Made] = ()) -> list[model.Leak]:
    """Return what did not exist before, a sorted list of model.Leak.

    Kinds that could not be read in one of the snapshots are not compared.

    :param before: model.Snapshot.
    :param after: a later one.
    :param made: iterable of model.Made.
    """
    unread = before.unread.keys() | after.unread.keys()
    known = {(thing.kind, thing.ident) for thing in before.things}
    return sorted(
        attributed(thing, made) for thing in after.things
        if thing.kind not in unread
        and (thing.kind, thing.ident) not in known)


def still_there(after: model.Snapshot,
                made: collections.abc.Sequence[model.Made]
                ) -> list[model.Leak]:
    """Return the things that tests created and that still exist."""
    idents = {(m.kind, m.ident) for m in made}
    return sorted(attributed(thing, made) for thing in after.things
                  if (thing.kind, thing.ident) in idents)


def remaining(before: model.Snapshot, after: model.Snapshot,
              own: collections.abc.Sequence[model.Made],
              made: collections.abc.Sequence[model.Made], test: str, user: str,
              shared: bool = False,
              held: collections.abc.Sequence[model.Made] = ()
              ) -> list[model.Leak]:
    """Return what a test, or a class, has to wait for: a list of model.Leak.

    :param own: model.Made of the test itself, which must go even if it
        existed before.
    :param made: of the test and of other tests of its class.
    :param test: id to blame for what no test recorded.
    :param user: id of the user who created the lists.
    :param shared: others may use this user and project: unrelated things
        belong to them.
    :param held: model.Made of the class that its tests share: things that
        appear for these, such as servers, stay as long as they do.
    """
    # A failure to list does not mean that things are gone: Magnum refuses to
    # list while a cluster is half deleted.
    unlisted = [
        model.Leak(model.Thing(kind, 'unknown, as it cannot be listed now: '
                               f'{why}'), test, f'user {user}')
        for kind, why in after.unread.items() if kind not in before.unread]
    found = {*leaked(before, after, made), *still_there(after, own)}
    kept = _named_after(after.things, held)
    return unlisted + [
        leak if leak.test else dataclasses.replace(leak, test=test)
        for leak in found if leak.thing not in kept
        and (leak.test or not shared)]


def attributed(thing: model.Thing, made: collections.abc.Sequence[model.Made]
               ) -> model.Leak:
    """Return the model.Leak with the test that left a thing behind."""
    made = tuple(made)
    for matches in (_is, _is_named_after):
        for maker in made:
            if matches(thing, maker):
                return model.Leak(thing, maker.test, _owner(thing, maker))
    for what in ('user', 'project'):
        tests = {maker.test for maker in made
                 if _is_of(thing, getattr(thing, what), getattr(maker, what))}
        if tests:
            return model.Leak(thing, _one_of(tests), _owner(thing))
    return model.Leak(thing, '', _owner(thing))


def left(after: model.Snapshot, made: collections.abc.Sequence[model.Made],
         before: model.Snapshot | None = None) -> model.Left:
    """Return what a run left behind, a model.Left.

    :param made: what its tests recorded.
    :param before: model.Snapshot from before the run, of a cloud that nobody
        else uses: everything new counts. None: only what tests recorded, and
        what belongs to it.
    """
    if before is None:
        unlisted = {one.kind for one in made} & after.unread.keys()
        found = sorted(leak for thing in after.things
                       if (leak := attributed(thing, made)).test)
    else:
        unlisted = after.unread.keys() - before.unread.keys()
        found = leaked(before, after, made)
    unread = {f'{kind} could not be listed: {why}'
              for one in (before, after) if one
              for kind, why in one.unread.items()}
    return model.Left(tuple(found), tuple(sorted(unread)),
                      tuple(sorted(unlisted)))


def _named_after(
        things: collections.abc.Set[model.Thing],
        makers: collections.abc.Sequence[model.Made]) -> set[model.Thing]:
    """Things named after recorded ones, and those named after these.

    The port of a load balancer only contains the name of the load balancer,
    that of a router its id.
    """
    first = {thing for thing in things
             if any(_is_named_after(thing, maker) for maker in makers)}
    return first | {thing for thing in things if any(
        other.ident in text for other in first
        for text in (thing.name, thing.about))}


def _is(thing: model.Thing, maker: model.Made) -> bool:
    return (thing.kind, thing.ident) == (maker.kind, maker.ident)


def _is_named_after(thing: model.Thing, maker: model.Made) -> bool:
    return any(word in text for word in maker.words()
               for text in (thing.ident, thing.name, thing.about))


def _is_of(thing: model.Thing, owner: str, who: str) -> bool:
    """Return whether a thing belongs to a user or project, both ids.

    Drivers name their namespaces in the management cluster after projects.
    """
    return bool(who) and (owner == who or who in thing.ident)


def _one_of(tests: collections.abc.Set[str]) -> str:
    """Return the test, or the class if it may be several of its tests."""
    if len(tests) == 1:
        return next(iter(tests))
    return 'one of ' + ', '.join(sorted(tests))


def _owner(thing: model.Thing, maker: model.Made | None = None) -> str:
    """Describe the owner: as named by the service, else the creator."""
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
