# SPDX-License-Identifier: Apache-2.0
"""Two or more runs compared: the conclusion and the exit code. Pure.

The first run is the baseline for all others. "No new failures" means little if
a run was cut off half way, or ran fewer tests, so that has its own outcome.
"""

import collections
import dataclasses
import re

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import compare
from magnum_capi_tempest.conformance.reports import grid
from magnum_capi_tempest.conformance.reports import presentation
from magnum_capi_tempest.conformance import verdict as verdicts
from magnum_capi_tempest.report import model as report
from magnum_capi_tempest.report import text
from magnum_capi_tempest import texts

#: Exit code if a spec fails that did not fail in the first run.
NEW_FAILURES = 1


@dataclasses.dataclass(frozen=True)
class Judged:
    """A result with its :class:`~..verdict.Verdict`."""

    result: model.Result
    verdict: verdicts.Verdict

    @property
    def said(self) -> str:
        """Outcome and conclusion, one line."""
        return (f'{self.verdict.outcome.upper()}: '
                f'{presentation.conclusion(self.result, self.verdict)}')

    @property
    def whole(self) -> bool:
        """Did it run to its end, whatever the outcome?"""
        return self.verdict.outcome in (verdicts.PASSED, verdicts.FAILED)


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A record below a folder that could not be read, and why."""

    title: str
    fault: str

    def __str__(self):
        return f'{self.title} cannot be read: {self.fault}'


@dataclasses.dataclass(frozen=True)
class Matrix:
    """The results by driver and version of Kubernetes.

    :param versions: of Kubernetes, oldest first; the columns.
    :param rows: a driver, and for each version its runs.
    """

    versions: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Judged, ...], ...]], ...]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Runs side by side.

    :param differences: of each later run from the first.
    :param unreadable: records that are not among the runs.
    """

    runs: tuple[Judged, ...]
    differences: tuple[compare.Difference, ...]
    grid: grid.Grid
    unreadable: tuple[Unreadable, ...] = ()

    @property
    def new_failures(self) -> int:
        return sum(len(d.new_failures) for d in self.differences)

    @property
    def broken(self) -> tuple[Judged, ...]:
        """Later runs that did not reach their end."""
        return tuple(run for run in self.runs[1:] if not run.whole)

    @property
    def exit_code(self) -> int:
        """0 no new failures, 1 new failures.

        If there are none so far: that of a broken run, that of an incomplete
        one if fewer tests ran than in the first run, and that of a broken
        harness if a record could not be read.
        """
        if self.new_failures:
            return NEW_FAILURES
        codes = [run.verdict.exit_code for run in self.broken]
        if any(one.fewer for one in self.differences):
            codes.append(verdicts.EXIT_CODES[verdicts.INCOMPLETE])
        if self.unreadable:
            codes.append(verdicts.EXIT_CODES[verdicts.HARNESS_ERROR])
        return max(codes, default=0)

    @property
    def matrix(self) -> Matrix | None:
        """None if all runs have the same driver and version."""
        cells = collections.defaultdict(list)
        for run in self.runs:
            cluster = run.result.cluster
            cells[cluster.driver, cluster.kubernetes].append(run)
        if len(cells) < 2:
            return None
        versions = tuple(sorted({version for _, version in cells},
                                key=_numbers))
        return Matrix(versions, tuple(
            (driver, tuple(tuple(cells.get((driver, version), ()))
                           for version in versions))
            for driver in sorted({driver for driver, _ in cells})))

    @property
    def conclusion(self) -> str:
        number = self.new_failures
        if number:
            return texts.number(number, 'new failure')
        if self.broken:
            return ('nothing new failed in what ran, but '
                    f'{self.broken[0].result.title} did not complete')
        for one in self.differences:
            if one.fewer:
                return ('nothing new failed in what ran, but '
                        f'{texts.number(one.fewer, "test")} of {one.before} '
                        f'did not run in {one.after}')
        if self.unreadable:
            return ('nothing new failed in what could be read, but '
                    f'{texts.number(len(self.unreadable), "record")} could '
                    'not')
        return 'no new failures'


def of(judged, unreadable=()) -> Comparison:
    """Compare results.

    :param judged: two or more :class:`Judged`, the baseline first.
    :param unreadable: :class:`Unreadable` records.
    :raises UsageError: fewer than two.
    """
    judged = tuple(judged)
    if len(judged) < 2:
        raise errors.UsageError('A comparison needs at least two runs')
    first, *others = [one.result for one in judged]
    return Comparison(
        judged, tuple(compare.difference(first, other) for other in others),
        grid.build([first, *others]), tuple(unreadable))


def _numbers(version):
    """Sort key for versions: v1.9 before v1.10."""
    return ([int(number) for number in re.findall(r'\d{1,9}', version)],
            version)


def sections(comparison):
    """The comparison as :class:`~..report.model.Section` objects."""
    yield report.Section('Runs', tuple(
        f'{run.result.title}: {run.said}' for run in comparison.runs))
    if comparison.unreadable:
        yield report.Section('Records that cannot be read', tuple(
            map(str, comparison.unreadable)))
    for difference in comparison.differences:
        between = f'{difference.before} → {difference.after}'
        empty = True
        for kind, title in compare.KINDS.items():
            changes = getattr(difference, kind)
            if changes:
                empty = False
                yield report.Section(
                    f'{between}: {title}: {len(changes)}',
                    tuple(map(statement, changes)))
        if difference.durations:
            yield report.Section(
                f'{between}: largest changes of duration',
                tuple(map(duration, difference.durations)))
        elif empty:
            yield report.Section(between, ('no difference',))


def statement(change) -> str:
    """A change in one line."""
    return change.name + (f' (was: {change.was})' if change.was else '')


def duration(change) -> str:
    """How much longer a spec took, in one line."""
    first, second = change.seconds
    sign = '+' if change.delta >= 0 else '-'
    return (f'{sign}{text.duration(abs(change.delta))} '
            f'({text.duration(first)} → {text.duration(second)}) '
            f'{change.name}')


def document(comparison) -> dict:
    """The JSON document; its names are an interface."""
    return {
        'version': 1,
        'conclusion': comparison.conclusion,
        'exit_code': comparison.exit_code,
        'runs': [{
            'title': run.result.title,
            'source': run.result.source,
            'sha256': run.result.sha256,
            'outcome': run.verdict.outcome,
            'reasons': list(run.verdict.reasons),
            'driver': run.result.cluster.driver,
            'cni': run.result.cluster.cni,
            'kubernetes': run.result.cluster.kubernetes,
        } for run in comparison.runs],
        'unreadable': [dataclasses.asdict(one)
                       for one in comparison.unreadable],
        'differences': [
            {'before': d.before, 'after': d.after}
            | {kind: [_json(change) for change in getattr(d, kind)]
               for kind in (*compare.KINDS, 'durations')}
            for d in comparison.differences],
        'grid': {
            'all_passed': comparison.grid.all_passed,
            'rows': [{'name': row.name, 'cells': list(row.cells)}
                     for row in (*comparison.grid.rows,
                                 *comparison.grid.partial)],
        },
    }


def _json(change):
    return {'name': change.name, 'was': change.was or None,
            'before': change.before or None, 'after': change.after or None,
            'seconds': list(change.seconds)}
