# SPDX-License-Identifier: Apache-2.0
"""Tests by cluster: where does which test fail? Pure.

There is one column per run, titled by what distinguishes its cluster (driver,
CNI, version of Kubernetes), and one row per test. Tests that passed everywhere
are omitted, as nobody looks for them.
"""

import dataclasses

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import compare

#: The run does not know the test.
ABSENT = 'absent'


@dataclasses.dataclass(frozen=True)
class Column:
    """A run; ``driver``, ``cni`` and ``kubernetes`` may be empty."""

    title: str
    driver: str
    cni: str
    kubernetes: str

    @property
    def head(self) -> tuple[str, ...]:
        """The title of the column, in lines: at least one."""
        known = tuple(filter(None, (self.driver, self.cni, self.kubernetes)))
        return (self.title, *known)


@dataclasses.dataclass(frozen=True)
class Row:
    """A test: its name in the latest run that has it, and a cell per column.

    :param cells: a status of :mod:`..model`, or ABSENT.
    """

    name: str
    cells: tuple[str, ...]

    @property
    def failures(self) -> int:
        return sum(cell in (model.FAILED, model.UNFINISHED)
                   for cell in self.cells)


@dataclasses.dataclass(frozen=True)
class Grid:
    """Two sets of rows, each with the most failures first.

    :param rows: tests that failed in a run.
    :param partial: tests that passed wherever they ran, but were not
        selected or not known in some run.
    :param all_passed: number of tests that passed in every run.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    partial: tuple[Row, ...]
    all_passed: int


def build(results) -> Grid:
    """Build the grid of results, in the given order.

    A test has a row if it ran in at least one run and did not pass in all.
    """
    tables = _same_names([compare.statuses(result) for result in results])
    names = dict.fromkeys(name for table in reversed(tables)
                          for name in table)
    rows, all_passed = [], 0
    for name in names:
        cells = tuple(table.get(name, ABSENT) for table in tables)
        if set(cells) <= {model.SKIPPED, ABSENT}:
            continue
        if set(cells) == {model.PASSED}:
            all_passed += 1
            continue
        rows.append(Row(name, cells))
    rows.sort(key=lambda row: (-row.failures, row.name))
    return Grid(
        tuple(_column(result) for result in results),
        tuple(row for row in rows if row.failures),
        tuple(row for row in rows if not row.failures), all_passed)


def _same_names(tables):
    """The tables with each test under its latest name."""
    later = tables[-1]
    done = [later]
    known = dict(later)
    for table in reversed(tables[:-1]):
        # renames() gives the old name of a new one.
        new_names = {old: new for new, old in compare.renames(
            table.keys() - known.keys(),
            known.keys() - table.keys()).items()}
        table = {new_names.get(name, name): status
                 for name, status in table.items()}
        known = table | known
        done.append(table)
    return done[::-1]


def _column(result):
    cluster = result.cluster
    return Column(result.title, cluster.driver, cluster.cni,
                  cluster.kubernetes)
