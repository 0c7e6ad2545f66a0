# SPDX-License-Identifier: Apache-2.0

"""What a driver did in one run of the suite: a record that can be kept.

A record is made from a :class:`~..report.model.Run`, and read again from the
JSON that :func:`dumps` makes. It has nothing but what the matrix shows, with
secrets and what differs from run to run (uuids, random names) left out, so
that it can be published with the documentation.
"""

import dataclasses
import json
import re

from magnum_capi import errors
from magnum_capi import redact
from magnum_capi_tempest.report import environment
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text
from magnum_capi_tempest.scorecard import suite

#: Grows when a name changes its meaning.
VERSION = 1

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'
#: It failed for want of what the cloud must bring.
ENVIRONMENT = 'environment'

#: The longest behaviour or reason, characters.
LONGEST = 240

_STATUS = {model.PASSED: PASSED, model.XFAILED: PASSED,
           model.SKIPPED: SKIPPED, model.ENVIRONMENT: ENVIRONMENT}

_UUID = re.compile(r'\b[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\b', re.I)
#: As data_utils.rand_name() ends names.
_RANDOM = re.compile(r'\b(tempest-[\w-]+?|[\w-]*?-)(?:-?\d{6,})\b')
#: Paths are of the machine that was measured.
_PATH = re.compile(r'(?<![\w/:.-])/(?:[\w.@+-]+/)+[\w.@+-]*')
_ADDRESS = re.compile(r'\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b')
#: ``testtools.matchers._impl.MismatchError: `` and its like: the last name.
_CLASS = re.compile(r'^(?:[\w]+\.)+(\w+)(?=:|$)')
_FRAME = re.compile(r'^  File ".*\n((?:    .*\n?)+)', re.M)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a test ended.

    :param status: PASSED, FAILED, ENVIRONMENT or SKIPPED.
    :param said: why it failed or was skipped, one line; may be empty.
    :param doing: names of operations in the stack of a failure: what the
        test was doing.
    :param seconds: None when the stream does not say.
    """

    status: str
    said: str = ''
    doing: frozenset[str] = frozenset()
    seconds: float | None = None


@dataclasses.dataclass(frozen=True)
class Record:
    """What a driver did.

    :param driver: title of its column.
    :param declared: flags that it, or its deployment, promises.
    :param asked: flags that were on; the declared ones by default.
    :param outcomes: by id of :class:`~.suite.Test`, and by id of a class
        when its set-up failed or skipped it.
    :param started: ISO 8601, or empty.
    :param facts: what else a reader wants to know.
    :param problems: why the run itself cannot be trusted.
    """

    driver: str
    declared: frozenset[str]
    outcomes: dict[str, Outcome]
    started: str = ''
    seconds: float = 0.0
    facts: dict[str, str] = dataclasses.field(default_factory=dict)
    problems: tuple[str, ...] = ()
    asked: frozenset[str] | None = None

    @property
    def tried(self) -> frozenset[str]:
        """Flags that were on."""
        return self.declared if self.asked is None else self.asked

    def broken_off(self, test) -> Outcome | None:
        """The failure of its class for which a test did not run."""
        found = self.outcomes.get(test.class_id)
        return (found if found and found.status in (FAILED, ENVIRONMENT)
                and test.id not in self.outcomes else None)

    def of(self, test) -> Outcome | None:
        """How a test ended; None when it was not run.

        :param test: :class:`~.suite.Test`.
        """
        return self.outcomes.get(test.id) or self.outcomes.get(test.class_id)


def record(run, driver, declared, operations, facts=None,
           asked=None) -> Record:
    """Make a record of a run of the suite.

    :param run: :class:`~..report.model.Run`; tests of others are left out.
    :param operations: names of :func:`.suite.operations`.
    """
    outcomes = {}
    for test in run.tests:
        key = _key(test.id)
        if key:
            outcomes[key] = Outcome(
                _STATUS.get(test.status, FAILED), behaviour(test),
                _doing(test, operations) if test.failing else frozenset(),
                test.seconds and round(test.seconds, 1))
    return Record(
        driver, frozenset(declared), outcomes,
        run.started.isoformat(timespec='seconds') if run.started else '',
        round(run.seconds, 1), dict(facts or {}), run.problems,
        frozenset(declared if asked is None else asked))


def _key(test_id):
    """The id below the package; None for tests of others."""
    found = re.search(rf'\b{re.escape(suite.PACKAGE)}\.([\w.]+)', test_id)
    return found and found.group(1)


def behaviour(test) -> str:
    """Why a test failed or was skipped: one line without what is random."""
    if test.status == model.PASSED:
        return ''
    lines = [line for line in map(str.strip, test.reason.splitlines())
             if line and line != 'Traceback (most recent call last):']
    said = ' '.join(lines[:4])
    short = _CLASS.sub(r'\1', said)
    for noise in ('MismatchError: ', 'AssertionError: '):
        short = short.removeprefix(noise)
    if test.status == model.ENVIRONMENT:
        short = f'{environment.of_test(test)}: {short}'
    return text.line(anonymous(redact.redact(short)), LONGEST)


def anonymous(said) -> str:
    """A text without uuids, addresses, paths and random names."""
    said = _UUID.sub('(uuid)', said)
    said = _RANDOM.sub('(name)', said)
    said = _PATH.sub('(path)', said)
    return _ADDRESS.sub('(address)', said)


def _doing(test, operations):
    found = set()
    for detail in test.details:
        if detail.name.startswith('traceback'):
            for frame in _FRAME.findall(detail.text):
                found |= operations & set(re.findall(r'\w+', frame))
    return frozenset(found)


def merged(first, second) -> Record:
    """Two runs of one driver as one; where both have a test, the second."""
    return dataclasses.replace(
        second, declared=first.declared | second.declared,
        outcomes=first.outcomes | second.outcomes,
        started=min(filter(None, (first.started, second.started)),
                    default=''),
        seconds=round(first.seconds + second.seconds, 1),
        facts=first.facts | second.facts,
        problems=first.problems + second.problems,
        asked=first.tried & second.tried)


def renamed(kept, driver=None, declared=None) -> Record:
    """A record with another title, or other promises."""
    return dataclasses.replace(
        kept, driver=driver or kept.driver,
        declared=kept.declared if declared is None else frozenset(declared))


def dumps(kept: Record) -> str:
    """The JSON of a record; the names in it are an interface."""
    return json_.dumps({
        'version': VERSION,
        'driver': kept.driver,
        'declared': sorted(kept.declared),
        'asked': sorted(kept.tried),
        'started': kept.started,
        'seconds': kept.seconds,
        'facts': kept.facts,
        'problems': list(kept.problems),
        'outcomes': {test: {
            key: value for key, value in (
                ('status', outcome.status), ('said', outcome.said),
                ('doing', sorted(outcome.doing)),
                ('seconds', outcome.seconds)) if value}
            for test, outcome in sorted(kept.outcomes.items())},
    })


def loads(content, where=None) -> Record:
    """A record from its JSON.

    :param where: path, for errors.
    :raises UsageError: it is none.
    """
    try:
        known = json.loads(content)
        if known['version'] != VERSION:
            raise ValueError(f'version {known["version"]}')
        return Record(
            str(known['driver']), frozenset(known['declared']),
            {test: Outcome(one['status'], one.get('said', ''),
                           frozenset(one.get('doing', ())),
                           one.get('seconds'))
             for test, one in known['outcomes'].items()},
            known['started'], known['seconds'], dict(known['facts']),
            tuple(known['problems']), frozenset(known['asked']))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise errors.UsageError(
            'This is no record of "magnum-capi tempest matrix --write"',
            where=where, last_seen=f'{type(e).__name__}: {e}') from e
