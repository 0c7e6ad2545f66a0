# SPDX-License-Identifier: Apache-2.0

"""The conformance tests in a junit_01.xml, each with its line. Pure.

Reads what the bot reads (sonobuoy's JUnitTestSuites): test cases of suites
directly below ``<testsuites>``, except skipped ones, whatever the ``status``
attributes and the sums of the file say.
"""

import dataclasses
from xml.parsers import expat

from magnum_capi_tempest.conformance.results import case
from magnum_capi_tempest.conformance.results import limits
from magnum_capi_tempest import texts

#: The elements' position that the bot expects.
_CASE = ['testsuites', 'testsuite', 'testcase']
_SUITE = _CASE[:2]
_PROPERTY = [*_SUITE, 'properties', 'property']
_ENDS = frozenset(('skipped', 'failure', 'error'))
#: The bot repairs names in this way; the quotes in one name changed.
_REPAIRS = (('&#39;', "'"), ('&#34;', '"'), ('&gt;', '>'),
            ("'cat /tmp/health'", '"cat /tmp/health"'))


@dataclasses.dataclass(frozen=True)
class Case:
    """A test case with ``[Conformance]`` in its name.

    :param name: codename, without ``[It]``.
    :param line: of its tag, from 1.
    :param ends: which of ``skipped``, ``failure`` and ``error`` it has.
    """

    name: str
    line: int
    ends: frozenset = frozenset()


@dataclasses.dataclass(frozen=True)
class Cases:
    """The content of the file.

    :param broken: (text, line) if the bot cannot read it.
    :param ran: specs of any kind that were not skipped.
    :param failed: those of them that failed.
    :param seed: random seed of Ginkgo, empty if unknown.
    :param seconds: duration of the suite, None if unknown.
    """

    conformance: tuple[Case, ...] = ()
    broken: tuple[str, int] | None = None
    ran: int = 0
    failed: int = 0
    seed: str = ''
    seconds: float | None = None


def codename(name) -> str:
    """Name of a test as in the conformance list."""
    for old, new in _REPAIRS:
        name = name.replace(old, new)
    return name.removeprefix('[It] ')


class _Refused(Exception):
    pass


def read(pieces, most=limits.DEFAULT) -> Cases:
    """Read a JUnit file.

    :param pieces: iterable of bytes.
    :param most: :class:`~..results.limits.Limits`.
    """
    reader = _Reader(most)
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.feed(b'', final=True)
    except expat.ExpatError as e:
        return Cases(broken=(f'it is not XML: {expat.ErrorString(e.code)}',
                             e.lineno))
    except _Refused as e:
        return Cases(broken=(str(e), reader.line))
    return Cases(tuple(reader.conformance), None, reader.ran, reader.failed,
                 reader.seed, reader.seconds)


class _Reader:

    def __init__(self, most):
        self._most = most
        self._path = []
        self._case = None
        self._ends = set()
        self._count = self._fed = 0
        self.conformance = []
        self.ran = self.failed = 0
        self.seed, self.seconds = '', None
        self._expat = expat.ParserCreate()
        self._expat.XmlDeclHandler = self._declaration
        self._expat.StartDoctypeDeclHandler = self._doctype
        self._expat.EntityDeclHandler = self._doctype
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end

    @property
    def line(self):
        return self._expat.CurrentLineNumber

    def feed(self, piece, final=False):
        self._expat.Parse(piece, final)
        self._fed += len(piece)
        if self._fed - self._expat.CurrentByteIndex > self._most.token:
            raise _Refused(f'a tag is longer than {self._most.token} bytes')

    def _declaration(self, version, encoding, standalone):
        if encoding and encoding.lower() != 'utf-8':
            raise _Refused(f'its encoding is {encoding}, and the bot reads '
                           'UTF-8 only')

    def _doctype(self, *args):
        raise _Refused('it has a document type')

    def _start(self, name, attributes):
        if not self._path and name != _CASE[0]:
            raise _Refused(f'it begins with <{name}>, and the bot reads '
                           '<testsuites> only')
        self._path.append(name)
        if len(self._path) > self._most.depth:
            raise _Refused('it is nested too deeply')
        if self._path == _CASE:
            self._count += 1
            if self._count > self._most.cases:
                raise _Refused(f'it has more than {self._most.cases} cases')
            self._case = (attributes.get('name', ''), self.line)
            self._ends = set()
        elif self._path[:-1] == _CASE and name in _ENDS:
            self._ends.add(name)
        elif self._path == _SUITE and self.seconds is None:
            self.seconds = case.seconds(attributes.get('time'))
        elif (self._path == _PROPERTY
                and attributes.get('name') == 'RandomSeed'):
            self.seed = texts.line(attributes.get('value', ''), 20)

    def _end(self, name):
        if self._path == _CASE:
            name, line = self._case
            if 'skipped' not in self._ends and name.startswith('[It]'):
                self.ran += 1
                self.failed += bool(self._ends)
            if '[Conformance]' in name:
                self.conformance.append(
                    Case(codename(name), line, frozenset(self._ends)))
        self._path.pop()
