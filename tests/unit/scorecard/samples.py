# SPDX-License-Identifier: Apache-2.0

"""Runs and reports made to order."""

from magnum_capi import driver_info
from magnum_capi_tempest import promises
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


def outcomes(**outcomes):
    """Outcomes by id; one is a status or (status, reason).

    Its name is that of a test, or ``_`` for their class.
    """
    return {GROUP if name == '_' else f'{GROUP}.{name}': results.Outcome(*(
        (found,) if isinstance(found, str) else found))
        for name, found in outcomes.items()}


def judgements(states=()):
    """Everything has passed but these: state or (state, reason), by id."""
    found = {name: {'state': 'passed', 'reason': '1 of 1 tests',
                    'tests': ['x']}
             for name in promises.known()}
    for name, one in dict(states).items():
        found[name] = dict(zip(('state', 'reason'), (
            (one,) if isinstance(one, str) else one)))
    return found


def a_report(states=(), name='k8s_x', problems=(), asked=promises.PROFILES,
             failures=(), date='2026-11-25T03:00:00+00:00'):
    return report.document({
        'driver': {**report.of_driver(described(), name), 'name': name},
        'versions': {'suite': '1.0', 'magnum': '23.0.0'}, 'nodes': 'memory',
        'date': date, 'seconds': 61.5, 'stream': f'sha256:{"0" * 64}',
        'promises': judgements(states), 'problems': list(problems),
        'magnum': {'passed': 3, 'skipped': 1, 'failures': list(failures)},
    }, asked)
