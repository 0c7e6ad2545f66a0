# SPDX-License-Identifier: Apache-2.0

"""Reads the JUnit file of Ginkgo as it streams by.

Cases are counted here, one by one: the summary attributes of a file can say
that nothing failed while a case did (the false submission in the tests of
cncf's verify-conformance bot does), so they are kept only to be compared.

What is refused as a document says :mod:`.bounded_xml`; here are cases and
text bounded.
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
    """What a JUnit file holds.

    :param claims: sums that the files give themselves: ``tests``,
        ``failures`` and ``errors``, of the outermost element that has them.
    :param found: what Sonobuoy would count: cases by ``passed``,
        ``failed`` and ``skipped``, suite nodes included.
    :param properties: what Ginkgo was told, ``FocusStrings`` and others.
    :param shortened: cases whose failure and output were too much to keep.
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
    """How much text may still be kept of one archive, in bytes, about.

    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, limits):
        self._left = {'names': limits.names, 'text': limits.text,
                      'lines': limits.text // 4}

    def take(self, kind, text):
        """Count a text that is kept; False when it does not fit."""
        size = len(text) * (1 if text.isascii() else 4)
        if size > self._left[kind]:
            return False
        self._left[kind] -= size
        return True


class Parser:
    """Takes a JUnit file in pieces; :meth:`close` gives the Suite.

    :param where: name of the file, for errors.
    :param limits: :class:`~.limits.Limits`.
    :param budget: :class:`Budget`, shared with others of one archive.
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
        """Say that there is no more."""
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
        """Take the text that follows into a list, or none."""
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
                    # Of each file that of its outermost element.
                    self._claims.add(key)
                    suite.claims[key] = suite.claims.get(key, 0) + int(value)
        if suite.seconds is None:
            suite.seconds = case.seconds(attributes.get('time'))
        if suite.started is None:
            suite.started = _moment(attributes.get('timestamp', ''))

    def _text(self, data):
        self._texts.append(data)
        # Of a failure the start is kept, of an output what is around it.
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
    """Specs of two files: what one skipped, the other may have run."""
    ran = {spec.name for spec in after if spec.ran}
    known = {spec.name for spec in before}
    return [*(spec for spec in before if spec.ran or spec.name not in ran),
            *(spec for spec in after if spec.ran or spec.name not in known)]


def _moment(text):
    """Ginkgo writes the local time of its pod, which is UTC."""
    try:
        moment = datetime.datetime.fromisoformat(text[:40])
    except ValueError:
        return None
    return (moment if moment.tzinfo
            else moment.replace(tzinfo=datetime.timezone.utc))
