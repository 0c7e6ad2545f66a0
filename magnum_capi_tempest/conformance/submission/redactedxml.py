# SPDX-License-Identifier: Apache-2.0

"""Redacts a JUnit file, which stays well-formed. Streams.

Patterns for secrets do not know ``&#34;``, and a replacement must not become a
tag: so each text and each value is redacted in its decoded form, and encoded
again.
"""

import collections
from xml.parsers import expat
from xml.sax import saxutils

from magnum_capi_tempest import redact

_PIECE = 512 << 10
_IN_TEXT = {'\r': '&#13;'}
_IN_VALUE = {'"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;'}


def copy(source, stream) -> collections.Counter:
    """Copy a JUnit file.

    :param source: binary file that :class:`~..junit.Parser` has read: it is
        safe to read.
    :param stream: binary file to write.
    :returns: number of secrets by kind.
    """
    writer = _Writer(stream)
    parser = expat.ParserCreate('UTF-8')
    parser.buffer_text = True
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text.append
    while piece := source.read(_PIECE):
        parser.Parse(piece, False)
    parser.Parse(b'', True)
    stream.write(b'\n')
    return writer.counts


class _Writer:

    def __init__(self, stream):
        self._stream = stream
        self.text = []
        self.counts = collections.Counter()
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n')

    def start(self, name, attributes):
        self._flush()
        if name == 'property':
            attributes = self._property(attributes)
        self._write('<' + name + ''.join(
            f' {key}="{saxutils.escape(self._clean(value), _IN_VALUE)}"'
            for key, value in attributes.items()) + '>')

    def _property(self, attributes):
        """A name and its value are in two attributes."""
        found = redact.examine(
            f'{attributes.get("name", "")}: {attributes.get("value", "")}')
        if not found.counts:
            return attributes
        self.counts.update(found.counts)
        return {**attributes, 'value': redact.MARK}

    def end(self, name):
        self._flush()
        self._write(f'</{name}>')

    def _flush(self):
        text = ''.join(self.text)
        self.text.clear()
        if text:
            self._write(saxutils.escape(self._clean(text), _IN_TEXT))

    def _clean(self, text):
        if not text.strip():
            return text
        found = redact.examine(text)
        self.counts.update(found.counts)
        return found.text

    def _write(self, text):
        self._stream.write(text.encode())
