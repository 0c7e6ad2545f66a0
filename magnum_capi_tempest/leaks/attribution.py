# SPDX-License-Identifier: Apache-2.0

"""Which of what there is was left behind, and by which test. Pure.

Two snapshots are compared; what is new belongs to its maker. A ledger of
what tests made names them, also in a run of several workers: things are
found by their own id, by the names that drivers make of it, and at last by
the user or project, which Tempest makes for each class of tests.
"""

import dataclasses

from magnum_capi_tempest.leaks import model


def leaked(before, after, made=()):
    """Return what was not there before, a sorted list of model.Leak.

    Kinds that could not be read at one of the times are not compared.

    :param before: model.Snapshot.
    :param after: the same, later.
    :param made: iterable of model.Made.
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


def remaining(before, after, own, made, test, user, shared=False, held=()):
    """Return what a test, or a class, has to wait for: a list of model.Leak.

    :param own: model.Made of the test itself, which must go even if it was
        there before.
    :param made: of it and of the tests of its class.
    :param test: id to blame for what no test wrote down.
    :param user: id of the user who looks.
    :param shared: others may work as this user, and in this project: what
        has nothing to do with what was made is theirs.
    :param held: model.Made of the class that the tests share: what comes for
        these meanwhile, servers for one, stays as long as they do.
    """
    # What cannot be listed any more is not gone for that reason: Magnum
    # refuses to list while a cluster is half deleted.
    unlisted = [
        model.Leak(model.Thing(kind, 'what there is of it, as it cannot be '
                               f'listed now: {why}'), test, f'user {user}')
        for kind, why in after.unread.items() if kind in before.kinds]
    found = {*leaked(before, after, made), *still_there(after, own)}
    kept = _named_after(after.things, held)
    return unlisted + [
        leak if leak.test else dataclasses.replace(leak, test=test)
        for leak in found if leak.thing not in kept
        and (leak.test or not shared)]


def attributed(thing, made):
    """Return the model.Leak that says who left a thing."""
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


def left(before, after, made=(), strict=False):
    """Return what a run left, a model.Left.

    :param made: what the tests of the run wrote down.
    :param strict: everything counts; so it does when nothing is written down.
    """
    found = leaked(before, after, made)
    counts = [leak for leak in found if strict or not made or leak.test]
    return model.Left(
        tuple(counts), tuple(leak for leak in found if leak not in counts),
        tuple(sorted({f'{kind} could not be listed: {why}'
                      for snapshot in (before, after)
                      for kind, why in snapshot.unread.items()})))


def _named_after(things, makers):
    """The things named after what was made, and those named after these.

    The port of a load balancer has the name of the balancer alone, that of a
    router its id.
    """
    first = {thing for thing in things
             if any(_is_named_after(thing, maker) for maker in makers)}
    return first | {thing for thing in things if any(
        other.ident in text for other in first
        for text in (thing.name, thing.about))}


def _is(thing, maker):
    return (thing.kind, thing.ident) == (maker.kind, maker.ident)


def _is_named_after(thing, maker):
    return any(word in text for word in maker.words()
               for text in (thing.ident, thing.name, thing.about))


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
