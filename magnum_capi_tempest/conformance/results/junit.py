# SPDX-License-Identifier: Apache-2.0

"""Parses the JUnit file of Ginkgo as a stream.

Cases are counted one by one: the summary attributes of a file can say that
nothing failed although a case did (as in the false submission in the tests of
cncf's verify-conformance bot), so they are only used for comparison.

:mod:`.bounded_xml` refuses dangerous documents; here, cases and text are
limited.
"""

import dataclasses
import datetime

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.results import bounded_xml
from magnum_capi_tempest.conformance.results import case
from magnum_capi_tempest.conformance.results import suite_names
from magnum_capi_tempest import texts

_BAD = frozenset(('failure', 'error'))
_OUTPUTS = frozenset(('system-out', 'system-err'))


@dataclasses.dataclass
class Suite:
    """The content of a JUnit file.

    :param claims: sums that the files state themselves: ``tests``,
        ``failures`` and ``errors``, of the outermost element that has them.
    :param found: the counts that Sonobuoy would get: cases by ``passed``,
        ``failed`` and ``skipped``, including suite nodes.
    :param properties: Ginkgo's options, ``FocusStrings`` and others.
    :param shortened: cases whose failure and output were too long to keep.
    :param contradictions: names of cases whose status and content differ.
    """

    specs: list = dataclasses.field(default_factory=list)
    nodes: list = dataclasses.field(default_factory=list)
    claims: dict = dataclasses.field(default_factory=dict)
    found: dict = dataclasses.field(default_factory=dict)
    properties: dict = dataclasses.field(default_factory=dict)
    contradictions: list = dataclasses.field(default_factory=list)
    shortened: int = 0
    started: datetime.datetime | None = None
    seconds: float | None = None


