# SPDX-License-Identifier: Apache-2.0

"""Which tests must fail in a run, and which do; pure.

The attributes of a test say what it shows: ``magnum-...`` names the deviation
of Magnum 23 that makes it fail, ``uncured`` says that the filter cannot help.
A test that passes although it must fail is as bad as the opposite: it proves
nothing.
"""

import dataclasses
import re

from magnum_capi_tempest.report import model

_DEVIATION = 'magnum-'
#: Names the test that has left something: magnum_capi_tempest.leaks.
_LEFT_BY = re.compile(r'left by: ([\w.]+)')
UNCURED = 'uncured'

#: A broken driver, which breaks everything else in its sandbox. Its tests have
#: separate runs.
BROKEN = 'magnum-d8'

#: Tests of drivers' clusters and workloads show nothing about discovery.
ELSEWHERE = frozenset({'conformance', 'life'})

#: Deviations of the newest Magnum that earlier ones do not have: they pass
#: there without the filter, too.
NOT_EARLIER = frozenset({
    'UnknownTypeTest.test_nobody_provides_it',
    'UnusableDriverTest.test_beta_driver_of_template'})


@dataclasses.dataclass(frozen=True)
class Expected:
    """A test of the suite, with its attributes.

    :param name: ``Class.test``.
    """

    name: str
    deviations: frozenset[str] = frozenset()
    uncured: bool = False

    def fails(self, with_filter):
        """Whether it must fail."""
        return self.uncured if with_filter else bool(self.deviations)

    @property
    def apart(self):
        return BROKEN in self.deviations

    @property
    def label(self):
        return ', '.join(sorted(d.removeprefix(_DEVIATION)
                                for d in self.deviations))


def expected(name, tags) -> Expected:
    """Read the attributes of a test."""
    return Expected(
        name, frozenset(t for t in tags if t.startswith(_DEVIATION)),
        UNCURED in tags)


def differences(run: model.Run, wanted, failing) -> list[str]:
    """Differences from the expected results, one line each.

    A test without a deviation may be skipped: its flag may be for something
    else that Magnum does not do.

    :param wanted: the :class:`Expected` tests that had to run.
    :param failing: function that says whether an Expected must fail.
    """
    found = list(run.problems)
    ended = {}
    for test in run.tests:
        if test.name in ended:
            found.append(f'{test.name} ended twice')
        ended[test.name] = test
    for test in wanted:
        got = ended.pop(test.name, None)
        fails = bool(failing(test))
        must = 'must fail' if fails else 'must pass'
        if got is None:
            found.append(f'{test.name} {must} and did not run')
        elif got.status == model.SKIPPED:
            if test.deviations:
                found.append(
                    f'{test.name} {must} and was skipped: {_why(got)}')
        elif got.status not in (model.PASSED, model.FAILED):
            found.append(f'{test.name} {must} and is {got.status}')
        elif fails != got.failing:
            found.append(f'{test.name} {must} and {got.status}'
                         + (f': {_why(got)}' if got.failing else ''))
    # Failed fixtures of classes, and unexpected tests.
    found += [f'{test.name} is no test that was wanted, and {test.status}: '
              f'{_why(test)}' for test in ended.values()
              if not _is_left(test, {
                  t.name for t in wanted if failing(t)})]
    return found


def _is_left(fixture, failing):
    """Whether it only failed for leftovers of tests that had to fail.

    A driver may be unable to delete the cluster that an upgrade gave it.
    """
    left = _LEFT_BY.findall(fixture.reason)
    return 'LeakFound' in fixture.reason and bool(left) and failing.issuperset(
        '.'.join(name.split('.')[-2:]) for name in left)


def _why(test):
    return ' '.join(test.reason.split())[:300]


#: Code and subject of the finding of the audit for each uncured test.
FINDINGS = {
    'MagnumDistroTest.test_it_is_enough':
        ('image-no-os-distro', 'image'),
    'ShadowedDriverTest.test_a_beta_driver_stops_nobody':
        ('beta-wins', 'fedora'),
    'ShadowedDriverTest.test_the_driver_of_the_template_judges_the_masters':
        ('shadowed', 'suse'),
    'BrokenDriverTest.test_a_fresh_magnum_serves_the_other_drivers':
        ('broken', 'k8s_capi_broken_v1'),
}


def without_finding(tests, findings) -> list[str]:
    """Uncured tests for which an audit has no finding.

    :param tests: Expected ones.
    :param findings: dicts with ``code`` and ``subject``.
    """
    return [
        f'The audit has no finding {" ".join(_finding(test))} for '
        f'{test.name}' for test in tests if test.uncured
        and not any(_tells(f, test) for f in findings)]


def still_found(tests, findings) -> list[str]:
    """Findings for uncured tests that remain although all was cured."""
    return [
        f'The audit still says {f["code"]} of {f["subject"]}'
        for test in tests if test.uncured
        for f in findings if _tells(f, test)]


#: Control characters, bidirectional overrides, and the long value of
#: test_driver_values; other tests have their own long values.
_UNCLEAN = re.compile('[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]|w{200}')


def unclean(log) -> list[str]:
    """Traces of images' hostile values in a log, one line each.

    :param log: text of Magnum's log, after test_driver_values.
    """
    found = [f'The log has a line with raw values: {ascii(line)[:200]}'
             for line in log.split('\n') if _UNCLEAN.search(line)]
    # Markup is harmless there; it shows that the values were logged.
    if '<script>alert(1)</script>' not in log:
        found.append('The log says nothing of hostile values, so that it is '
                     'not known how they look')
    return found


def _finding(test):
    return FINDINGS.get(test.name, ('unknown:', 'add it to FINDINGS'))


def _tells(finding, test):
    code, subject = _finding(test)
    return finding['code'] == code and subject in finding['subject']
