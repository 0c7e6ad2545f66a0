# SPDX-License-Identifier: Apache-2.0

"""The rows of each part, kept from run to run, with what the part took.

A part may be run by itself, and again; the table is made of all of them.
"""

import csv
import dataclasses
import io
import json

from tests.proofs.driver_faults import table

COLUMNS = ('Part', 'Rows', 'Kept', 'Minutes')


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of a part.

    :param rows: of table.Row.
    :param seconds: for all of it: its clusters are made before and deleted
        after it.
    """

    name: str
    rows: tuple
    seconds: float

    @property
    def kept(self):
        """Number of rows that are."""
        return sum(row.kept for row in self.rows)


class Results:
    """Those of one folder, which is made.

    :param folder: pathlib.Path.
    """

    def __init__(self, folder):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, result):
        """Keep a result instead of the one of an earlier run."""
        self._path(result.name).write_text(json.dumps({
            'seconds': round(result.seconds, 1),
            'rows': [dataclasses.asdict(row) for row in result.rows]},
            indent=1))

    def load(self, names) -> list[Result]:
        """Those of the named parts that have been run, in that order."""
        return [self._load(name) for name in names
                if self._path(name).exists()]

    def _load(self, name):
        found = json.loads(self._path(name).read_text())
        return Result(name, tuple(table.load(found['rows'])),
                      found['seconds'])

    def _path(self, name):
        return self._folder / f'{name}.json'


def rows(results) -> list[table.Row]:
    """All rows, one part after the other."""
    return [row for result in results for row in result.rows]


def as_csv(results) -> str:
    """What each part took, for the documentation."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(COLUMNS)
    writer.writerows(
        (result.name, len(result.rows), result.kept,
         f'{result.seconds / 60:.1f}') for result in results)
    return stream.getvalue()
