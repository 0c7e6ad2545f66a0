# SPDX-License-Identifier: Apache-2.0

"""A run, independent of how it was recorded and how it is shown.

The verdict is defined only here: a run in which nothing passed proves nothing,
so it has failed, however few failures it counts.
"""

import collections
import dataclasses
import datetime
import types
import typing

from magnum_capi_tempest import texts

PASSED = 'passed'
FAILED = 'failed'
SKIPPED = 'skipped'
#: It failed, and is marked as an expected failure.
XFAILED = 'failed as expected'
#: It passed although it is marked as an expected failure.
XPASSED = 'passed unexpectedly'
#: It began, but its end is not recorded: killed, or the stream was cut.
UNFINISHED = 'unfinished'

#: Every status, the most important first.
STATUSES = (FAILED, UNFINISHED, XPASSED, SKIPPED, XFAILED, PASSED)
#: A run with one of these is not green.
FAILING = frozenset((FAILED, XPASSED, UNFINISHED))


@dataclasses.dataclass(frozen=True)
class Detail:
    """Text that a test left: a traceback, a log, the state of a cluster."""

    name: str
    text: str


@dataclasses.dataclass(frozen=True)
class Test:
    """One test and how it ended, or a class that failed or was skipped.

    :param name: short name for people.
    :param id: the full name, as used by the test runner.
    :param seconds: None if the stream does not say.
    :param started: aware datetime; None if the stream does not say.
    :param group: the heading in CI systems; by default the part of the id
        before its last dot.
    :param of_class: it is the setup or cleanup of a class, and no test.
    """

    name: str
    id: str
    status: str
    seconds: float | None = None
    details: tuple[Detail, ...] = ()
    tags: tuple[str, ...] = ()
    group: str = ''
    started: datetime.datetime | None = None
    of_class: bool = False

    @property
    def failing(self) -> bool:
        return self.status in FAILING

    @property
    def reason(self) -> str:
        """Why it failed or was skipped, without the stack; may be empty."""
        for detail in self.details:
            if detail.name.startswith('traceback'):
                return texts.exception(detail.text)
            if detail.name == 'reason':
                return detail.text.strip()
        if self.status == UNFINISHED:
            return 'It began and did not end'
        if self.status == XPASSED:
            return 'It is marked as an expected failure, but passed'
        return self.details[0].text.strip() if self.details else ''


@dataclasses.dataclass(frozen=True)
class Phase:
    """A status that a cluster had for some time.

    :param started: aware datetime, when it was first seen.
    :param ended: likewise; None: it was not seen to end.
    """

    uuid: str
    name: str
    status: str
    started: datetime.datetime
    ended: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a run with its own heading.

    :param lines: a statement each, the most important first: a format with
        little space shows the first ones and the number of the others.
    :param folded: the title says enough: a format with little space shows no
        lines, a page hides them at first.
    """

    title: str
    lines: tuple[str, ...]
    folded: bool = False


@dataclasses.dataclass(frozen=True)
class Run:
    """A set of tests that ran together.

    :param started: aware datetime, None if unknown.
    :param seconds: from the first start to the last end.
    :param facts: what was tested, with what; shown in this order.
    :param problems: why the record itself cannot be trusted, one line each.
    :param phases: of the clusters of the tests, as far as they are known.
    :param outcome: one or two words from a caller that knows more about the
        run than its tests show (``incomplete``); empty: the tests decide. It
        can make a run worse than its tests, never better.
    :param conclusion: the verdict in the caller's words.
    """

    title: str
    started: datetime.datetime | None = None
    seconds: float = 0.0
    tests: tuple[Test, ...] = ()
    facts: typing.Mapping[str, str] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))
    problems: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    phases: tuple[Phase, ...] = ()
    outcome: str = ''
    conclusion: str = ''

    @property
    def counts(self) -> dict[str, int]:
        """Number of tests by status, for statuses that occur."""
        return self._counts(False)

    @property
    def classes(self) -> dict[str, int]:
        """Number of classes that failed or were skipped, by status."""
        return self._counts(True)

    def _counts(self, of_class: bool) -> dict[str, int]:
        count = collections.Counter(test.status for test in self.tests
                                    if test.of_class == of_class)
        return {s: count[s] for s in STATUSES if count[s]}

    @property
    def totals(self) -> list[tuple[str, str]]:
        """Each status with a text: ``3 passed``, ``1 class skipped``."""
        found = []
        for status in STATUSES:
            if number := self.counts.get(status):
                found.append((status, f'{number} {status}'))
            if number := self.classes.get(status):
                classes = texts.number(number, 'class')
                found.append((status, f'{classes} {status}'))
        return found

    @property
    def failures(self) -> tuple[Test, ...]:
        return tuple(test for test in self.tests if test.failing)

    @property
    def passed(self) -> int:
        """Number of tests that ended as intended."""
        return sum(t.status in (PASSED, XFAILED) for t in self.tests)

    @property
    def ok(self) -> bool:
        return (bool(self.passed) and not self.failures
                and not self.problems and self.outcome in ('', PASSED))

    @property
    def exit_code(self) -> int:
        """Of the command line: 0 passed, 1 failed, 3 incomplete or unknown."""
        return 0 if self.ok else 1 if self.failures else 3

    @property
    def mark(self) -> str:
        """The outcome in capitals, in front of the verdict."""
        if self.ok:
            return 'PASSED'
        outcome = '' if self.outcome == PASSED else self.outcome
        return outcome.upper() or ('FAILED' if self.failures else 'INCOMPLETE')

    @property
    def verdict(self) -> str:
        """The most important information for a reader, in a few words."""
        if self.conclusion:
            return self.conclusion
        if self.failures:
            return f'{self._failed()} failed'
        if self.problems:
            return 'the record is damaged'
        if not self.tests:
            return 'nothing ran'
        if not self.passed:
            return 'nothing ran: everything was skipped'
        return ('the one test that ran passed' if self.passed == 1
                else f'all {self.passed} tests passed')

    def _failed(self) -> str:
        """What failed: ``2 of 9 tests``, and classes."""
        tests, classes = (
            sum(number for status, number in counts.items()
                if status in FAILING)
            for counts in (self.counts, self.classes))
        found = [f'{tests} of {sum(self.counts.values())} tests'] * bool(tests)
        if classes:
            found.append('the setup or cleanup of '
                         f'{texts.number(classes, "class")}')
        return ' and '.join(found)

    def with_races(self, races: typing.Mapping[str, str]) -> 'Run':
        """The run, in which failures by known races of a driver do not count.

        :param races: {name of a test: reason}.
        """
        if not races:
            return self
        failed = {test.name for test in self.tests
                  if test.status == FAILED and test.name in races}
        lines = tuple(
            f'{name} {"failed" if name in failed else "may fail"}: {reason}'
            for name, reason in sorted(
                races.items(), key=lambda race: race[0] not in failed))
        return dataclasses.replace(
            self, tests=tuple(
                dataclasses.replace(test, status=XFAILED)
                if test.name in failed else test for test in self.tests),
            sections=(Section('Known races of the driver, which do not count',
                              lines), *self.sections))

    def slowest(self, number: int = 5) -> tuple[Test, ...]:
        timed = [(t.seconds, t) for t in self.tests if t.seconds is not None]
        timed.sort(key=lambda pair: -pair[0])
        return tuple(t for _, t in timed[:number])