class Budget:
    """Approximately how much text of an archive may still be kept, in bytes.

    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, limits):
        self._left = {'names': limits.names, 'text': limits.text,
                      'lines': limits.text // 4}

    def take(self, kind, text):
        """Count a text to keep; False if it does not fit."""
        size = len(text) * (1 if text.isascii() else 4)
        if size > self._left[kind]:
            return False
        self._left[kind] -= size
        return True


class Parser:
    """Takes a JUnit file in pieces; :meth:`close` returns the Suite.

    :param where: name of the file, for errors.
    :param limits: :class:`~.limits.Limits`.
    :param budget: :class:`Budget`, shared with other files of an archive.
    :param suite: Suite of another file, to which this one is added.
    :raises Damage: from :meth:`feed` and :meth:`close`.
    """

    def __init__(self, where, limits, budget=None, suite=None):
        self._limits = limits
        self._budget = budget or Budget(limits)
        self._suite = suite or Suite()
        self._case = None
        self._texts = None
        self._cases = sum(self._suite.found.values())
        self._before, self._claims = len(self._suite.specs), set()
        self._stream = bounded_xml.Stream(
            'The JUnit file', where, limits, self._start, self._end)

    def feed(self, piece):
        """Parse the next bytes."""
        self._stream.feed(piece)

    def close(self) -> Suite:
        """Finish the file, and return the Suite."""
        self._stream.close()
        if self._before:
            specs = self._suite.specs
            specs[:] = _merged(specs[:self._before], specs[self._before:])
        return self._suite

    def _start(self, name, attributes):
        if name == 'testcase':
            self._begin(attributes)
        elif self._case is not None:
            self._inside(name, attributes)
        elif name == 'property':
            self._property(attributes)
        elif name in ('testsuites', 'testsuite'):
            self._sums(name, attributes)

    def _begin(self, attributes):
        if self._case is not None:
            self._stream.refuse('a test case within another')
        self._cases += 1
        if self._cases > self._limits.cases:
            self._stream.refuse(f'more than {self._limits.cases} test cases')
        name = attributes.get('name', '')
        if len(name) > self._limits.title:
            self._stream.refuse('a name of more than '
                                f'{self._limits.title} characters')
        self._case = case.Case(texts.clean(name), attributes)

    def _inside(self, name, attributes):
        current = self._case
        if self._texts is not None:
            self._listen(None)
        if name == 'skipped':
            current.skipped = True
            current.reason = attributes.get('message', '')
        elif name in _BAD:
            current.bad = True
            current.message = attributes.get('message', '')
            current.failure = current.failure or []
            self._listen(current.failure)
        elif name in _OUTPUTS:
            current.output = current.output or []
            self._listen(current.output)

    def _listen(self, texts_):
        """Append the text that follows to a list; None: ignore it."""
        self._texts = texts_
        self._stream.listen(None if texts_ is None else self._text)

    def _property(self, attributes):
        if len(self._suite.properties) < self._limits.words:
            key = texts.line(attributes.get('name', ''), 100)
            value = texts.line(attributes.get('value', ''), 2000)
            self._suite.properties.setdefault(key, value)

    def _sums(self, name, attributes):
        suite = self._suite
        for key in ('tests', 'failures', 'errors'):
            value = attributes.get(key, '')
            if value.isdecimal() and len(value) < 10:
                if key not in self._claims:
                    # For each file, that of its outermost element.
                    self._claims.add(key)
                    suite.claims[key] = suite.claims.get(key, 0) + int(value)
        if suite.seconds is None:
            suite.seconds = case.seconds(attributes.get('time'))
        if suite.started is None:
            suite.started = _moment(attributes.get('timestamp', ''))

    def _text(self, data):
        self._texts.append(data)
        # Of a failure, the start is kept; of an output, the part around it.
        if len(self._texts) > 64:
            most = max(self._limits.output, self._limits.failure)
            joined = ''.join(self._texts)
            self._texts[:] = [
                joined[:most] if self._texts is self._case.failure
                else joined[case.around_failure(joined, most, 1)]]

    def _end(self, name):
        if self._texts is not None:
            self._listen(None)
        if name == 'testcase':
            ended, self._case = self._case, None
            self._finish(ended)

    def _finish(self, ended):
        suite, name = self._suite, ended.name
        status, detail, differ = ended.end()
        if differ:
            suite.contradictions.append(name)
        sonobuoys = ('skipped' if ended.skipped else
                     'failed' if ended.bad else 'passed')
        suite.found[sonobuoys] = suite.found.get(sonobuoys, 0) + 1
        failure = output = ''
        if status in (model.FAILED, model.UNFINISHED):
            failure, output = ended.why(self._limits)
            if case.SUITE_TIMEOUT in failure and detail == 'timedout':
                status = model.UNFINISHED
        elif detail == model.SKIPPED_ITSELF:
            failure = texts.line(ended.reason, 500)
        if not self._budget.take('names', name):
            self._stream.refuse(
                f'more than {self._limits.names} bytes of names')
        if (failure or output) and not self._budget.take(
                'text', failure + output):
            suite.shortened += 1
            failure, output = texts.line(failure, 300), ''
            if not self._budget.take('lines', failure):
                failure = ''
        if suite_names.suite_node(name):
            suite.nodes.append(model.SuiteNode(
                ' '.join(name.split()), status, failure))
        else:
            suite.specs.append(model.Spec(
                suite_names.spec(name), status, detail, ended.seconds,
                failure, output))


def _merged(before, after):
    """Specs of two files: one may have run what the other skipped."""
    ran = {spec.name for spec in after if spec.ran}
    known = {spec.name for spec in before}
    return [*(spec for spec in before if spec.ran or spec.name not in ran),
            *(spec for spec in after if spec.ran or spec.name not in known)]


def _moment(text):
    """Parse Ginkgo's time, which is the local time of its pod: UTC."""
    try:
        moment = datetime.datetime.fromisoformat(text[:40])
    except ValueError:
        return None
    return (moment if moment.tzinfo
            else moment.replace(tzinfo=datetime.timezone.utc))
