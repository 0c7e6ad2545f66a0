# SPDX-License-Identifier: Apache-2.0

"""Names and attributes of the tests of the package; check-uuid has ids."""

import inspect
import re

import testtools

from magnum_capi_tempest import promises
from magnum_capi_tempest.tests.common import flags
from tests.proofs.discovery import suite


class IdsTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cases = suite.cases()

    def test_discovery_finds_tests_and_no_import_errors(self):
        names = [case.id() for case in self.cases]

        self.assertIn(
            'test_create_use_resize_delete', ''.join(names))
        self.assertEqual(
            [], [n for n in names if not n.startswith(
                'magnum_capi_tempest.tests.')])

    def test_no_attribute_has_a_point(self):
        # stestr takes what is before the last one for the class.
        for case in self.cases:
            self.assertNotIn('.', case.id().partition('[')[2])

    def test_a_promise_is_an_attribute(self):
        for case in self.cases:
            judged = flags.judged_by(type(case), case._testMethodName)
            found = [tag for tag in re.split(r'[][,]', case.id())
                     if '/' in tag]
            self.assertEqual(
                [promises.attribute(judged)] if judged else [], found)

    def test_negative_tests_are_tagged(self):
        for case in self.cases:
            if '_negative.' in case.id():
                self.assertRegex(case.id(), r'\[.*\bnegative\b.*\]$')

    def test_ci_takes_one_life_of_a_cluster(self):
        # tools/run_tests.sh; other tests of clusters take minutes.
        for case in self.cases:
            if '.driver.' in case.id() and re.search(
                    'smoke|test_cluster_lifecycle', case.id()):
                self.assertIn('test_cluster_lifecycle', case.id())

    def test_what_makes_clusters_is_slow_and_not_smoke(self):
        for case in self.cases:
            if re.search(r'\.(driver|conformance)\.', case.id()):
                self.assertRegex(case.id(), r'\[.*\bslow\b.*\]$')
                self.assertNotRegex(case.id(), r'\[.*\bsmoke\b.*\]$')

    def test_no_class_is_more_than_two_bases_deep(self):
        def depth(case):
            return max((1 + depth(base) for base in case.__bases__
                        if base.__module__.startswith('magnum_capi')),
                       default=0)

        for case in {type(case) for case in self.cases}:
            self.assertLessEqual(depth(case), 2, case.__mro__)

    def test_nothing_is_published_on_a_cloud_of_others(self):
        # All projects would see it.
        for case in self.cases:
            if '_negative.' not in case.id():
                self.assertNotRegex(
                    inspect.getsource(getattr(case, case._testMethodName)),
                    r"public=True|'/public', ('value': )?'true'", case.id())
