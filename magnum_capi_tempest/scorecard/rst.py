# SPDX-License-Identifier: Apache-2.0

"""The matrix as reStructuredText, for the documentation.

Three tables: what drivers do about the promises, about the operations, and
which test is about what. The last one is there without any record.
"""

import re

from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import plan

_SPECIAL = re.compile(r'([\\`*_|<>:])')


def render(matrix, tests) -> str:
    """The tables of a :class:`~.model.Matrix`.

    :param tests: of :class:`~.suite.Test`.
    """
    drivers = [record.driver for record in matrix.columns]
    out = [*_measured(matrix), '']
    out += _title('Promises')
    out += _table(['promise', *drivers], (
        [f'``{row.name}``', *map(_cell, row.cells)]
        for row in matrix.promises))
    out += _title('Operations')
    out += _table(['operation', *drivers], (
        [f'``{row.name}``: {escape(row.what)}', *map(_cell, row.cells)]
        for row in matrix.operations))
    out += _title('Tests')
    out += _table(['test', 'promises', 'operations', *drivers], (
        [f'``{test.id}``',
         *(', '.join(f'``{name}``' for name in sorted(some))
           for some in (test.flags, test.operations)),
         *(_ended(record.of(test)) for record in matrix.columns)]
        for test in tests))
    return '\n'.join(out)


def plans(costs) -> str:
    """What a run takes, for some clouds and numbers of workers.

    :param costs: of :class:`~.plan.Cost`.
    """
    found = [plan.plan(costs, workers=workers, minutes=minutes)
             for minutes in (1, 5, 15, 30) for workers in (1, 2, 4)]
    kinds = list(found[0].quotas)
    return '\n'.join((
        escape(plan.lines(found[0])[0]), '',
        *_table(['a cluster takes', 'workers', 'hours', *kinds], (
            [f'{one.minutes} min', one.workers, f'{one.hours:g}',
             *one.quotas.values()] for one in found))))


def _measured(matrix):
    for column, record in enumerate(matrix.columns):
        ran = sum(outcome.status != 'skipped'
                  for outcome in record.outcomes.values())
        facts = ', '.join(f'{key} {value}'
                          for key, value in record.facts.items())
        yield (f'* {escape(matrix.verdict(column))}. Measured '
               f'{escape(record.started[:10] or "at an unknown time")}: '
               f'{ran} tests ran in {record.seconds / 60:.0f} min'
               + (f' ({escape(facts)})' if facts else '') + '.')


def _title(title):
    return ['', title, '~' * len(title), '']


def _cell(cell):
    return f'**{forms.state(cell)}** {escape(cell.said)}'


def _ended(outcome):
    return outcome.status if outcome else 'not run'


def _table(heads, rows):
    yield from ('.. list-table::', '   :header-rows: 1', '')
    for cells in (heads, *rows):
        for number, cell in enumerate(cells):
            yield f'   {"* -" if number == 0 else "  -"} {cell}'.rstrip()
    yield ''


def escape(said) -> str:
    """A text that reStructuredText leaves alone."""
    return _SPECIAL.sub(r'\\\1', said)
