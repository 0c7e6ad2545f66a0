# SPDX-License-Identifier: Apache-2.0

"""Parses untrusted XML as a stream, within limits.

A document type is refused, so that only XML's own entities exist; UTF-8 is the
only encoding. The size of a tag, the depth and the number of distinct words
are limited, because expat keeps them in memory.
"""

from xml.parsers import expat

from magnum_capi_tempest.conformance.results import damage


class Stream:
    """Takes a document in pieces, and reports its elements.

    :param what: the file, for errors: "The JUnit file".
    :param where: name of the file, for errors.
    :param limits: :class:`~.limits.Limits`.
    :param start: called with an element's name and attributes.
    :param end: called with an element's name.
    :raises Damage: from :meth:`feed` and :meth:`close`.
    """

    def __init__(self, what, where, limits, start, end):
        self._what = what
        self._where = where
        self._limits = limits
        self._begun = start
        self._ended = end
        self._depth = 0
        self._fed = 0
        self._first = b''
        self._words = set()
        # UTF-8, whatever the document declares.
        parser = expat.ParserCreate('UTF-8')
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        self._expat = parser

    def feed(self, piece):
        """Parse the next bytes."""
        if len(self._first) < 2:
            # Expat trusts a byte order mark more than its caller.
            self._first += bytes(piece[:2])
            if self._first[:2] in (b'\xff\xfe', b'\xfe\xff'):
                self.refuse('UTF-16')
        self._parse(piece, False)
        self._fed += len(piece)
        if self._fed - self._expat.CurrentByteIndex > self._limits.token:
            self.refuse(f'a tag of more than {self._limits.token} bytes')

    def close(self):
        """Finish the document."""
        self._parse(b'', True)

    def listen(self, take):
        """Call a function with the text that follows; None: do not.

        Most text is the white space between elements, which is not worth the
        calls.
        """
        self._expat.CharacterDataHandler = take

    def refuse(self, what):
        """Give up on a document because of its content."""
        raise damage.Damage(f'{self._what} holds {what}', where=self._where)

    def _parse(self, piece, final):
        try:
            self._expat.Parse(piece, final)
        except expat.ExpatError as e:
            raise damage.Damage(f'{self._what} is not well-formed XML',
                                where=self._where, last_seen=str(e)) from e

    def _doctype(self, *args):
        self.refuse('a document type')

    def _start(self, name, attributes):
        self._depth += 1
        if self._depth > self._limits.depth:
            self.refuse(f'elements nested deeper than {self._limits.depth}')
        if name not in self._words or not self._words.issuperset(attributes):
            self._words.add(name)
            self._words.update(attributes)
            if len(self._words) > self._limits.words:
                self.refuse(f'more than {self._limits.words} kinds of '
                            'elements and attributes')
        self._begun(name, attributes)

    def _end(self, name):
        self._depth -= 1
        self._ended(name)
