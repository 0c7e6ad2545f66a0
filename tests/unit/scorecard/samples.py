# SPDX-License-Identifier: Apache-2.0

"""Suites and records made to order."""

from magnum_capi_tempest.scorecard import model
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest.scorecard import suite

FLAGS = (model.Flag('resize', 'Nodes come and go.', True),
         model.Flag('named', 'Named nodes go.', False),
         model.Flag('ready', 'Complete is ready.', False))
OPERATIONS = (suite.Operation('create_cluster', 'clusters', 'Make it.'),
              suite.Operation('resize_cluster', 'clusters', 'Change it.'))


def test(name, flags=(), operations=(), group='api.test_x.XTest'):
    return suite.Test(f'{group}.{name}', frozenset(flags),
                      frozenset(operations))


#: One test of no flag, one of each, and one of two.
TESTS = (test('test_life', (), ('create_cluster', 'resize_cluster')),
         test('test_resize', ('resize',), ('resize_cluster',)),
         test('test_named', ('resize', 'named'), ('resize_cluster',)),
         test('test_ready', ('ready',), ('create_cluster',)))


def record(driver='k8s_x', declared=('resize',), **outcomes):
    """A record; an outcome is a status or (status, said, doing...)."""
    return results.Record(driver, frozenset(declared), {
        f'api.test_x.XTest.test_{name}': outcome(*(
            (found,) if isinstance(found, str) else found))
        for name, found in outcomes.items()})


def outcome(status, said='', *doing):
    return results.Outcome(status, said, frozenset(doing))


def matrix(*records):
    return model.build(FLAGS, TESTS, OPERATIONS, records)
