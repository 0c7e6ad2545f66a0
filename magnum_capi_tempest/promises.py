# SPDX-License-Identifier: Apache-2.0

"""What drivers promise: the registry in ``promises.toml``.

Each test that judges a driver names one of them by
:func:`~magnum_capi_tempest.tests.common.flags.promise`.
"""

import collections.abc
import dataclasses
import functools
import pathlib
import re
import tomllib

REGISTRY = pathlib.Path(__file__).with_suffix('.toml')

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
        one = Promise(**{
            key: tuple(value) if isinstance(value, list) else value
            for key, value in entry.items()})
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


def get(name: str) -> Promise:
    """A promise by its id or an alias.

    :raises LookupError: there is none.
    """
    for one in known().values():
        if name in (one.id, *one.aliases):
            return one
    raise LookupError(f'There is no promise {name}')


def unknown_names(names: collections.abc.Iterable[str]) -> list[str]:
    """Return the names that belong to no promise."""
    return sorted({*names} - {name for one in known().values()
                              for name in (one.id, *one.aliases)})


def missing(name: str, not_promised: collections.abc.Iterable[str]) -> str:
    """Return the promise without which another cannot be tested, or itself.

    :param not_promised: ids or aliases; unknown names are ignored.
    :returns: its id, or an empty text.
    """
    without = {one.id for one in known().values()
               if {one.id, *one.aliases} & {*not_promised}}
    todo = [get(name).id]
    while todo:
        one = todo.pop()
        if one in without:
            return one
        todo += known()[one].needs
    return ''
