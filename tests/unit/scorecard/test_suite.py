# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite: read from classes, and as they are recorded."""

import types

import testtools

from magnum_capi_tempest import config
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.tests.common import flags
from tests import suite_table

OPERATIONS = {'create_cluster', 'delete_cluster', 'resize_cluster',
              'show_cluster'}


def delete(magnum):
    magnum.clusters.delete_cluster('x')


helpers = types.ModuleType('helpers')
helpers.delete = delete


class Base:
    """What tests share; no loader finds it."""

    required_flags = ('resize', 'workload_api')

    @flags.stricter('bad_input_refused')
    def create_cluster(self):
        return [self.magnum.clusters.create_cluster(name=name)
                for name in 'xy']


class First(Base):

    def setUp(self):
        self.magnum.clusters.show_cluster('x')

    @flags.promised('real_nodes')
    @flags.promised('three_masters')
    def test_method_of_the_base(self):
        self.create_cluster()

    def test_function_of_a_module(self):
        helpers.delete(self.magnum)

    @flags.cleanup
    def clean_up(self):
        self.magnum.clusters.delete_cluster('x')

    def test_with_clean_up(self):
        self.addCleanup(self.clean_up)
        self.create_cluster()

    def test_as_an_argument(self):
        delete(self.magnum)
        self.assertRaises(ValueError, self.magnum.clusters.resize_cluster)


@flags.promise('lifecycle.resize.workers')
class Second(First):

    required_flags = ()

    @flags.promise('lifecycle.resize.last-wins')
    def test_its_own(self):
        pass


def read(case, name):
    return suite_table.read(case, name, OPERATIONS)


class ReadTest(testtools.TestCase):

    def test_flags_of_the_class_and_of_decorators(self):
        test = read(First, 'test_method_of_the_base')

        self.assertEqual(
            {'resize', 'workload_api', 'real_nodes', 'three_masters'},
            test.required)
        self.assertEqual({'bad_input_refused'}, test.stricter)
        self.assertEqual(test.required | test.stricter, test.flags)

    def test_a_class_hides_the_flags_of_its_base(self):
        self.assertEqual({'real_nodes', 'three_masters'},
                         read(Second, 'test_method_of_the_base').required)

    def test_what_is_not_called_makes_nothing_stricter(self):
        self.assertEqual(
            frozenset(), read(First, 'test_as_an_argument').stricter)

    def test_clean_up_is_what_no_test_is_about(self):
        self.assertEqual({'show_cluster', 'create_cluster'},
                         read(First, 'test_with_clean_up').operations)

    def test_operations_through_methods_of_a_base(self):
        self.assertEqual(
            {'show_cluster', 'create_cluster'},
            read(Second, 'test_method_of_the_base').operations)

    def test_operations_through_functions_of_a_module(self):
        self.assertEqual(
            {'show_cluster', 'delete_cluster'},
            read(First, 'test_function_of_a_module').operations)

    def test_operations_through_functions_and_as_arguments(self):
        self.assertEqual(
            {'show_cluster', 'delete_cluster', 'resize_cluster'},
            read(First, 'test_as_an_argument').operations)

    def test_the_promise_of_a_test_counts_before_that_of_its_class(self):
        self.assertEqual(
            ['', 'lifecycle.resize.workers', 'lifecycle.resize.last-wins'],
            [read(*one).promise for one in (
                (First, 'test_with_clean_up'), (Second, 'test_with_clean_up'),
                (Second, 'test_its_own'))])


class RecordedTest(testtools.TestCase):

    hint = '"python -m tests.suite_table" writes the tables anew'

    def test_tests_are_those_of_the_classes(self):
        found = tuple(suite_table.tests(suite_table.operations()))

        self.assertEqual([test.id for test in found],
                         [test.id for test in suite.tests()], self.hint)
        for test, recorded in zip(found, suite.tests()):
            self.assertEqual(test, recorded, self.hint)

    def test_a_test_that_is_not_there(self):
        test = suite.tests()[0].id

        self.assertIsInstance(
            suite.get(f'{suite.PACKAGE}.{test}'), suite.Test)
        for name in ('x', test, f'{suite.PACKAGE}.{test}_too'):
            self.assertRaises(LookupError, suite.get, name)


class CoverageTest(testtools.TestCase):
    """The suite itself: nothing is promised that nothing tries."""

    tests = suite.tests()

    flags = {option.name for option in config.FEATURE_OPTS}

    def test_every_flag_has_a_test(self):
        tried = set().union(*(test.flags for test in self.tests))

        self.assertEqual(set(), self.flags - tried - suite_table.OF_THE_PLACE)

    def test_every_flag_of_a_test_is_an_option(self):
        for test in self.tests:
            self.assertEqual(set(), test.flags - self.flags, test.id)

    def test_flags_of_the_place_are_options(self):
        self.assertEqual(set(), suite_table.OF_THE_PLACE - self.flags)

    def test_every_promise_has_a_test(self):
        self.assertEqual(promises.known().keys(),
                         {test.promise for test in self.tests} - {''})

    def test_what_makes_clusters_and_judges_no_driver_judges_magnum(self):
        self.assertEqual({
            'test_driver_clash', 'test_living_cluster', 'test_rbac_clusters',
        }, {test.id.split('.')[1] for test in self.tests
            if test.id.startswith('scenario.') and not test.promise})

    def test_every_operation_has_a_test(self):
        tried = set().union(*(test.operations for test in self.tests))

        self.assertEqual(set(), suite_table.operations() - tried)

    def test_known_tests_are_read_as_they_are(self):
        known = {test.id: test for test in self.tests}
        test = known['scenario.test_cluster_operations.SharedClusterTest.'
                     'test_resize_removes_the_nodes_that_it_names']

        self.assertEqual({'resize', 'workload_api'}, test.flags)
        self.assertEqual('lifecycle.resize.named-nodes', test.promise)
        self.assertIn('resize_cluster', test.operations)
