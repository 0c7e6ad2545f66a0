# SPDX-License-Identifier: Apache-2.0

"""Redacts a JUnit file, which stays well-formed. Streams.

Patterns for secrets do not know ``&#34;``, and a replacement must not become a
tag: so each text and each value is redacted in its decoded form, and encoded
again.
"""

import collections
import typing
import xml.sax
from xml.sax import saxutils
from xml.sax import xmlreader

from magnum_capi_tempest import redact


def copy(source: typing.BinaryIO, stream: typing.BinaryIO
         ) -> collections.Counter[str]:
    """Copy a JUnit file.

    :param source: that :class:`~..junit.Parser` has read: it is safe to read.
    :returns: number of secrets by kind.
    """
    writer = _Writer(stream)
    given = xmlreader.InputSource()
    given.setByteStream(source)
    # As the other parser, whatever the file declares.
    given.setEncoding('UTF-8')
    parser = xml.sax.make_parser()
    parser.setContentHandler(writer)
    parser.parse(given)
    stream.write(b'\n')
    return writer.counts


class _Writer(saxutils.XMLGenerator):

    def __init__(self, stream: typing.BinaryIO) -> None:
        super().__init__(stream, 'UTF-8')
        self._text: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()

    def startElement(self, name: str, attrs: xmlreader.AttributesImpl
                     ) -> None:
        self._end_text()
        attributes = {key: self._clean(value) for key, value in attrs.items()}
        if name == 'property':
            # A name and its value are in two attributes.
            found = redact.examine(
                f'{attrs.get("name", "")}: {attrs.get("value", "")}')
            self.counts.update(found.counts)
            if found.counts:
                attributes['value'] = redact.MARK
        super().startElement(name, xmlreader.AttributesImpl(attributes))

    def endElement(self, name: str) -> None:
        self._end_text()
        super().endElement(name)

    def characters(self, content: str) -> None:
        self._text.append(content)

    def _end_text(self) -> None:
        # A parser reads a carriage return as a line feed, unless it is
        # encoded.
        for number, part in enumerate(
                self._clean(''.join(self._text)).split('\r')):
            self.ignorableWhitespace('&#13;' if number else '')
            super().characters(part)
        self._text.clear()

    def _clean(self, text: str) -> str:
        if not text.strip():
            return text
        found = redact.examine(text)
        self.counts.update(found.counts)
        return found.text
