# SPDX-License-Identifier: Apache-2.0

"""Judges a driver's promises from a run. Pure.

* A promise has passed if a test of it passed and none failed. If one failed,
  the promise has failed, whatever the others did.
* A test that did not end, because the run was interrupted or its worker was
  killed, tested nothing, like one that was skipped.
* If a class could not be set up, it tested nothing: its promises are untested.
  If it fails at its end (something was left behind), it fails those of its
  tests that ran.
* Promises about features that a release of Magnum lacks do not count there.
* A profile has passed if each of its core promises has. Tests of Magnum's API
  judge Magnum: they are counted, but fail no driver.
"""

import collections
import collections.abc
import dataclasses
import typing

from magnum_capi import driver_info
from magnum_capi_tempest import json_types
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest.scorecard import suite

PASSED, FAILED = results.PASSED, results.FAILED
#: The driver does not make this promise, and says so.
UNSUPPORTED = 'unsupported'
#: Promised, but not tested.
UNTESTED = 'untested'

STATES = (PASSED, FAILED, UNTESTED, UNSUPPORTED)

#: What is said of a promise that the run was not asked to test.
NOT_RUN = 'not among the tests that ran'

#: In front of the highest microversion of a cloud.
MICROVERSION = 'microversion '

#: Minor number of the highest microversion, and the last release with it
#: (CURRENT_MAX_VER in magnum/api/controllers/versions.py).
_LAST_WITH = ((11, 20), (12, 22))


class Judgement(typing.TypedDict, total=False):
    """The judgement of a promise, as a report has it: without empty fields.

    ``reason``: what was measured, or why it was not tested. ``tests``: ids of
    the tests that it is based on. ``known_issue``: the driver's own
    explanation of a failure. ``absent``: this release of Magnum lacks the
    feature in question.
    """

    state: typing.Required[str]
    reason: str
    tests: list[str]
    known_issue: str
    absent: bool


def judge(outcomes: dict[str, results.Outcome],
          described: driver_info.Description | None,
          tests: typing.Iterable[suite.Test] | None = None,
          magnum: str = '') -> dict[str, Judgement]:
    """Judge all promises, in the order of the registry.

    :param described: None: the driver is assumed to support everything.
    :param tests: of the suite; all of them by default.
    :param magnum: its version, 23.0.0, or what a cloud tells, "microversion
        1.12", its highest one; empty: unknown, it has everything.
    """
    of_promise = collections.defaultdict(list)
    for test in suite.tests() if tests is None else tests:
        of_promise[test.promise].append(test)
    return {
        one.id: _of_release(one, magnum, _promise(
            one, of_promise[one.id], outcomes, described))
        for one in promises.known().values()}


def of_magnum(outcomes: dict[str, results.Outcome],
              tests: typing.Iterable[suite.Test] | None = None
              ) -> dict[str, typing.Any]:
    """Results of the tests of Magnum's API: numbers, and ids of failures."""
    found = {key: outcomes[key]
             for test in (suite.tests() if tests is None else tests)
             if not test.promise for key in (test.id, test.class_id)
             if key in outcomes}
    by = collections.Counter(one.status for one in found.values())
    return {'passed': by[results.PASSED], 'skipped': by[results.SKIPPED],
            'failures': [key for key, one in found.items()
                         if one.status == FAILED]}


def totals(judged: dict[str, Judgement], asked: typing.Iterable[str],
           problems: typing.Sequence[str] = ()) -> dict[str, typing.Any]:
    """What follows from the judgements of promises.

    :param asked: the profiles that count.
    :param problems: why the run itself cannot be trusted.
    :returns: ``verdict``: PASSED, FAILED or UNTESTED, for all supported
        profiles together; ``statistics``: numbers of promises by state;
        ``profiles``: state and statistics of each.
    """
    profiles = {name: _profile([
        (promises.known()[key].core, one) for key, one in judged.items()
        if key in promises.known() and promises.known()[key].profile == name])
        for name in promises.PROFILES if name in asked}
    states = {one['state'] for one in profiles.values()} - {UNSUPPORTED}
    parts = [part for one in profiles.values()
             for part in (one['core'], one['extended'])]
    return {
        'verdict': FAILED if FAILED in states else PASSED
        if states == {PASSED} and not problems else UNTESTED,
        'statistics': {state: sum(part[state] for part in parts)
                       for state in STATES},
        'profiles': profiles}


