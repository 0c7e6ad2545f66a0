# SPDX-License-Identifier: Apache-2.0

"""How much of a comparison its page shows if there are many runs.

Nobody opens a page of megabytes, and servers of CI logs refuse it. The page
says what was omitted; the JSON contains everything.
"""

import dataclasses

from magnum_capi_tempest.conformance.reports import compare
from magnum_capi_tempest.conformance.reports import comparison as comparisons
from magnum_capi_tempest.conformance import verdict as verdicts

#: Largest size of a page, in bytes.
LIMIT = 10**6
#: Lines of a list that are always shown.
_FEW = 5
#: With this many lines and cells, a page certainly exceeds LIMIT.
_CELLS = 20000


@dataclasses.dataclass(frozen=True)
class Excerpt:
    """A part of a comparison.

    :param shown: a comparison of fewer runs, with shorter lists.
    :param chosen: indices of its runs in the whole comparison.
    :param left_off: what was omitted, a line each.
    """

    shown: comparisons.Comparison
    chosen: tuple[int, ...]
    left_off: tuple[str, ...] = ()


def page(comparison, render) -> str:
    """The page with as much of a comparison as fits.

    :param render: function that returns the page for an :class:`Excerpt`.
    """
    for runs, lines in _sizes(comparison):
        content = render(excerpt(comparison, runs, lines))
        if len(content.encode()) <= LIMIT:
            break
    return content


def excerpt(comparison, runs, lines) -> Excerpt:
    """A part of a comparison.

    :param runs: how many, at least two: the first, then those that did not
        pass. Their order is kept.
    :param lines: of each list of changes, and of each part of the grid.
    """
    chosen = _chosen(comparison.runs, runs)
    grid = dataclasses.replace(
        comparison.grid,
        columns=_only(comparison.grid.columns, chosen),
        rows=_rows(comparison.grid.rows, chosen, lines),
        partial=_rows(comparison.grid.partial, chosen, lines))
    differences = _only(comparison.differences, [i - 1 for i in chosen[1:]])
    shown = comparisons.Comparison(
        _only(comparison.runs, chosen),
        tuple(_short(one, lines) for one in differences), grid)
    return Excerpt(shown, chosen, tuple(_left_off(comparison, chosen, lines)))


def _sizes(comparison):
    """Pairs of runs and lines, from everything to the minimum."""
    runs = len(comparison.runs)
    lists = [len(getattr(one, kind)) for one in comparison.differences
             for kind in compare.KINDS]
    parts = len(comparison.grid.rows), len(comparison.grid.partial)
    if sum(lists) + runs * sum(parts) <= _CELLS:
        yield runs, max(*lists, *parts)
    while True:
        lines = _CELLS // (runs * (len(compare.KINDS) + 2))
        while lines >= _FEW:
            yield runs, lines
            lines //= 2
        if runs == 2:
            yield 2, 1
            return
        runs = max(runs // 2, 2)


def _chosen(runs, number):
    others = sorted(range(1, len(runs)), key=lambda i: (
        runs[i].verdict.outcome == verdicts.PASSED, i))
    return tuple(sorted([0, *others[:number - 1]]))


def _only(items, chosen):
    return tuple(items[i] for i in chosen)


def _rows(rows, chosen, lines):
    return tuple(dataclasses.replace(row, cells=_only(row.cells, chosen))
                 for row in rows[:lines])


def _short(difference, lines):
    return dataclasses.replace(difference, **{
        kind: getattr(difference, kind)[:lines] for kind in compare.KINDS})


def _left_off(comparison, chosen, lines):
    runs = len(comparison.runs)
    if len(chosen) < runs:
        yield (f'{runs - len(chosen)} of {runs} runs; runs that did not pass '
               'are shown first')
    changes = sum(max(len(getattr(one, kind)) - lines, 0)
                  for one in comparison.differences for kind in compare.KINDS)
    if changes:
        yield f'{changes} changes; {lines} of each kind are shown'
    rows = sum(max(len(part) - lines, 0) for part in (
        comparison.grid.rows, comparison.grid.partial))
    if rows:
        yield f'{rows} rows of tests by cluster'
