# SPDX-License-Identifier: Apache-2.0
"""A :class:`~.compare.Comparison` for people and programs."""

import collections.abc
import dataclasses
import pathlib
import typing

from magnum_capi_tempest.conformance import compare
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import json_types
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import model as report
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.report import text

if typing.TYPE_CHECKING:
    import rich.console

TITLE = 'Comparison of conformance runs'


def show(comparison: compare.Comparison, *,
         console: 'rich.console.Console | None' = None) -> None:
    """Print a comparison.

    :param console: ``rich.console.Console``, standard output by default.
    """
    say = terminal.printer(console)
    say()
    say(f'{TITLE}: {comparison.conclusion}',
        'bold red' if comparison.exit_code else 'bold green')
    terminal.show_sections(say, _sections(comparison))


def to_markdown(comparison: compare.Comparison) -> str:
    """Short Markdown, for a review comment or a CI job's summary."""
    mark = '❌' if comparison.exit_code else '✅'
    return '\n'.join((
        f'## {mark} {TITLE}: {markdown.escape(comparison.conclusion)}',
        *markdown.sections(_sections(comparison)))) + '\n'


def to_json(comparison: compare.Comparison) -> str:
    """The JSON document; its names are an interface."""
    return json_.dumps({
        'version': 1,
        'conclusion': comparison.conclusion,
        'exit_code': comparison.exit_code,
        'runs': [{
            'title': run.result.title,
            'source': run.result.source,
            'sha256': run.result.sha256,
            'outcome': run.outcome,
            'reasons': list(run.reasons),
            'driver': run.result.cluster.driver,
            'cni': run.result.cluster.cni,
            'kubernetes': run.result.cluster.kubernetes,
        } for run in comparison.runs],
        'unreadable': [dataclasses.asdict(one)
                       for one in comparison.unreadable],
        'differences': [
            {'before': d.before, 'after': d.after}
            | {kind: [_change(change) for change in getattr(d, kind)]
               for kind in (*compare.KINDS, 'durations')}
            for d in comparison.differences],
        'grid': {
            'all_passed': comparison.grid.all_passed,
            'rows': [{'name': row.name, 'cells': list(row.cells)}
                     for row in (*comparison.grid.rows,
                                 *comparison.grid.partial)],
        },
    })


def to_html(comparison: compare.Comparison) -> str:
    """The page of a comparison."""
    from magnum_capi_tempest.report import html
    return html.page(
        'comparison.html', package='magnum_capi_tempest.conformance',
        style=('conformance.css',), title=TITLE, comparison=comparison,
        heads=[_head(run.result) for run in comparison.runs],
        kinds=compare.KINDS, delta=_delta)


def write(folder: pathlib.Path, comparison: compare.Comparison
          ) -> dict[str, pathlib.Path]:
    """Write a comparison to a folder in every format.

    :returns: dict of file name to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    from magnum_capi_tempest import report as reports
    return reports.write_files(folder, {
        'comparison.html': to_html(comparison),
        'comparison.md': to_markdown(comparison),
        'comparison.json': to_json(comparison),
    })


def _sections(comparison: compare.Comparison
              ) -> collections.abc.Iterator[report.Section]:
    yield report.Section('Runs', tuple(map(_run, comparison.runs)))
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
                yield report.Section(f'{between}: {title}: {len(changes)}',
                                     tuple(map(str, changes)))
        if difference.durations:
            yield report.Section(
                f'{between}: largest changes of duration',
                tuple(map(_duration, difference.durations)))
        elif empty:
            yield report.Section(between, ('no difference',))
    grid = comparison.grid
    # Names of tests are too long for a table: statuses in the order of the
    # runs come first.
    yield report.Section(grid.title, tuple(
        f'{", ".join(row.cells)}: {row.name}' for row in grid.rows))


def _run(run: verdict.Verdict) -> str:
    title, *cluster = _head(run.result)
    about = f' ({", ".join(cluster)})' if cluster else ''
    return f'{title}: {run}{about}'


def _head(result: model.Result) -> tuple[str, ...]:
    """The title of a run, and what distinguishes its cluster."""
    cluster = result.cluster
    return (result.title, *filter(None, (
        cluster.driver, cluster.cni, cluster.kubernetes)))


def _duration(change: compare.Change) -> str:
    first, second = change.seconds
    return (f'{_delta(change.delta)} ({text.duration(first)} → '
            f'{text.duration(second)}) {change.name}')


def _delta(seconds: float | None) -> str:
    if seconds is None:
        return '?'
    return ('+' if seconds >= 0 else '-') + text.duration(abs(seconds))


def _change(change: compare.Change) -> json_types.Object:
    return {'name': change.name, 'was': change.was or None,
            'before': change.before or None, 'after': change.after or None,
            'seconds': list(change.seconds)}
