# SPDX-License-Identifier: Apache-2.0


"""What can be mutated, which tests count for it, what score is asked for."""

import dataclasses
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[2]

PACKAGE = 'magnum_capi'

#: Where it lies.
FOLDER = f'magnum-capi/{PACKAGE}'


@dataclasses.dataclass(frozen=True)
class Room:
    """A part of the package.

    :param folders: below the package.
    :param tests: folders and modules below ``tests/unit``.
    :param score: percent of mutants that have to be killed.
    :param floor: the same, of the lower end of the interval of a sample.
    """

    name: str
    folders: tuple[str, ...]
    tests: tuple[str, ...]
    score: float
    floor: float


ROOMS = {room.name: room for room in (
    Room('discovery', ('discovery',), (
        'discovery', 'workspace', 'cli/test_discovery.py',
        'package_tests/test_discovery.py'), 97, 94),
    Room('driver', ('driver', 'kube'), (
        'driver', 'kube', 'cli/test_driver.py'), 90, 86),
)}


def room_of(part: str) -> Room:
    """The room of a folder or file, as ``driver/desired``.

    :raises KeyError: there is none.
    """
    folder = part.partition('/')[0]
    for room in ROOMS.values():
        if folder in room.folders:
            return room
    raise KeyError(folder)


def files(part: str) -> list[str]:
    """Paths of the sources of a part, below the package, sorted.

    :param part: name of a room, else a folder or file below the package.
    :returns: empty when there is no such part.
    """
    package = TOP / FOLDER
    room = ROOMS.get(part)
    found = set()
    for path in [package / name for name in (
            room.folders if room else [part])]:
        found |= {path} if path.suffix == '.py' else {*path.rglob('*.py')}
    return sorted(str(p.relative_to(package)) for p in found if p.exists())


def module(file: str) -> str:
    """Name of the module of a file, as :func:`files` has it."""
    parts = pathlib.PurePath(file).with_suffix('').parts
    return '.'.join((PACKAGE, *parts)).removesuffix('.__init__')
