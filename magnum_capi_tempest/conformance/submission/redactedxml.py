# SPDX-License-Identifier: Apache-2.0

"""Redacts a JUnit file, which stays well-formed. Streams.

Patterns for secrets do not know ``&#34;``, and a replacement must not become a
tag: so each text and each value is redacted in its decoded form, and encoded
again.
"""

import collections
import xml.sax
from xml.sax import saxutils
from xml.sax import xmlreader

from magnum_capi_tempest import redact


def copy(source, stream) -> collections.Counter:
    """Copy a JUnit file.

    :param source: binary file that :class:`~..junit.Parser` has read: it is
        safe to read.
    :param stream: binary file to write.
    :returns: number of secrets by kind.
    """
    writer = _Writer(stream)
    given = xmlreader.InputSource()
    given.setByteStream(source)
    # As the other parser, whatever the file declares.
    given.setEncoding('UTF-8')
    xml.sax.parse(given, writer)
    stream.write(b'\n')
    return writer.counts


class _Writer(saxutils.XMLGenerator):

    def __init__(self, stream):
        super().__init__(stream, 'UTF-8')
        self._text = []
        self.counts = collections.Counter()

    def startElement(self, name, attrs):
        self._end_text()
        attributes = {key: self._clean(value) for key, value in attrs.items()}
        if name == 'property':
            # A name and its value are in two attributes.
            said = f'{attrs.get("name", "")}: {attrs.get("value", "")}'
            found = redact.examine(said)
            self.counts.update(found.counts)
            if found.counts:
                attributes['value'] = redact.MARK
        super().startElement(name, attributes)

    def endElement(self, name):
        self._end_text()
        super().endElement(name)

    def characters(self, content):
        self._text.append(content)

    def _end_text(self):
        # A parser reads a carriage return as a line feed, unless it is
        # encoded.
        for number, part in enumerate(
                self._clean(''.join(self._text)).split('\r')):
            self.ignorableWhitespace('&#13;' if number else '')
            super().characters(part)
        self._text.clear()

    def _clean(self, text):
        if not text.strip():
            return text
        found = redact.examine(text)
        self.counts.update(found.counts)
        return found.text
