# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite: read from classes, and as they are recorded."""

import types

import testtools

from magnum_capi_tempest import config
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

    required_flags = ('resize', 'any_name')

    @flags.stricter('bad_input_refused')
    def create_cluster(self):
        return [self.magnum.clusters.create_cluster(name=name)
                for name in 'xy']


class First(Base):

    def setUp(self):
        self.magnum.clusters.show_cluster('x')

    @flags.promised('zero_nodes')
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


class Second(First):

    required_flags = ()


def read(case, name):
    return suite_table.read(case, name, OPERATIONS)


class ReadTest(testtools.TestCase):

    def test_flags_of_the_class_and_of_decorators(self):
        test = read(First, 'test_method_of_the_base')

        self.assertEqual({'resize', 'any_name', 'zero_nodes', 'three_masters'},
                         test.required)
        self.assertEqual({'bad_input_refused'}, test.stricter)
        self.assertEqual(test.required | test.stricter, test.flags)

    def test_a_class_hides_the_flags_of_its_base(self):
        self.assertEqual({'zero_nodes', 'three_masters'},
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


class RecordedTest(testtools.TestCase):

    hint = '"python -m tests.suite_table" writes the tables anew'

    def test_operations_are_those_of_the_clients(self):
        self.assertEqual(tuple(suite_table.operations()), suite.operations(),
                         self.hint)

    def test_tests_are_those_of_the_classes(self):
        found = tuple(suite_table.tests(
            {one.name for one in suite.operations()}))

        self.assertEqual([test.id for test in found],
                         [test.id for test in suite.tests()], self.hint)
        for test, recorded in zip(found, suite.tests()):
            self.assertEqual(test, recorded, self.hint)

    def test_a_test_that_is_not_there(self):
        test = suite.tests()[0].id

        self.assertIsInstance(
            suite.required(f'{suite.PACKAGE}.{test}'), frozenset)
        for name in ('x', test, f'{suite.PACKAGE}.{test}_too'):
            self.assertRaises(LookupError, suite.required, name)


class CoverageTest(testtools.TestCase):
    """The suite itself: nothing is promised that nothing tries."""

    tests = suite.tests()

    flags = {option.name for option in config.FEATURE_OPTS}

    def test_every_flag_has_a_test(self):
        tried = set().union(*(test.flags for test in self.tests))

        self.assertEqual(set(), self.flags - tried - suite.OF_THE_PLACE)

    def test_every_flag_of_a_test_is_an_option(self):
        for test in self.tests:
            self.assertEqual(set(), test.flags - self.flags, test.id)

    def test_flags_of_the_place_are_options(self):
        self.assertEqual(set(), suite.OF_THE_PLACE - self.flags)

    def test_every_operation_has_a_test(self):
        tried = set().union(*(test.operations for test in self.tests))

        self.assertEqual(
            set(), {one.name for one in suite.operations()} - tried)

    def test_known_tests_are_read_as_they_are(self):
        known = {test.id: test for test in self.tests}
        test = known['scenario.test_cluster_operations.SharedClusterTest.'
                     'test_resize_removes_the_nodes_that_it_names']

        self.assertEqual({'resize', 'workload_api', 'named_nodes_removed'},
                         test.flags)
        self.assertIn('resize_cluster', test.operations)
