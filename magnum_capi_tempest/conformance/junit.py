# SPDX-License-Identifier: Apache-2.0

"""Parses the JUnit file of Ginkgo, which is not trusted, as a stream.

Cases are counted one by one: the summary attributes of a file can say that
nothing failed although a case did (as in the false submission in the tests of
cncf's verify-conformance bot), so they are only used for comparison. Status
and content of a case can contradict each other; the worse one counts.

A document type is refused, so that only XML's own entities exist; UTF-8 is the
only encoding. The size of a tag, the depth and the number of distinct words
are limited, because expat keeps them in memory.
"""

import dataclasses
import datetime
import math
import re
import typing
from xml.parsers import expat

from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import names
from magnum_capi_tempest import texts

#: Limits, several times what real files have (v1.34: 7,144 specs, 2.6 MB).
#: Bytes of a whole tag, levels, distinct names of elements and attributes.
TOKEN, DEPTH, WORDS = 1 << 20, 32, 100
#: Test cases, and characters of the name of one.
CASES, NAME = 50_000, 2048
#: Characters of a failure to keep, from its start, and of a test's output,
#: around its failure or from its end.
FAILURE, OUTPUT = 16_000, 16_000
#: Bytes of all names of a plugin, and of all failures and output: when these
#: are used up, later failures get a line each, and then nothing.
NAMES, TEXT = 8 << 20, 8 << 20

#: Ginkgo's status of a spec -> ours (onsi/ginkgo, types.go).
_STATUSES = {
    'passed': model.PASSED, 'skipped': model.SKIPPED,
    'pending': model.SKIPPED, 'failed': model.FAILED,
    'timedout': model.FAILED, 'panicked': model.FAILED,
    'aborted': model.FAILED, 'interrupted': model.UNFINISHED}
#: Words that are more specific than ours.
_DETAILS = frozenset(('pending', 'timedout', 'panicked', 'aborted',
                      'interrupted'))
#: Ginkgo's message when the time of the suite, not of the spec, was over.
_SUITE_TIMEOUT = 'suite timeout occurred'
#: The line in an output that reports the failure. Its cause is before it;
#: what the framework then looked up (events, pods, nodes) is after it.
_FAILED = re.compile(r'^[ \t]*\[(?:FAILED|TIMEDOUT|PANICKED|INTERRUPTED|'
                     r'ABORTED)\]', re.MULTILINE)
_BAD = frozenset(('failure', 'error'))
_OUTPUTS = frozenset(('system-out', 'system-err'))


