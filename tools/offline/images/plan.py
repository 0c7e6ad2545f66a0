# SPDX-License-Identifier: Apache-2.0

"""What has to be made, in which order, and when it is out of date; pure."""

import hashlib

from magnum_capi import errors


def choose(recipes: dict, names, minors=None) -> tuple:
    """The requested recipes, and those that they bake.

    :param recipes: all, by name.
    :param names: names of archives, or of recipes with minors ("kubelet"
        for all its minors); None: all.
    :param minors: of Kubernetes, "1.36"; recipes of others are left out.
        None: all.
    :returns: in the order in which they can be made: recipes that bake
        others come last.
    :raises UsageError: a name or minor is unknown.
    """
    possible = _of_minors(recipes, minors) if minors else recipes
    chosen = possible
    if names is not None:
        chosen = {}
        for name in names:
            found = {n: r for n, r in possible.items()
                     if name in (n, r.title)}
            if not found:
                raise errors.UsageError(
                    f'There is no recipe {name!r}',
                    hint=f'There are: {", ".join(sorted(possible))}')
            chosen.update(found)
    for recipe in list(chosen.values()):
        chosen = chosen | {r.name: r for r in baked(recipe, recipes)}
    return tuple(sorted(chosen.values(),
                        key=lambda r: (r.builder is not None, bool(r.bakes),
                                       r.minor or '9', r.name)))


def _of_minors(recipes, minors):
    """Recipes of no minor or of these, by name."""
    known = {r.minor for r in recipes.values()} - {None}
    strange = sorted(set(minors) - known)
    if strange:
        raise errors.UsageError(
            f'No such images of Kubernetes {", ".join(strange)} can be made',
            hint=f'There are recipes for {", ".join(sorted(known))}')
    return {n: r for n, r in recipes.items() if r.minor in (None, *minors)}


def baked(recipe, recipes: dict) -> tuple:
    """The recipes whose images a builder puts into this one.

    A node also gets images that outlive an upgrade from the previous minor,
    if there are nodes of that.
    """
    before = _previous(recipe.minor) if recipe.kind == 'node' else None
    upgraded = any(r.kind == 'node' and r.minor == before
                   for r in recipes.values())
    return tuple(
        r for r in recipes.values()
        if (r.set in recipe.bakes or r.title in recipe.bakes)
        and r.builder is None and (
            r.minor in (None, recipe.minor)
            or upgraded and r.outlives and r.minor == before))


def _previous(minor):
    major, _, number = minor.partition('.')
    return f'{major}.{int(number) - 1}'


def key(recipe, parts) -> str:
    """Hex digest of everything that an archive is made from.

    :param parts: digests of its inputs: {"program x": hex, "layer debian":
        hex}.
    """
    return hashlib.sha256(repr(
        (recipe, sorted(parts.items()))).encode()).hexdigest()
