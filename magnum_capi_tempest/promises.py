# SPDX-License-Identifier: Apache-2.0

"""What drivers promise, and what Magnum does: two registries.

Each test that judges a driver names one promise of ``promises.toml`` by
:func:`~magnum_capi_tempest.tests.common.flags.promise`. What Magnum or a
discovery filter promises whatever the driver is in ``magnum_promises.toml``;
tests require it by :func:`~magnum_capi_tempest.tests.common.flags.needs`.
"""

import argparse
import collections.abc
import dataclasses
import functools
import pathlib
import re
import tomllib
import typing

REGISTRY = pathlib.Path(__file__).with_suffix('.toml')
OF_MAGNUM = REGISTRY.with_name('magnum_promises.toml')

#: Parts of the registry that a driver supports as a whole or not at all.
PROFILES = ('lifecycle', 'upgrade', 'resilience', 'autoscaling', 'network',
            'discovery')

_ID = re.compile(rf'({"|".join(PROFILES)})(\.[a-z][a-z0-9-]*){{2}}')


@dataclasses.dataclass(frozen=True)
class Promise:
    """What a driver does, as a sentence that a test can refute.

    :param since: the first version of the suite that has it.
    :param core: every driver that supports the profile keeps it.
    :param rationale: why it is required, and what happens otherwise.
    :param provisional: the requirement may still change.
    :param needs: ids of promises without which it cannot be tested.
    :param aliases: other names.
    :param magnum: the first release of Magnum with the feature in question,
        for example 21; 0: all have it.
    """

    id: str
    title: str
    since: str
    core: bool
    rationale: str
    provisional: bool = False
    needs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    magnum: int = 0

    @property
    def profile(self) -> str:
        return self.id.partition('.')[0]


@dataclasses.dataclass(frozen=True)
class OfMagnum:
    """What Magnum, or a discovery filter in front of it, does.

    :param otherwise: what an unmodified Magnum 23 does instead; empty: it
        keeps the promise.
    :param since: the lowest microversion, for example "1.13", that a Magnum
        which keeps the promise has as its highest; empty: all keep it.
    :param filter: the discovery filter of this project keeps it.
    """

    id: str
    title: str
    otherwise: str = ''
    since: str = ''
    filter: bool = False


@functools.cache
def of_magnum() -> dict[str, OfMagnum]:
    """What Magnum or a filter promises, by id."""
    entries = tomllib.loads(OF_MAGNUM.read_text(encoding='utf-8'))['promise']
    return {entry['id']: OfMagnum(**entry) for entry in entries}


#: The two modes of the filter, by the promise that it does not keep in one.
FIRST_TAKEN = 'discovery.ambiguity.first-taken'
AMBIGUITY_REFUSED = 'discovery.ambiguity.refused'


def not_of_magnum(microversion: str = '', *, filtered: bool = False,
                  takes_first: bool = False) -> list[str]:
    """Return the ids that a Magnum does not promise.

    :param microversion: its highest, for example "1.14"; empty: the newest.
    :param filtered: the discovery filter of this project is in front of it.
    :param takes_first: the filter's mode is hibiscus.
    """
    other = AMBIGUITY_REFUSED if takes_first else FIRST_TAKEN
    return [one.id for one in of_magnum().values()
            if not (filtered and one.filter and one.id != other)
            and (one.otherwise or one.since and microversion
                 and number(microversion) < number(one.since))]


def number(version: str) -> tuple[int, int]:
    """A microversion such as "1.14" as a value that compares."""
    major, minor = map(int, version.split('.'))
    return major, minor


@functools.cache
def known() -> dict[str, Promise]:
    """All promises by their ids, in the order of the registry."""
    return parse(REGISTRY.read_text(encoding='utf-8'))


def parse(text: str) -> dict[str, Promise]:
    """Read a registry.

    :raises ValueError: an id is malformed, duplicate or only in ``needs``.
    """
    found: dict[str, Promise] = {}
    names: set[str] = set()
    for entry in tomllib.loads(text)['promise']:
        fields: dict[str, typing.Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in entry.items()}
        one = Promise(**fields)
        twice = names & {one.id, *one.aliases}
        if twice or not _ID.fullmatch(one.id):
            raise ValueError(f'{one.id}: not an id, or a name that is already '
                             f'taken: {", ".join(sorted(twice))}')
        names |= {one.id, *one.aliases}
        found[one.id] = one
    for one in found.values():
        missing = [need for need in one.needs if need not in found]
        if missing:
            raise ValueError(f'{one.id} needs {", ".join(missing)}')
    return found


def attribute(name: str) -> str:
    """Return the attribute of Tempest of the tests that judge a promise.

    It has no points: tempest and stestr take what is in front of the last one
    for the class of a test. As a point of a regular expression stands for any
    character, ``--regex`` with an id selects its tests.

    :param name: id, or the beginning of ids.
    """
    return name.replace('.', '/')


def get(name: str) -> Promise:
    """A promise by its id or an alias.

    :raises LookupError: there is none.
    """
    for one in known().values():
        if name in (one.id, *one.aliases):
            return one
    raise LookupError(f'There is no promise {name}')


def unknown_names(names: collections.abc.Iterable[str]) -> list[str]:
    """Return the names that belong to no promise, see :func:`missing`."""
    return sorted(name for name in {*names} if not any(
        _is_named(one, [name]) for one in (*known(), *of_magnum())))


def missing(name: str, not_promised: collections.abc.Iterable[str]) -> str:
    """Return the promise without which another cannot be tested, or itself.

    :param name: of a driver's promise, or of one of Magnum.
    :param not_promised: ids, aliases, or the beginning of ids up to a point:
        "discovery" stands for all of that profile; unknown names are ignored.
    :returns: its id, or an empty text.
    :raises LookupError: there is no such promise.
    """
    without = [*not_promised]
    if name in of_magnum():
        return name if _is_named(name, without) else ''
    todo = [get(name).id]
    while todo:
        one = todo.pop()
        if _is_named(one, without):
            return one
        todo += known()[one].needs
    return ''


def _is_named(ident: str, names: collections.abc.Sequence[str]) -> bool:
    """Whether one of the names stands for a promise."""
    its = {ident, *known()[ident].aliases} if ident in known() else {ident}
    return any(name in its or ident.startswith(f'{name}.') for name in names)


def main() -> None:
    """Print what a Magnum does not promise, for devstack's tempest.conf."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--filter', action='store_true',
                        help='The discovery filter is in front of it.')
    parser.add_argument('microversion', help='Its highest, for example 1.14.')
    args = parser.parse_args()
    print(','.join(not_of_magnum(args.microversion, filtered=args.filter)))


if __name__ == '__main__':
    main()
