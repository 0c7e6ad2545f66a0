# SPDX-License-Identifier: Apache-2.0

"""Redacts a JUnit file, which stays well-formed. Streams.

Patterns for secrets do not know ``&#34;``, and a replacement must not become a
tag: so each text and each value is redacted in its decoded form, and encoded
again.
"""

import collections
from xml.parsers import expat
from xml.sax import saxutils

from magnum_capi import redact
from magnum_capi_tempest.conformance.results import damage

_IN_TEXT = {'\r': '&#13;'}
_IN_VALUE = {'"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;'}


def copy(pieces, stream, where, token=1 << 20) -> collections.Counter:
    """Copy a JUnit file.

    :param pieces: iterable of bytes.
    :param stream: binary file to write.
    :param where: name of the file, for errors.
    :param token: most bytes of a tag.
    :returns: number of secrets by kind.
    :raises Damage: it is not XML, or not safe to read.
    """
    writer = _Writer(stream, where)
    fed = 0
    try:
        for piece in pieces:
            writer.parser.Parse(bytes(piece), False)
            fed += len(piece)
            if fed - writer.parser.CurrentByteIndex > token:
                raise damage.Damage(
                    f'The JUnit file holds a tag of more than {token} bytes',
                    where=where)
        writer.parser.Parse(b'', True)
    except expat.ExpatError as e:
        raise damage.Damage('The JUnit file is not well-formed XML',
                            where=where, last_seen=str(e)) from e
    stream.write(b'\n')
    return writer.counts


class _Writer:

    def __init__(self, stream, where):
        self._stream = stream
        self._where = where
        self._text = []
        self.counts = collections.Counter()
        self.parser = expat.ParserCreate('UTF-8')
        self.parser.ordered_attributes = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append
        self._write('<?xml version="1.0" encoding="UTF-8"?>\n')

    def _doctype(self, *args):
        raise damage.Damage('The JUnit file holds a document type',
                            where=self._where)

    def _start(self, name, attributes):
        self._flush()
        pairs = dict(zip(attributes[::2], attributes[1::2]))
        if name == 'property':
            self._property(pairs)
        self._write('<' + name + ''.join(
            f' {key}="{saxutils.escape(self._clean(value), _IN_VALUE)}"'
            for key, value in pairs.items()) + '>')

    def _property(self, pairs):
        """A name and its value are in two attributes."""
        found = redact.examine(
            f'{pairs.get("name", "")}: {pairs.get("value", "")}')
        if found.counts:
            self.counts.update(found.counts)
            pairs['value'] = redact.MARK

    def _end(self, name):
        self._flush()
        self._write(f'</{name}>')

    def _flush(self):
        text = ''.join(self._text)
        self._text.clear()
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
