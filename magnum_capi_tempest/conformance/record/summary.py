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

"""Counts what Sonobuoy counted: reads ``sonobuoy_results.yaml`` as it
streams by.

That file repeats the JUnit file, 1.8 MB of it, and is wanted only for its
statuses: a YAML library takes longer for it than everything else together
takes for the archive, and builds a tree of whatever an archive says. What
Go's encoder writes is regular: a key of an item stands on a line of its own,
at the indentation of the item; a text that goes over several lines is
indented deeper than its key. So a line is looked at only where the keys of
an item that is open can stand.
"""

import re

from magnum_capi_tempest import texts


_LINE = re.compile(rb'( *)(- )?(name|status|items|details|meta):(?: (.*))?$')
#: Longer ones belong to the text of a failure.
_LONGEST = 4096
_DEEPEST = 64
_KINDS = 50


class Counter:
    """Takes the document in pieces.

    :ivar status: status of the plugin as a whole, empty without one.
    :ivar counts: number of leaf items by status, suite nodes included.
    :ivar overflow: there are more statuses or levels than are counted.
    """

    def __init__(self):
        self.status = ''
        self.counts = {}
        self.overflow = False
        self._rest = b''
        # Open items, outermost first: [indentation of its keys, status,
        # whether it has items].
        self._open = [[0, '', False]]
        self._skip = None
        self._long = False

    def feed(self, piece):
        """Take the next bytes."""
        lines = (self._rest + bytes(piece)).split(b'\n')
        self._rest = lines.pop()
        if self._long:
            # The end of a line that was longer than a key can be.
            if lines:
                lines.pop(0)
                self._long = False
            else:
                self._rest = b''
        if len(self._rest) > _LONGEST:
            lines.append(self._rest[:_LONGEST])
            self._rest, self._long = b'', True
        for line in lines:
            if line[:1] in b' -nsidm':
                self._line(line)

    def close(self):
        """Say that there is no more."""
        if self._rest:
            self._line(self._rest)
        while self._open:
            self._close()
        return self

    def _line(self, line):
        match = _LINE.match(line)
        if not match:
            return
        column, dash = len(match[1]), match[2]
        key, value = match[3], match[4] or b''
        if self._skip is not None:
            # Within "details" or "meta", whose keys are anybody's.
            if column > self._skip:
                return
            self._skip = None
        self._leave(column)
        if dash:
            if not self._open[-1][2] or key != b'name':
                return
            column += len(dash)
            if len(self._open) < _DEEPEST:
                self._open.append([column, '', False])
            else:
                self.overflow = True
        if column != self._open[-1][0]:
            return
        if key == b'status':
            self._open[-1][1] = texts.line(
                value[:100].decode('utf-8', 'replace').strip('"\' '), 50)
        elif key == b'items' and not value.strip():
            self._open[-1][2] = True
        elif key in (b'details', b'meta'):
            self._skip = column

    def _leave(self, column):
        """Close the items whose keys stand behind this column."""
        while self._open[-1][0] > column:
            self._close()

    def _close(self):
        _, status, has_items = self._open.pop()
        if not self._open:
            self.status = status
        elif not has_items:
            if status in self.counts or len(self.counts) < _KINDS:
                self.counts[status] = self.counts.get(status, 0) + 1
            else:
                self.overflow = True