def _profile(found: collections.abc.Sequence[tuple[bool, Judgement]]
             ) -> json_types.Object:
    """:param found: (whether it is core, judgement) of each promise."""
    core, extended = (collections.Counter(
        one['state'] for is_core, one in found if is_core is part)
        for part in (True, False))
    asked = {one['state'] for is_core, one in found
             if is_core and not one.get('absent')}
    if FAILED in asked:
        state = FAILED
    elif asked <= {UNSUPPORTED}:
        state = UNSUPPORTED
    else:
        # Core promises that the driver does not make are not passed either.
        state = PASSED if asked == {PASSED} else UNTESTED
    return {'state': state, **{name: {one: part[one] for one in STATES}
                               for name, part in (('core', core),
                                                  ('extended', extended))}}


def _judgement(state: str, reason: str = '', **more: object) -> Judgement:
    return typing.cast(Judgement, {name: value for name, value in {
        'state': state, 'reason': reason, **more}.items() if value})


def _of_release(promise: promises.Promise, magnum: str,
                found: Judgement) -> Judgement:
    release = _newest(magnum)
    if found['state'] == UNTESTED and release and release < promise.magnum:
        return _judgement(
            UNSUPPORTED, f'Magnum {magnum} lacks what it is about, '
            f'which came with {promise.magnum}', absent=True)
    return found


def _newest(magnum: str) -> int | None:
    """The newest release that a Magnum can be; None: any."""
    major, _, minor = magnum.partition('.')
    if major.isdecimal():
        return int(major)
    return next((last for highest, last in _LAST_WITH
                 if major.startswith(MICROVERSION) and minor.isdecimal()
                 and int(minor) <= highest), None)


def _promise(promise: promises.Promise,
             tests: collections.abc.Sequence[suite.Test],
             outcomes: collections.abc.Mapping[str, results.Outcome],
             described: driver_info.Description | None) -> Judgement:
    if described and (
            promise.profile not in described.profiles
            or promises.missing(promise.id, described.unsupported)):
        return _judgement(UNSUPPORTED, 'the driver does not support it')
    found = [(test, outcomes[test.id]) for test in tests
             if test.id in outcomes]
    found += [(test, dataclasses.replace(end, reason=f'{test.class_id}: '
                                         f'{end.reason}'))
              for test, end in _ends(tests, outcomes)]
    for state in (FAILED, PASSED):
        some = [pair for pair in found if pair[1].status == state]
        if some:
            return _judgement(
                state, some[0][1].reason if state != PASSED
                else f'{len(some)} of {len(tests)} tests',
                tests=list(dict.fromkeys(test.id for test, _ in some)),
                known_issue=state == FAILED and _known(
                    described, promise, some))
    return _untried(tests, outcomes)


def _known(described: driver_info.Description | None,
           promise: promises.Promise,
           failed: collections.abc.Sequence[tuple[suite.Test, results.Outcome]]
           ) -> str:
    """The driver's own explanation of failures; empty if it has none."""
    if not described:
        return ''
    races = [described.known_races.get('.'.join(test.id.split('.')[-2:]))
             for test, _ in failed]
    return described.known_issues.get(promise.id) or (
        races[0] or '' if all(races) else '')


def _ends(tests: collections.abc.Sequence[suite.Test],
          outcomes: collections.abc.Mapping[str, results.Outcome]
          ) -> collections.abc.Iterator[tuple[suite.Test, results.Outcome]]:
    """Tests that ran in classes whose end failed, and how the class ended."""
    for test in tests:
        found, end = (outcomes.get(key) for key in (test.id, test.class_id))
        if (found and found.status != results.SKIPPED
                and end and end.status == FAILED):
            yield test, end


def _untried(tests: collections.abc.Sequence[suite.Test],
             outcomes: collections.abc.Mapping[str, results.Outcome]
             ) -> Judgement:
    for test in tests:
        off = outcomes.get(test.class_id)
        if off and off.status == FAILED and test.id not in outcomes:
            return _judgement(
                UNTESTED, f'its class was not set up: {off.reason}',
                tests=[test.class_id])
    reasons = (found.reason for test in tests
               for key in (test.id, test.class_id)
               if (found := outcomes.get(key)))
    return _judgement(UNTESTED, next(filter(None, reasons), NOT_RUN))
