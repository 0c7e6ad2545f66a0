# SPDX-License-Identifier: Apache-2.0

"""The rooms of both packages as a drawing, made from ``.importlinter``.

An importer stands above what it imports, so that every arrow points down.
"""

import configparser
import html
import pathlib

CONFIG = pathlib.Path(__file__).resolve().parents[2] / '.importlinter'

#: The package whose rooms are named with it.
LIBRARY = 'magnum_capi'

#: Any room at all. It is drawn without arrows: they would say nothing.
ANY = '*'

#: Pixels: width and height of a room, gaps beside and below it.
_WIDTH, _HEIGHT, _BESIDE, _BELOW = 116, 30, 14, 44

_STYLE = """
text { font: 13px sans-serif; text-anchor: middle; fill: #222 }
.room { fill: #e8f0fe; stroke: #4a6fa5 }
.library { fill: #e9f5e9; stroke: #4f8a55 }
path { fill: none; stroke: #777; stroke-width: 1.2; marker-end: url(#head) }
"""


def lines(config: pathlib.Path = CONFIG):
    """What the contracts say, a line each: package, room, its doors."""
    parser = configparser.ConfigParser()
    parser.read(config)
    for name in ('library', 'doors'):
        contract = parser[f'importlinter:contract:{name}']
        for line in contract['doors'].strip().splitlines():
            room, _, used = line.partition(' -> ')
            yield contract['root'], room, used.split(', ')


def doors(config: pathlib.Path = CONFIG) -> dict[str, set[str]]:
    """The rooms that each room imports; of the library with its name.

    A room that may import any other one has :data:`ANY` instead.
    """
    found = {}
    for package, room, used in lines(config):
        root = f'{package}.' if package == LIBRARY else ''
        targets = found.setdefault(root + room, set())
        for door in used:
            targets.add(ANY if door == ANY else root + _room(door))
    for targets in list(found.values()):
        for target in targets - {ANY}:
            found.setdefault(target, set())
    return found


def _room(door):
    parts = door.split('.')
    return '.'.join(parts[:2]) if parts[0] == LIBRARY else parts[0]


def ranks(table: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by rank, the lowest last: one imports only those below it.

    :raises ValueError: rooms import each other in a circle.
    """
    depth = {}

    def measure(room, path=()):
        if room in path:
            raise ValueError(f'a circle of imports: {" -> ".join(path)}')
        if room not in depth:
            depth[room] = 1 + max((measure(target, (*path, room))
                                   for target in table[room]), default=-1)
        return depth[room]

    above = [room for room in table if ANY in table[room]]
    for room in table:
        if room not in above:
            measure(room)
    depth |= dict.fromkeys(above, max(depth.values()) + 1)
    return [sorted(room for room in table if depth[room] == rank)
            for rank in range(max(depth.values()), -1, -1)]


def svg(table: dict[str, set[str]]) -> str:
    """The drawing."""
    rows = ranks(table)
    width = max(map(len, rows)) * (_WIDTH + _BESIDE) + _BESIDE
    height = len(rows) * (_HEIGHT + _BELOW)
    places = {}
    for number, row in enumerate(rows):
        left = (width - len(row) * (_WIDTH + _BESIDE) + _BESIDE) / 2
        for at, room in enumerate(row):
            places[room] = (left + at * (_WIDTH + _BESIDE),
                            10 + number * (_HEIGHT + _BELOW))
    arrows = ''.join(_arrow(places[room], places[target])
                     for room in table
                     for target in sorted(table[room] - {ANY}))
    rooms = ''.join(_box(room, *place) for room, place in places.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
        f'{height}" role="img" style="max-width:{width}px;width:100%">'
        f'<title>Parts and what they import</title><style>{_STYLE}</style>'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" style="fill:#777;stroke:none"/></marker>'
        f'</defs>{arrows}{rooms}</svg>')


def _arrow(start, end):
    x, y = start[0] + _WIDTH / 2, start[1] + _HEIGHT
    to_x, to_y = end[0] + _WIDTH / 2, end[1]
    bend = (to_y - y) / 2
    return (f'<path d="M{x:g} {y:g}C{x:g} {y + bend:g} {to_x:g} '
            f'{to_y - bend:g} {to_x:g} {to_y:g}"/>')


def _box(room, x, y):
    kind = 'library' if room.startswith('magnum_capi.') else 'room'
    name = html.escape(room.removeprefix('magnum_capi.'))
    return (f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" rx="5"/><text x="{x + _WIDTH / 2:g}" '
            f'y="{y + _HEIGHT / 2 + 4.5:g}">{name}</text>')
