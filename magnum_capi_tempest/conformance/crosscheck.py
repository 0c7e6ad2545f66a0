# SPDX-License-Identifier: Apache-2.0

"""Contradictions between the parts of a record. Pure.

Ginkgo's summaries and the test cases should agree. If they do not, the record
cannot be trusted as is, and no such run has passed.
"""

import collections
import collections.abc

from magnum_capi_tempest.conformance import junit
from magnum_capi_tempest.conformance import model

#: Seconds by which Ginkgo's own durations of one suite may differ.
_SECONDS = 1
#: Most names in one line.
_NAMES = 3


def problems(suite: junit.Suite | None, log: model.Log | None
             ) -> collections.abc.Iterator[str]:
    """Yield the contradictions, a line each.

    :param suite: :class:`~.junit.Suite`, None if there is no JUnit file.
    :param log: :class:`~.model.Log`, None if there is none.
    """
    if log is None:
        yield 'there is no e2e log'
    if suite is None:
        yield 'there is no JUnit file'
        return
    yield from _claims(suite)
    yield from _cases(suite)
    if suite.properties.get('DryRun') == 'true':
        yield 'it was a dry run: no spec was executed'
    if log is not None:
        yield from other_run(log, suite.properties.get('RandomSeed', ''),
                             suite.seconds)
        if log.ran is not None:
            yield from _log(suite, log)


def other_run(log: model.Log, seed: str, seconds: float | None
              ) -> collections.abc.Iterator[str]:
    """Yield a line if log and JUnit file belong to different runs.

    Compares Ginkgo's random seed, which both contain; if one does not, the
    duration of the suite.

    :param seed: of the JUnit file; may be empty.
    :param seconds: likewise; None if unknown.
    """
    other = ''
    if log.seed and seed:
        if log.seed != seed:
            other = f'random seed {log.seed} and {seed}'
    elif log.seconds is not None and seconds is not None:
        if abs(log.seconds - seconds) > _SECONDS:
            other = f'seconds {log.seconds} and {seconds}'
    if other:
        yield ('the e2e log belongs to another run than the JUnit file: '
               + other)


def _claims(suite: junit.Suite) -> collections.abc.Iterator[str]:
    """The sums that the JUnit file states itself."""
    failed = suite.counted.get('failed', 0)
    claims = suite.claims
    if 'failures' in claims or 'errors' in claims:
        claimed = claims.get('failures', 0) + claims.get('errors', 0)
        if claimed != failed:
            yield (f'the JUnit file says that {claimed} cases failed, '
                   f'but has {failed}')
    # Ginkgo v1 counted what ran: the number of cases without the skipped
    # ones.
    cases = sum(suite.counted.values())
    tests = claims.get('tests')
    if tests is not None and tests not in (
            cases, cases - suite.counted.get('skipped', 0)):
        yield (f'the JUnit file says that it has {tests} cases, '
               f'but has {cases}')


def _cases(suite: junit.Suite) -> collections.abc.Iterator[str]:
    if suite.contradictions:
        yield ('status and content of cases differ: '
               + _few(suite.contradictions))
    statuses = collections.defaultdict(set)
    for spec in suite.specs:
        statuses[spec.name].add(spec.status)
    torn = [name for name, several in statuses.items() if len(several) > 1]
    if torn:
        yield ('specs are listed more than once and ended differently: '
               + _few(torn))
    if '' in statuses:
        yield 'a test case has no name'


def _log(suite: junit.Suite, log: model.Log
         ) -> collections.abc.Iterator[str]:
    ran = sum(spec.ran for spec in suite.specs)
    if log.ran != ran:
        yield (f'the e2e log says that {log.ran} specs ran, the JUnit '
               f'file has {ran}')
    passed = sum(s.status == model.PASSED for s in suite.specs)
    bad = ran - passed
    for word, number in (('Passed', passed), ('Failed', bad)):
        logged = log.counts.get(word)
        if logged is not None and logged != number:
            yield (f'the e2e log counts {logged} {word.lower()}, the '
                   f'JUnit file has {number}')
    if not log.success and not bad and not any(
            node.status == model.FAILED for node in suite.nodes):
        yield ('the e2e log says that the suite failed, the JUnit file '
               'has no failure')
    if log.counts.get('Flaked'):
        yield (f'{log.counts["Flaked"]} specs passed only when they '
               'were tried again')


def _few(names: list[str]) -> str:
    more = f' and {len(names) - _NAMES} more' if len(names) > _NAMES else ''
    return '; '.join(name[:200] for name in names[:_NAMES]) + more