@dataclasses.dataclass
class Suite:
    """The content of one or several JUnit files.

    :param claims: sums that the files state themselves: ``tests``,
        ``failures`` and ``errors``, of the outermost element that has them.
    :param counted: cases by ``passed``, ``failed`` and ``skipped``, by their
        content alone and including suite nodes.
    :param properties: Ginkgo's options, ``FocusStrings`` and others.
    :param shortened: cases whose failure and output were too long to keep.
    :param contradictions: names of cases whose status and content differ.
    """

    specs: list[model.Spec] = dataclasses.field(default_factory=list)
    nodes: list[model.SuiteNode] = dataclasses.field(default_factory=list)
    claims: dict[str, int] = dataclasses.field(default_factory=dict)
    counted: dict[str, int] = dataclasses.field(default_factory=dict)
    properties: dict[str, str] = dataclasses.field(default_factory=dict)
    contradictions: list[str] = dataclasses.field(default_factory=list)
    shortened: int = 0
    started: datetime.datetime | None = None
    seconds: float | None = None
    #: Bytes that may still be kept: of names, of texts, of lines.
    room: dict[str, int] = dataclasses.field(default_factory=lambda: {
        'names': NAMES, 'text': TEXT, 'lines': TEXT // 4})


class _Case:
    """A test case, as far as it has been read."""

    __slots__ = ('name', 'line', 'status', 'seconds', 'bad', 'skipped',
                 'message', 'reason', 'failure', 'output')

    def __init__(self, name: str, line: int, attributes: dict[str, str]
                 ) -> None:
        self.name = name
        self.line = line
        self.status = attributes.get('status', '')
        self.seconds = seconds(attributes.get('time'))
        self.bad = self.skipped = False
        self.message = self.reason = ''
        self.failure: list[str] = []
        self.output: list[str] = []

    def end(self) -> tuple[str, str, bool]:
        """How it ended: the worse of its status and its content.

        :returns: our status, Ginkgo's word if it is more specific, and whether
            status and content differ.
        """
        status = _STATUSES.get(self.status)
        differ = False
        if self.bad:
            if status not in (model.FAILED, model.UNFINISHED):
                differ = status is not None
                status = model.FAILED
        elif status is None:
            status = (model.SKIPPED if self.skipped
                      else model.PASSED if not self.status
                      else model.FAILED)
        elif status == model.PASSED and self.skipped:
            differ, status = True, model.SKIPPED
        detail = self.status if self.status in _DETAILS else ''
        if status == model.SKIPPED and self.reason.startswith('skipped - '):
            detail = model.SKIPPED_ITSELF
        return status, detail, differ

    def why(self) -> tuple[str, str]:
        """Failure and output, cleaned and shortened."""
        failure = texts.start('\n'.join(
            part for part in (self.message, ''.join(self.failure))
            if part).strip(), FAILURE)
        text = ''.join(self.output)
        kept = _around_failure(text)
        output = texts.clean(text[kept])
        if kept.start:
            output = '[...]\n' + output.partition('\n')[2]
        return failure, (output + '\n[...]' if len(text) > kept.stop
                         else output)


class Parser:
    """Takes a JUnit file in pieces; :meth:`close` returns the Suite.

    :param where: name of the file, for errors.
    :param suite: :class:`Suite` of another file, to which this one is added.
    :raises Damage: from :meth:`feed` and :meth:`close`: it is not XML, or not
        safe to read.
    """

    def __init__(self, where: object, suite: Suite | None = None) -> None:
        self._where = where
        self._suite = suite or Suite()
        self._before = len(self._suite.specs)
        self._cases = sum(self._suite.counted.values())
        self._case: _Case | None = None
        #: Where text goes now, and whether it is that of a failure.
        self._kept: tuple[list[str], bool] | None = None
        self._claims: set[str] = set()
        self._words: set[str] = set()
        self._depth = self._fed = 0
        self._first = b''
        # UTF-8, whatever the document declares.
        parser = expat.ParserCreate('UTF-8')
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        self._expat = parser

    def feed(self, piece: bytes) -> None:
        """Parse the next bytes."""
        if len(self._first) < 2:
            # Expat trusts a byte order mark more than its caller.
            self._first += bytes(piece[:2])
            if self._first[:2] in (b'\xff\xfe', b'\xfe\xff'):
                self._refuse('UTF-16')
        self._parse(piece, False)
        self._fed += len(piece)
        if self._fed - self._expat.CurrentByteIndex > TOKEN:
            self._refuse(f'a tag of more than {TOKEN} bytes')

    def close(self) -> Suite:
        """Finish the file, and return the Suite."""
        self._parse(b'', True)
        if self._before:
            specs = self._suite.specs
            specs[:] = _merged(specs[:self._before], specs[self._before:])
        return self._suite

    def _parse(self, piece: bytes, final: bool) -> None:
        try:
            self._expat.Parse(piece, final)
        except expat.ExpatError as e:
            raise damage.Damage(
                'The JUnit file is not well-formed XML', where=self._where,
                last_seen=str(e)) from e

    def _refuse(self, what: str) -> typing.NoReturn:
        raise damage.Damage(f'The JUnit file holds {what}', where=self._where,
                            last_seen=f'line {self._expat.CurrentLineNumber}')

    def _doctype(self, *args: object) -> None:
        self._refuse('a document type')

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            self._refuse(f'elements nested deeper than {DEPTH}')
        if name not in self._words or not self._words.issuperset(attributes):
            self._words.add(name)
            self._words.update(attributes)
            if len(self._words) > WORDS:
                self._refuse(f'more than {WORDS} kinds of elements and '
                             'attributes')
        if name == 'testcase':
            self._begin(attributes)
        elif self._case is not None:
            self._inside(self._case, name, attributes)
        elif name == 'property':
            self._property(attributes)
        elif name in ('testsuites', 'testsuite'):
            self._sums(attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._kept = None
        if name == 'testcase' and self._case:
            ended, self._case = self._case, None
            self._finish(ended)

    def _begin(self, attributes: dict[str, str]) -> None:
        if self._case is not None:
            self._refuse('a test case within another')
        self._cases += 1
        if self._cases > CASES:
            self._refuse(f'more than {CASES} test cases')
        name = attributes.get('name', '')
        if len(name) > NAME:
            self._refuse(f'a name of more than {NAME} characters')
        self._case = _Case(texts.clean(name), self._expat.CurrentLineNumber,
                           attributes)

    def _inside(self, current: _Case, name: str, attributes: dict[str, str]
                ) -> None:
        self._kept = None
        if name == 'skipped':
            current.skipped = True
            current.reason = attributes.get('message', '')
        elif name in _BAD:
            current.bad = True
            current.message = attributes.get('message', '')
            self._kept = current.failure, True
        elif name in _OUTPUTS:
            self._kept = current.output, False

    def _text(self, data: str) -> None:
        """Keep the start of a failure; of an output the part around it."""
        if self._kept is None:
            return
        kept, failure = self._kept
        kept.append(data)
        if len(kept) > 64:
            joined = ''.join(kept)
            kept[:] = [joined[:FAILURE + 1] if failure
                       else joined[_around_failure(joined, 1)]]

    def _property(self, attributes: dict[str, str]) -> None:
        if len(self._suite.properties) < WORDS:
            key = texts.line(attributes.get('name', ''), 100)
            value = texts.line(attributes.get('value', ''), 2000)
            self._suite.properties.setdefault(key, value)

    def _sums(self, attributes: dict[str, str]) -> None:
        suite = self._suite
        for key in ('tests', 'failures', 'errors'):
            value = attributes.get(key, '')
            if (value.isdecimal() and len(value) < 10
                    and key not in self._claims):
                # For each file, that of its outermost element.
                self._claims.add(key)
                suite.claims[key] = suite.claims.get(key, 0) + int(value)
        if suite.seconds is None:
            suite.seconds = seconds(attributes.get('time'))
        if suite.started is None:
            suite.started = _moment(attributes.get('timestamp', ''))

    def _finish(self, ended: _Case) -> None:
        suite, name = self._suite, ended.name
        status, detail, differ = ended.end()
        if differ:
            suite.contradictions.append(name)
        counted = ('skipped' if ended.skipped else
                   'failed' if ended.bad else 'passed')
        suite.counted[counted] = suite.counted.get(counted, 0) + 1
        failure = output = ''
        if status in (model.FAILED, model.UNFINISHED):
            failure, output = ended.why()
            if _SUITE_TIMEOUT in failure and detail == 'timedout':
                status = model.UNFINISHED
            if not self._room('text', failure + output):
                suite.shortened += 1
                failure, output = texts.line(failure, 300), ''
                if not self._room('lines', failure):
                    failure = ''
        elif detail == model.SKIPPED_ITSELF:
            failure = texts.line(ended.reason, 500)
            if not self._room('lines', failure):
                failure = ''
        if not self._room('names', name):
            self._refuse(f'more than {NAMES} bytes of names')
        if names.suite_node(name):
            suite.nodes.append(model.SuiteNode(
                ' '.join(name.split()), status, failure))
        else:
            suite.specs.append(model.Spec(
                names.spec(name), status, detail, ended.seconds,
                failure, output, ended.line))

    def _room(self, kind: str, text: str) -> bool:
        """Count a text to keep; False if there is no room for it."""
        size = len(text) * (1 if text.isascii() else 4)
        room = self._suite.room
        if size > room[kind]:
            return False
        room[kind] -= size
        return True


def seconds(text: str | None) -> float | None:
    """A duration, None if malformed."""
    try:
        value = float(text or '')
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _around_failure(text: str, more: int = 0) -> slice:
    """The slice of an output to keep: around its failure, or at its end.

    :param more: additional characters, which reveal that there was more.
    """
    failed = _FAILED.search(text)
    begin = (max(failed.start() - OUTPUT // 2, 0) if failed
             else max(len(text) - OUTPUT, 0))
    return slice(begin, begin + OUTPUT + more)


def _merged(before: list[model.Spec], after: list[model.Spec]
            ) -> list[model.Spec]:
    """Specs of two files: one may have run what the other skipped."""
    ran = {spec.name for spec in after if spec.ran}
    known = {spec.name for spec in before}
    return [*(spec for spec in before if spec.ran or spec.name not in ran),
            *(spec for spec in after if spec.ran or spec.name not in known)]


def _moment(text: str) -> datetime.datetime | None:
    """Parse Ginkgo's time, which is the local time of its pod: UTC."""
    try:
        moment = datetime.datetime.fromisoformat(text[:40])
    except ValueError:
        return None
    return (moment if moment.tzinfo
            else moment.replace(tzinfo=datetime.timezone.utc))
