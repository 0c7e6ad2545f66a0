# SPDX-License-Identifier: Apache-2.0

"""Counts what Sonobuoy counted: parses ``sonobuoy_results.yaml`` as a
stream.

That file repeats the JUnit file, 1.8 MB of it, and only its statuses are
needed. A YAML library would take longer for it than everything else takes for
the whole archive, and would build a tree of whatever an archive contains. The
output of Go's encoder is regular: a key of an item is on a line of its own, at
the indentation of the item, and text of several lines is indented deeper than
its key. So a line is parsed only at the indentation of the keys of an open
item.
"""

import collections
import re

from magnum_capi_tempest import texts


_LINE = re.compile(rb'( *)(- )?(name|status|items|details|meta):(?: (.*))?$')
#: A leaf, whose name may have several lines, followed by the start of another
#: item; and a series of such leaves, which is most of such a document.
_LEAF = (rb'- name: [^\n]*+\n(?:\1   [^\n]*+\n)*'
         rb'\1  status: [a-z]{1,50}\n(?=\1- )')
_LEAVES = re.compile(rb'( *)' + _LEAF + rb'(?:\1' + _LEAF + rb')*')
#: Longer lines belong to the text of a failure.
_LONGEST = 4096
_DEEPEST = 64
_KINDS = 50


class Counter:
    """Takes the document in pieces.

    :ivar status: status of the plugin as a whole, empty if missing.
    :ivar counts: number of leaf items by status, including suite nodes.
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
        text = self._rest + bytes(piece)
        at, end = 0, text.rfind(b'\n') + 1
        if self._long and end:
            # The end of a line that was too long for a key.
            at, self._long = text.index(b'\n') + 1, False
        while at < end:
            at = self._leaves(text, at, end) or self._next(text, at)
        self._rest = b'' if self._long else text[end:]
        if len(self._rest) > _LONGEST:
            self._line(self._rest[:_LONGEST])
            self._rest, self._long = b'', True

    def _next(self, text, at):
        """Process the line at this position; return that of the next."""
        end = text.index(b'\n', at)
        if text[at:at + 1] in b' -nsidm':
            self._line(text[at:end])
        return end + 1

    def _leaves(self, text, at, end):
        """Process the leaves at this position like :meth:`_line` would.

        :returns: position of the line after them, None if there are none.
        """
        match = _LEAVES.match(text, at, end)
        if not match:
            return None
        column, lines = len(match[1]), match[0].split(b'\n')
        if self._skip is None or column <= self._skip:
            self._leave(column)
            if self._open[-1][2] and len(self._open) < _DEEPEST:
                self._skip = None
                self._count_all(lines, b' ' * column + b'  status: ')
                return match.end()
        # No leaves here, or too deep. Matching them again line by line would
        # take quadratic time.
        for line in lines[:-1]:
            self._line(line)
        return match.end()

    def _count_all(self, lines, key):
        found = collections.Counter(
            line for line in lines if line.startswith(key))
        for line, number in found.items():
            self._count(line[len(key):].decode(), number)

    def close(self):
        """Finish the document."""
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
            # Within "details" or "meta", whose keys are arbitrary.
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
        """Close the items whose keys are right of this column."""
        while self._open[-1][0] > column:
            self._close()

    def _close(self):
        _, status, has_items = self._open.pop()
        if not self._open:
            self.status = status
        elif not has_items:
            self._count(status, 1)

    def _count(self, status, number):
        if status in self.counts or len(self.counts) < _KINDS:
            self.counts[status] = self.counts.get(status, 0) + number
        else:
            self.overflow = True
