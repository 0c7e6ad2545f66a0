# SPDX-License-Identifier: Apache-2.0

"""The matrix: promises and operations times drivers. Pure.

How a cell is judged:

* A test that passes keeps every promise that it needs. One that fails breaks
  the one that the fewest tests need: the others have better witnesses. What
  is taken for granted by default is broken only when it is all that it needs.
* An operation is judged by tests that need no promise, or only such as are
  taken for granted by default. A failure counts against the operations that
  stand in its stack; against all that the test asks for, when none does.
* A class that could not be set up breaks nothing: its tests did not run. It
  is told, and the driver does not hold.
* A test that failed for want of quota, of a host or of Keystone breaks nothing
  either, and proves nothing: no test that passed makes up for it, and the
  driver does not hold.
* Whatever did not run proves nothing: the cell says why.
"""

import collections
import dataclasses

from magnum_capi_tempest.scorecard import results

KEPT, BROKEN, UNTRIED = 'kept', 'broken', 'not tried'
#: Tried, and not judged: the cloud lacked what it must bring.
ENVIRONMENT = 'environment'


@dataclasses.dataclass(frozen=True)
class Flag:
    """An option of [magnum_capi_feature_enabled].

    :param default: what a cloud is taken to promise when nobody says.
    """

    name: str
    help: str
    default: bool


@dataclasses.dataclass(frozen=True)
class Cell:
    """What a driver does about a row.

    :param said: the measured behaviour, or why it was not tried.
    :param tests: ids of the tests that say so.
    :param declared: whether the driver promises it; None for operations,
        which every driver does.
    """

    state: str
    said: str
    tests: tuple[str, ...] = ()
    declared: bool | None = None

    @property
    def bad(self) -> bool:
        """Something that was promised is broken."""
        return self.state == BROKEN and self.declared is not False

    @property
    def unexpected(self) -> bool:
        """Something is kept that nobody promised."""
        return self.state == KEPT and self.declared is False


@dataclasses.dataclass(frozen=True)
class Row:
    """A promise or an operation.

    :param tests: ids of the tests that can tell.
    """

    name: str
    what: str
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclasses.dataclass(frozen=True)
class Matrix:
    """The rows come in two parts; a column is a :class:`~.results.Record`.

    :param failures: a column each: ids of tests that failed and judge no
        promise and no operation.
    """

    columns: tuple[results.Record, ...]
    promises: tuple[Row, ...]
    operations: tuple[Row, ...]
    failures: tuple[tuple[str, ...], ...]

    @property
    def rows(self):
        return (*self.promises, *self.operations)

    def broken(self, column) -> list[str]:
        """What a driver promises and breaks, names of rows."""
        return [row.name for row in self.rows if row.cells[column].bad]

    def hindered(self, column) -> list[str]:
        """Tests and classes that the cloud did not let be judged, ids."""
        return sorted(
            key for key, outcome in self.columns[column].outcomes.items()
            if outcome.status == results.ENVIRONMENT)

    def holds(self, column) -> bool:
        """Whether a driver keeps all that it promises, as far as tried."""
        return (not self.broken(column) and not self.failures[column]
                and not self.columns[column].problems
                and not self.hindered(column)
                and any(row.cells[column].state == KEPT
                        for row in self.rows))

    @property
    def exit_code(self) -> int:
        """0 when every driver's own promises hold, else 1."""
        return 0 if self.columns and all(
            map(self.holds, range(len(self.columns)))) else 1

    @property
    def headline(self) -> str:
        """All columns in a few words."""
        if not self.exit_code:
            return 'Every driver keeps what it promises'
        # One driver's faults are not another's.
        if len(self.columns) > 1:
            good = sum(map(self.holds, range(len(self.columns))))
            return (f'{good} of {len(self.columns)} drivers keep what they '
                    'promise')
        if any(self.broken(column) or self.failures[column]
               for column in range(len(self.columns))):
            return 'Broken'
        return 'Not proved'

    def count(self, column) -> dict[str, int]:
        """Number of promises by state."""
        found = collections.Counter(
            row.cells[column].state for row in self.promises)
        return {state: found[state]
                for state in (KEPT, BROKEN, UNTRIED, ENVIRONMENT)}

    def verdict(self, column) -> str:
        """A column in one sentence."""
        driver, counts = self.columns[column].driver, self.count(column)
        said = ', '.join(f'{n} {state}' for state, n in counts.items()
                         if n or state != ENVIRONMENT)
        bad = self.broken(column)
        if bad:
            return (f'{driver} breaks {len(bad)} of its own promises: '
                    f'{", ".join(bad)} (of all: {said})')
        if self.columns[column].problems:
            return f'{driver}: the record is damaged (of all: {said})'
        if self.failures[column]:
            return (f'{driver}: of the tests that judge no row, '
                    f'{len(self.failures[column])} failed (of all promises: '
                    f'{said})')
        hindered = self.hindered(column)
        if hindered:
            return (f'{driver}: {len(hindered)} tests could not be judged, '
                    'for want of what the cloud must bring (of all promises: '
                    f'{said})')
        if not self.holds(column):
            return f'{driver}: nothing was proved (of all: {said})'
        return f'{driver} keeps what it promises (of all: {said})'


