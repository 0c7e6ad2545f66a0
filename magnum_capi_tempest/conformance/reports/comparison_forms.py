# SPDX-License-Identifier: Apache-2.0
"""A comparison for a terminal and as Markdown; HTML is in :mod:`.page`."""

import rich.box
from rich.table import Table
from rich.text import Text

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import comparison as comparisons
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.report import text

#: Rows of the grid that are shown; JSON and HTML have all of them.
ROWS = 40

TITLE = 'Comparison of conformance runs'
_STYLES = {model.PASSED: 'green', model.FAILED: 'red',
           model.UNFINISHED: 'red', model.SKIPPED: 'yellow'}


def to_json(comparison) -> str:
    return json_.dumps(comparisons.document(comparison))


def to_markdown(comparison) -> str:
    """Short Markdown, for a review comment or a CI job's summary."""
    grid = comparison.grid
    mark = '❌' if comparison.exit_code else '✅'
    out = [f'## {mark} {TITLE}: {markdown.escape(comparison.conclusion)}']
    out += markdown.sections(comparisons.sections(comparison))
    out += ['', f'### {grid_title(grid)}']
    if grid.rows:
        heads = [' '.join(column.head) for column in grid.columns]
        out += ['', _row(['test', *heads]),
                _row(['---'] * (len(heads) + 1))]
        out += [_row([row.name, *row.cells]) for row in grid.rows[:ROWS]]
        out += _left(grid)
    return '\n'.join(out).rstrip() + '\n'


def show(comparison, *, console=None):
    """Print a comparison.

    :param console: ``rich.console.Console``, standard output by default.
    """
    console = console or terminal.Console(highlight=False)
    grid = comparison.grid
    say = terminal.printer(console)
    say()
    say(f'{TITLE}: {comparison.conclusion}',
        'bold red' if comparison.exit_code else 'bold green')
    terminal.show_sections(say, comparisons.sections(comparison))
    say()
    say(grid_title(grid))
    if not grid.rows:
        return
    table = Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    table.add_column('test', ratio=1, overflow='fold')
    for column in grid.columns:
        table.add_column(Text('\n'.join(map(text.line, column.head))))
    for row in grid.rows[:ROWS]:
        table.add_row(Text(text.line(row.name)), *(
            Text(cell, style=_STYLES.get(cell, 'dim')) for cell in row.cells))
    console.print(table)
    for line in _left(grid):
        say(line)


def grid_title(grid) -> str:
    """How many tests each part of a grid has."""
    return (f'Tests by cluster: {len(grid.rows)} failed somewhere, '
            f'{len(grid.partial)} passed and did not run everywhere, '
            f'{grid.all_passed} passed everywhere')


def _row(cells):
    return f'| {" | ".join(map(markdown.escape, cells))} |'


def _left(grid):
    left = len(grid.rows) - ROWS
    return ['', f'... and {left} more.'] if left > 0 else []
