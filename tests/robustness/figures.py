# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
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
