# SPDX-License-Identifier: Apache-2.0

"""The tests of the suite, read without importing them."""

import pathlib
import textwrap

import fixtures
import testtools

from magnum_capi_tempest import config
from magnum_capi_tempest.matrix import source

_BASE = '''
    from tempest import config

    CONF = config.CONF

    class Base:
        required_flags = ('of_the_base',)

        @classmethod
        def skip_checks(cls):
            if not CONF.magnum_capi_feature_enabled.of_a_check:
                raise cls.skipException('no')
            if CONF.magnum_capi_feature_enabled.only_read:
                cls.more = True

        @classmethod
        def setup_clients(cls):
            cls.strict = CONF.magnum_capi_feature_enabled.kept

        def make(self):
            if CONF.magnum_capi_feature_enabled.stricter:
                self.assertTrue(self.more)
            if self.strict:
                self.assertTrue(self.more)
            return self.magnum.clusters.create_cluster(name='x')

    def helper(magnum):
        magnum.clusters.delete_cluster('x')
'''
_TESTS = '''
    from magnum_capi_tempest.tests import base
    from magnum_capi_tempest.tests import flags

    CONF = 1

    class FirstTest(base.Base):
        def setUp(self):
            self.magnum.clusters.show_cluster('x')

        @decorators.attr(type=['smoke', 'negative'])
        @flags.promised('of_a_decorator')
        def test_one(self):
            self.make()

        @testtools.skipUnless(
            CONF.magnum_capi_feature_enabled.of_a_skip, 'no')
        def test_two(self):
            base.helper(self.magnum)
            self.assertRaises(ValueError, self.magnum.clusters.resize_cluster)

    class SecondTest(FirstTest):
        required_flags = ()

        def test_three(self):
            enabled = CONF.magnum_capi_feature_enabled
            if not (enabled.either or enabled.other):
                self.skipTest('no')
            if not enabled.of_a_body:
                self.skipTest('no')
'''
_OPERATIONS = {'create_cluster', 'delete_cluster', 'resize_cluster',
               'show_cluster'}
_FIRST = 'magnum_capi_tempest.tests.api.test_x.FirstTest'
_SECOND = 'magnum_capi_tempest.tests.api.test_x.SecondTest'


class SuiteTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        tests = top / 'magnum_capi_tempest' / 'tests'
        (tests / 'api').mkdir(parents=True)
        (tests / 'base.py').write_text(textwrap.dedent(_BASE))
        (tests / 'api' / 'test_x.py').write_text(textwrap.dedent(_TESTS))
        self.suite = source.Suite(top)

    def test_flags_of_bases_in_other_modules(self):
        self.assertEqual(
            {'of_the_base', 'of_a_check', 'of_a_decorator'},
            self.suite.flags(f'{_FIRST}.test_one'))

    def test_flags_of_a_decorator_of_testtools(self):
        self.assertIn('of_a_skip', self.suite.flags(f'{_FIRST}.test_two'))

    def test_a_class_hides_the_flags_of_its_base(self):
        self.assertEqual(
            {'of_a_check', 'of_a_decorator'},
            self.suite.flags(f'{_SECOND}.test_one'))

    def test_flags_of_a_body_but_not_one_of_several(self):
        self.assertEqual({'of_a_check', 'of_a_body'},
                         self.suite.flags(f'{_SECOND}.test_three'))

    def test_inherited_tests_are_listed(self):
        self.assertEqual(
            [f'{_FIRST}.test_one', f'{_FIRST}.test_two',
             f'{_SECOND}.test_three', f'{_SECOND}.test_one',
             f'{_SECOND}.test_two'], self.suite.ids())

    def test_operations_through_methods_of_a_base(self):
        self.assertEqual(
            {'show_cluster', 'create_cluster'},
            self.suite.follow(f'{_FIRST}.test_one', _OPERATIONS)[0])

    def test_operations_through_functions_and_as_arguments(self):
        self.assertEqual(
            {'show_cluster', 'delete_cluster', 'resize_cluster'},
            self.suite.follow(f'{_FIRST}.test_two', _OPERATIONS)[0])

    def test_flags_that_are_read_on_the_way(self):
        self.assertEqual(
            {'stricter', 'kept'},
            self.suite.follow(f'{_FIRST}.test_one', _OPERATIONS)[1])

    def test_what_is_not_there(self):
        for test in ('x', f'{_FIRST}.make', f'{_FIRST}.test_four',
                     'magnum_capi_tempest.tests.api.test_y.A.test_b'):
            self.assertRaises(LookupError, self.suite.flags, test)


class CoverageTest(testtools.TestCase):
    """The suite itself: nothing is promised that nothing tries."""

    tests = source.tests()

    flags = {option.name for option in config.FEATURE_OPTS}

    def test_every_flag_has_a_test(self):
        tried = set().union(*(test.flags for test in self.tests))

        self.assertEqual(set(), self.flags - tried - source.OF_THE_PLACE)

    def test_every_flag_of_a_test_is_an_option(self):
        for test in self.tests:
            self.assertEqual(set(), test.flags - self.flags, test.id)

    def test_flags_of_the_place_are_options(self):
        self.assertEqual(set(), source.OF_THE_PLACE - self.flags)

    def test_every_operation_has_a_test(self):
        tried = set().union(*(test.operations for test in self.tests))

        self.assertEqual(
            set(), {one.name for one in source.operations()} - tried)

    def test_known_tests_are_read_as_they_are(self):
        known = {test.id: test for test in self.tests}
        test = known['scenario.test_cluster_operations.SharedClusterTest.'
                     'test_resize_removes_the_nodes_that_it_names']

        self.assertEqual({'resize', 'workload_api', 'named_nodes_removed'},
                         test.flags)
        self.assertIn('resize_cluster', test.operations)
        self.assertEqual({'slow', 'life'}, test.attributes)
