# SPDX-License-Identifier: Apache-2.0
"""Collects what was measured and prints it as a table at the end."""

import os
import sys

#: How often each proof is repeated.
RUNS = int(os.environ.get('MAGNUM_CAPI_RUNS', '3'))


class Table:
    """Rows of texts, printed when all tests of a module have ended.

    :param title: what was measured.
    :param columns: heads of the columns.
    """

    def __init__(self, title, *columns):
        self._title = title
        self._rows = [columns]

    def add(self, *values):
        """Add a row; seconds are rounded."""
        self._rows.append(tuple(
            f'{v:.1f}' if isinstance(v, float) else str(v)
            for v in values))

    def show(self):
        """Print the table on standard error: stdout may be a stream."""
        widths = [max(map(len, column)) for column in zip(*self._rows)]
        print(f'\n{self._title}', file=sys.stderr)
        for row in self._rows:
            print('  '.join(v.ljust(w) for v, w in zip(row, widths)),
                  file=sys.stderr)
