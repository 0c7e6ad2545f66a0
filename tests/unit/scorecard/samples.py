# SPDX-License-Identifier: Apache-2.0

"""Runs and reports made to order."""

from magnum_capi import driver_info
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest.scorecard import suite

GROUP = 'api.test_x.XTest'

#: A core promise, and one that is not.
WORKERS, LAST = 'lifecycle.resize.workers', 'lifecycle.resize.last-wins'


def test(name, promise='', group=GROUP):
    return suite.Test(f'{group}.{name}', promise)


def described(**more):
    return driver_info.Description({
        'name': 'k8s_x', 'organization': 'Example', 'project': 'x',
        'profiles': list(promises.PROFILES), **more}, 'x.yaml', 'x 1.0')


def of_tests(tests, described=None, **outcomes):
    """Judge tests; an outcome is a status or (status, said).

    Its name is that of a test, or ``_`` for their class.
    """
    return judge.judge({
        GROUP if name == '_' else f'{GROUP}.{name}': results.Outcome(*(
            (found,) if isinstance(found, str) else found))
        for name, found in outcomes.items()}, described, tests)


def judgements(**states):
    """Everything has passed but these: state or (state, said), by alias."""
    found = {name: judge.Judgement(judge.PASSED, '1 of 1 tests', ('x',))
             for name in promises.known()}
    for name, one in states.items():
        found[promises.get(name).id] = judge.Judgement(*(
            (one,) if isinstance(one, str) else one))
    return found


def a_report(name='k8s_x', problems=(), asked=promises.PROFILES,
             magnum=judge.Magnum(), nodes='memory', **states):
    return report.Report(
        {**report.of_driver(described(), name), 'name': name},
        {'suite': '1.0', 'magnum': '23.0.0'}, nodes,
        '2026-11-25T03:00:00+00:00', 61.5, f'sha256:{"0" * 64}', asked,
        judgements(**states), magnum, tuple(problems))
