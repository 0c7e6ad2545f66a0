# SPDX-License-Identifier: Apache-2.0

"""The matrix as JSON, Markdown and on a terminal."""

import rich.box
from rich.table import Table
from rich.text import Text

from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.report import text
from magnum_capi_tempest.scorecard import model

#: Grows when a name in the JSON changes its meaning.
VERSION = 1

TITLE = 'Who keeps which promise'

#: Characters of a behaviour in a table; the other forms have all of it.
WIDTH = 160

_STYLES = {model.KEPT: 'green', model.UNTRIED: 'dim',
           model.ENVIRONMENT: 'yellow'}
_HEADS = (('promises', 'Promises'), ('operations', 'Operations'))


def document(matrix) -> dict:
    """The whole matrix, ready for JSON. Its names are an interface."""
    return {
        'version': VERSION,
        'ok': matrix.exit_code == 0,
        'drivers': [{
            'name': record.driver,
            'holds': matrix.holds(column),
            'verdict': matrix.verdict(column),
            'declared': sorted(record.declared),
            'counts': matrix.count(column),
            'broken': matrix.broken(column),
            'other_failures': list(matrix.failures[column]),
            'environment': matrix.hindered(column),
            'started': record.started,
            'seconds': record.seconds,
            'facts': record.facts,
            'problems': list(record.problems),
        } for column, record in enumerate(matrix.columns)],
        **{part: [{
            'name': row.name,
            'what': row.what,
            'tests': list(row.tests),
            'cells': [{
                'state': cell.state, 'said': cell.said,
                'tests': list(cell.tests), 'declared': cell.declared,
            } for cell in row.cells],
        } for row in getattr(matrix, part)] for part, _ in _HEADS},
    }


def to_json(matrix) -> str:
    return json_.dumps(document(matrix))


def to_markdown(matrix) -> str:
    """For a review comment or a CI job's summary."""
    mark = '❌' if matrix.exit_code else '✅'
    out = [f'## {mark} {TITLE}', '']
    out += [f'- {markdown.escape(line)}' for line in summary(matrix)]
    drivers = [record.driver for record in matrix.columns]
    for part, title in _HEADS:
        out += ['', f'### {title}', '',
                _row([part[:-1], *drivers]),
                _row(['---'] * (len(drivers) + 1), escape=False)]
        out += [_row([row.name, *(words(cell) for cell in row.cells)])
                for row in getattr(matrix, part)]
    return '\n'.join(out) + '\n'


def _row(cells, escape=True):
    if escape:
        # A line of the report room is shorter than a behaviour may be.
        cells = [markdown.escape(cell[:WIDTH]) for cell in cells]
    return f'| {" | ".join(cells)} |'


def words(cell) -> str:
    """A cell in one line: its state, what stands out, what was measured."""
    return f'{state(cell)}: {cell.said}'


def state(cell) -> str:
    """The state of a cell, and whether it is what was promised."""
    if cell.state == model.BROKEN and cell.declared is False:
        return 'broken, not promised'
    return 'kept, not promised' if cell.unexpected else cell.state


def summary(matrix) -> list[str]:
    """A sentence a driver, then what no row shows."""
    lines = []
    for column, record in enumerate(matrix.columns):
        lines.append(matrix.verdict(column))
        lines += [f'{record.driver}: {problem}'
                  for problem in record.problems]
        lines += [f'{record.driver}: failed, and judges no row: {test}'
                  for test in matrix.failures[column]]
        lines += [f'{record.driver}: {test}: {record.outcomes[test].said}'
                  for test in matrix.hindered(column)]
    return lines


def show(matrix, *, page=None, console=None):
    """Print the matrix.

    :param page: path of the HTML page, printed last when given.
    :param console: ``rich.console.Console``, standard output by default.
    """
    console = console or terminal.Console(highlight=False)
    say = terminal.printer(console)
    say()
    say(TITLE, 'bold red' if matrix.exit_code else 'bold green')
    for line in summary(matrix):
        say(f'  {line}')
    for part, title in _HEADS:
        table = Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(title, overflow='fold')
        for record in matrix.columns:
            table.add_column(Text(text.line(record.driver)), ratio=1,
                             overflow='fold')
        for row in getattr(matrix, part):
            table.add_row(Text(row.name), *map(_shown, row.cells))
        console.print(table)
    if page:
        say(f'Report: {page}')


def _shown(cell):
    style = _STYLES.get(cell.state, 'red' if cell.bad else 'yellow')
    return Text.assemble(
        (state(cell), style),
        (f' {text.line(cell.said, WIDTH)}', 'dim'))