def build(flags, tests, operations, records) -> Matrix:
    """Lay what drivers did over the suite.

    :param flags: of :class:`Flag`.
    :param tests: of :class:`~.suite.Test`.
    :param operations: of :class:`~.suite.Operation`.
    :param records: of :class:`~.results.Record`, a column each.
    """
    weight = collections.Counter(
        flag for test in tests for flag in test.flags)
    granted = frozenset(flag.name for flag in flags if flag.default)

    def blamed(test):
        some = test.flags - granted or test.flags
        least = min(weight[flag] for flag in some)
        return {flag for flag in some if weight[flag] == least}

    witnesses = {flag.name: [t for t in tests if flag.name in t.flags]
                 for flag in flags}
    plain = [test for test in tests if test.flags <= granted]
    promises = tuple(Row(
        flag.name, flag.help, _ids(witnesses[flag.name]), tuple(
            _promise(flag.name, witnesses[flag.name], record, blamed)
            for record in records))
        for flag in flags if witnesses[flag.name])
    rows = []
    for operation in operations:
        asking = [t for t in tests if operation.name in t.operations]
        judges = [t for t in plain if operation.name in t.operations] or (
            asking)
        if asking:
            rows.append(Row(operation.name, operation.what, _ids(asking),
                            tuple(_operation(operation.name, judges, record)
                                  for record in records)))
    rows = tuple(rows)
    return Matrix(tuple(records), promises, rows, tuple(
        _unjudged(record, (*promises, *rows), column)
        for column, record in enumerate(records)))


def _promise(flag, tests, record, blamed):
    # Less strict, a test passes and proves nothing.
    tests = [test for test in tests
             if flag not in test.stricter or flag in record.tried]
    tried = _tried(tests, record)
    judges = [(test, outcome) for test, outcome in tried
              if flag in blamed(test)]
    return _cell(tests, record, tried, judges, flag in record.declared)


def _operation(name, tests, record):
    tried = _tried(tests, record)
    judges = [(test, outcome) for test, outcome in tried
              if name in outcome.doing
              or not outcome.doing & test.operations]
    return _cell(tests, record, tried, judges, None)


def _tried(tests, record):
    found = ((test, record.of(test)) for test in tests)
    return [(test, outcome) for test, outcome in found
            if outcome and outcome.status != results.SKIPPED
            and not record.broken_off(test)]


def _cell(tests, record, tried, judges, declared):
    """Return the Cell of a row.

    :param tried: pairs of a test and its outcome.
    :param judges: those of them whose failure counts against the row.
    """
    failed = _of_status(judges, results.FAILED)
    if failed:
        _, outcome = failed[0]
        return Cell(BROKEN, outcome.said or 'no reason was recorded',
                    _ids(test for test, _ in failed), declared)
    passed = _of_status(tried, results.PASSED)
    hindered = _of_status(tried if not passed else judges,
                          results.ENVIRONMENT)
    if hindered:
        return Cell(ENVIRONMENT, hindered[0][1].said,
                    _ids(test for test, _ in hindered), declared)
    if passed:
        number = len(passed)
        return Cell(KEPT, f'{number} test{"s" * (number > 1)}',
                    _ids(test for test, _ in passed), declared)
    if tried:
        return Cell(UNTRIED, 'its tests failed for another promise',
                    _ids(test for test, _ in tried), declared)
    for off in filter(None, map(record.broken_off, tests)):
        state = (ENVIRONMENT if off.status == results.ENVIRONMENT
                 else UNTRIED)
        return Cell(state, f'its class was not set up: {off.said}', (),
                    declared)
    skipped = [outcome.said for outcome in map(record.of, tests) if outcome]
    return Cell(
        UNTRIED, next(filter(None, skipped), 'not among the tests that ran'),
        (), declared)


def _of_status(tried, status):
    return [(test, outcome) for test, outcome in tried
            if outcome.status == status]


def _unjudged(record, rows, column):
    """Tests and classes that failed, and no row says so."""
    named = {test for row in rows if row.cells[column].state == BROKEN
             for test in row.cells[column].tests}
    return tuple(sorted(
        key for key, outcome in record.outcomes.items()
        if outcome.status == results.FAILED and key not in named))


def _ids(tests):
    return tuple(test.id for test in tests)
