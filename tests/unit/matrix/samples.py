# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Suites and records made to order."""

from magnum_capi_tempest.matrix import model
from magnum_capi_tempest.matrix import results
from magnum_capi_tempest.matrix import source

FLAGS = (model.Flag('resize', 'Nodes come and go.', True),
         model.Flag('named', 'Named nodes go.', False),
         model.Flag('ready', 'Complete is ready.', False))
OPERATIONS = (source.Operation('create_cluster', 'clusters', 'Make it.'),
              source.Operation('resize_cluster', 'clusters', 'Change it.'))


def test(name, flags=(), operations=(), group='api.test_x.XTest'):
    return source.Test(f'{group}.{name}', frozenset(flags),
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
