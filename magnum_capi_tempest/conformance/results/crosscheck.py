# SPDX-License-Identifier: Apache-2.0

"""Contradictions between the parts of a record.

Sonobuoy's counts, Ginkgo's summaries and the test cases should agree. If they
do not, the record cannot be trusted as is, and no such run has passed. Pure.
"""

import collections

from magnum_capi_tempest.conformance import model

#: Seconds by which Ginkgo's own durations of one suite may differ.
_SECONDS = 1
#: Most names in one line.
_NAMES = 3


def problems(suite, log, plugin=None):
    """The contradictions, a line each.

    :param suite: :class:`~.junit.Suite`, None if there is no JUnit file.
    :param log: :class:`~.e2elog.Log`, None if there is none.
    :param plugin: :class:`~..model.PluginResult` of the e2e plugin, with
        Sonobuoy's counts; None if there are none.
    """
    found = []
    if log is None:
        found.append('there is no e2e log')
    if suite is None:
        found.append('there is no JUnit file')
        return found
    found += _claims(suite)
    found += _cases(suite)
    if suite.properties.get('DryRun') == 'true':
        found.append('it was a dry run: no spec was executed')
    if log is not None:
        found += other_run((log.seed, log.seconds), (
            suite.properties.get('RandomSeed', ''), suite.seconds))
    if log is not None and log.ran is not None:
        found += _log(suite, log)
    if plugin is not None and plugin.counts:
        theirs = {key: plugin.counts.get(key, 0)
                  for key in ('passed', 'failed', 'skipped')}
        ours = {key: suite.found.get(key, 0) for key in theirs}
        if theirs != ours:
            found.append(f"Sonobuoy's summary counts {_words(theirs)}, "
                         f'the JUnit file has {_words(ours)}')
    return found


def other_run(log, junit):
    """A line if log and JUnit file belong to different runs.

    Compares Ginkgo's random seed, which both contain; if one does not, the
    duration of the suite.

    :param log: random seed, may be empty, and seconds, None if unknown.
    :param junit: likewise for the JUnit file.
    """
    (seed, seconds), (other_seed, other_seconds) = log, junit
    if seed and other_seed:
        what, ours, theirs = 'random seed', seed, other_seed
        other = ours != theirs
    else:
        what, ours, theirs = 'seconds', seconds, other_seconds
        other = None not in (ours, theirs) and abs(ours - theirs) > _SECONDS
    return [f'the e2e log belongs to another run than the JUnit file: {what} '
            f'{ours} and {theirs}'] if other else []


def _claims(suite):
    """The sums that the JUnit file states itself."""
    found = []
    failed = suite.found.get('failed', 0)
    claims = suite.claims
    if 'failures' in claims or 'errors' in claims:
        claimed = claims.get('failures', 0) + claims.get('errors', 0)
        if claimed != failed:
            found.append(f'the JUnit file says that {claimed} cases failed, '
                         f'but has {failed}')
    # Ginkgo v1 counted what ran: the number of cases without the skipped
    # ones.
    cases = sum(suite.found.values())
    tests = claims.get('tests')
    if tests is not None and tests not in (
            cases, cases - suite.found.get('skipped', 0)):
        found.append(f'the JUnit file says that it has {tests} cases, '
                     f'but has {cases}')
    return found


def _cases(suite):
    found = []
    if suite.contradictions:
        found.append('status and content of cases differ: '
                     + _few(suite.contradictions))
    statuses = collections.defaultdict(set)
    for spec in suite.specs:
        statuses[spec.name].add(spec.status)
    torn = [name for name, several in statuses.items() if len(several) > 1]
    if torn:
        found.append('specs are listed more than once and ended '
                     f'differently: {_few(torn)}')
    if '' in statuses:
        found.append('a test case has no name')
    return found


def _log(suite, log):
    found = []
    ran = sum(spec.ran for spec in suite.specs)
    if log.ran != ran:
        found.append(f'the e2e log says that {log.ran} specs ran, the JUnit '
                     f'file has {ran}')
    passed = sum(s.status == model.PASSED for s in suite.specs)
    bad = ran - passed
    for word, number in (('Passed', passed), ('Failed', bad)):
        said = log.counts.get(word)
        if said is not None and said != number:
            found.append(f'the e2e log counts {said} {word.lower()}, the '
                         f'JUnit file has {number}')
    if not log.success and not bad and not any(
            node.status == model.FAILED for node in suite.nodes):
        found.append('the e2e log says that the suite failed, the JUnit file '
                     'has no failure')
    if log.counts.get('Flaked'):
        found.append(f'{log.counts["Flaked"]} specs passed only when they '
                     'were tried again')
    return found


def _few(names):
    more = f' and {len(names) - _NAMES} more' if len(names) > _NAMES else ''
    return '; '.join(name[:200] for name in names[:_NAMES]) + more


def _words(counts):
    return ', '.join(f'{number} {word}' for word, number in counts.items())
