# SPDX-License-Identifier: Apache-2.0


"""The tables of scores and of survivors, in the documentation."""

import csv
import dataclasses
import io
import pathlib

from tests.mutation import pool
from tests.mutation import record
from tests.mutation import rooms

_DOCS = rooms.TOP / 'doc/source/contributor'
SCORES, SURVIVORS = 'mutation-scores.csv', 'mutation-survivors.csv'


@dataclasses.dataclass(frozen=True)
class Row:
    """A run, as the documentation has it. All texts."""

    part: str
    run: str
    places: str
    tried: str
    killed: str
    imports: str
    limits: str
    equivalent: str
    survived: str
    score: str
    interval: str
    controls: str
    minutes: str


#: Run of a row of all mutants.
WHOLE = 'whole'

#: Heads of the columns.
HEADS = Row('Part', 'Run', 'Places', 'Mutants', 'Killed', 'by import',
            'by time limit', 'Equivalent', 'Survived', 'Score', 'Interval',
            'False alarms', 'Minutes')


def row(part: str, score: record.Score, controls: tuple, places: int,
        seed: int | None) -> Row:
    """The row of a run.

    :param controls: results of runs without a mutant.
    :param places: how many there are in the part.
    :param seed: of a sample; None when all were tried.
    """
    low, high = score.interval
    minutes = sum(r.seconds for r in (*score.results, *controls)) / 60
    return Row(
        part, WHOLE if seed is None else f'sample, seed {seed}',
        str(places), str(len(score.results)), str(score.killed),
        str(score.count(pool.IMPORT)), str(score.count(pool.TIMEOUT)),
        str(len(score.equivalent)), str(len(score.survivors)),
        f'{score.percent:.1f} %', f'{low:.1f} to {high:.1f}',
        f'{sum(c.killed for c in controls)} of {len(controls)}',
        f'{minutes:.0f}')


def good(room: rooms.Room, score: record.Score, controls: tuple) -> bool:
    """Whether a score is what it has to be, and can be believed."""
    return (bool(score.judged) and score.percent >= room.score
            and score.interval[0] >= room.floor and not score.disproved
            and not score.too_many_equivalent
            and not any(c.killed for c in controls))


def as_text(found: Row, score: record.Score, controls: tuple) -> str:
    """What the command prints at the end."""
    heads, values = dataclasses.astuple(HEADS), dataclasses.astuple(found)
    lines = [', '.join(f'{head.lower()}: {value}'
                       for head, value in zip(heads, values))]
    for word, results in (
            ('survived', score.survivors), ('equivalent', score.equivalent),
            ('NOT equivalent', score.disproved),
            ('FALSE ALARM', [c for c in controls if c.killed])):
        lines += [f'{word}: {r.file}:{r.line} {r.function}: {r.before} -> '
                  f'{r.after}' + (f' ({r.by})' if r.by else '')
                  for r in sorted(results, key=lambda r: (r.file, r.line))]
    if score.too_many_equivalent:
        lines.append('Too many are called equivalent')
    return '\n'.join(lines)


def write(found: Row, score: record.Score, folder: pathlib.Path = _DOCS):
    """Put a run into the tables, in the place of the last one like it."""
    rows = [one for one in _read(folder / SCORES)
            if one[:2] != [found.part, found.run]]
    _write(folder / SCORES, dataclasses.astuple(HEADS),
           [*rows, list(dataclasses.astuple(found))])
    # A sample says nothing about those that it has not.
    tried = {(r.file, _code(r.before), _code(r.after))
             for r in score.results}
    gone = set() if found.run != WHOLE else {
        r.file for r in score.results} | set(rooms.files(found.part))
    rows = [one for one in _read(folder / SURVIVORS)
            if one[0] not in gone and (one[0], *one[2:4]) not in tried]
    _write(folder / SURVIVORS, ('File', 'In', 'Before', 'After'), [
        *rows, *([r.file, r.function, _code(r.before), _code(r.after)]
                 for r in score.survivors)])


def _code(text):
    """As reStructuredText, in which a star would mean something."""
    return f'``{text}``' if text else ''


def _read(path):
    """Rows of a table without its head."""
    if not path.exists():
        return []
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.reader(file))[1:]


def _write(path, head, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(head)
    writer.writerows(sorted(rows))
    path.write_text(out.getvalue(), encoding='utf-8')
