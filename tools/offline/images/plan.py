# SPDX-License-Identifier: Apache-2.0

"""What has to be made, in which order, and how much time and space it takes.

Pure: the input is recipes and the contents of the toolchain and of the folder.
The figures were measured, see ``definitions/measured.toml``.
"""

import dataclasses
import hashlib

from magnum_capi import errors

#: Seconds and bytes for anything that was not measured.
_SECONDS, _SIZE = 60, 60 * 2**20


@dataclasses.dataclass(frozen=True)
class Plan:
    """Work to do.

    :param recipes: the requested ones and those that they bake, in the order
        in which they can be made.
    :param programs: of the toolchain, those that are missing.
    :param missing: recipes without an archive; others may be out of date.
    :param seconds: for the programs and the missing archives, about.
    :param size: bytes of the missing archives, about.
    :param scratch: additional bytes that are needed while they are made.
    """

    recipes: tuple
    programs: tuple[str, ...]
    missing: tuple
    seconds: float
    size: int
    scratch: int


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


def plan(chosen, lacking, archives: dict, measured: dict) -> Plan:
    """The work to do.

    :param chosen: recipes of :func:`choose`.
    :param lacking: names of programs that the toolchain does not have.
    :param archives: contents of the folder, name -> archive.
    :param measured: {"programs": {name, without the version if there are
        several: seconds}, "archives": {name of the recipe without its minor:
        {"seconds": s, "mib": n}}}.
    """
    programs = tuple(dict.fromkeys(
        p for r in chosen for p in r.programs.values() if p in lacking))
    missing = tuple(r for r in chosen if r.name not in archives)
    known = measured.get('programs', {})
    seconds = sum(known.get(p, known.get(p.rpartition('-')[0], _SECONDS))
                  for p in programs)
    size = scratch = 0
    for recipe in missing:
        figures = measured.get('archives', {}).get(recipe.title, {})
        seconds += figures.get('seconds', 1)
        own = figures.get('mib', _SIZE // 2**20) * 2**20
        size += own
        # The layers need space, too, and twice if images are baked in.
        scratch = max(scratch, own * (2 if recipe.bakes else 1))
    return Plan(tuple(chosen), programs, missing, seconds, size, scratch)


def key(recipe, parts) -> str:
    """Hex digest of everything that an archive is made from.

    :param parts: digests of its inputs: {"program x": hex, "layer debian":
        hex}.
    """
    return hashlib.sha256(repr(
        (recipe, sorted(parts.items()))).encode()).hexdigest()
