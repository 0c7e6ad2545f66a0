# SPDX-License-Identifier: Apache-2.0

"""Is there still a test for each known bug, and a defect that proves it?

What the tests see is no matter here:
``python -m tests.proofs driver-mutants`` runs them.
"""

import collections
import pathlib
import pkgutil

import testtools

import magnum_capi
from magnum_capi_tempest.scorecard import suite
from tests.proofs.driver_mutants import page
from tests.proofs.driver_mutants import tables

LIBRARY = pathlib.Path(magnum_capi.__file__).parent

#: Numbers of the bugs that were measured.
KNOWN = ([f'H{number}' for number in range(1, 22)]
         + [f'V{number}' for number in range(1, 13)]
         + [f'C{number}' for number in range(1, 8)])


class BugsTest(testtools.TestCase):

    bugs = tables.bugs()

    def test_none_is_forgotten(self):
        self.assertEqual(KNOWN, [bug.id for bug in self.bugs])

    def test_every_test_is_there(self):
        for bug in self.bugs:
            self.assertNotEqual((), bug.tests, bug.id)
            for test in bug.tests:
                # Each raises an error when there is none.
                if test in bug.tempest:
                    suite.get(test)
                else:
                    pkgutil.resolve_name(test)

    def test_each_is_seen_through_the_rest_api_or_it_says_why_not(self):
        for bug in self.bugs:
            self.assertNotEqual(bool(bug.tempest), bool(bug.unseen), bug.id)

    def test_the_page_has_all_of_it(self):
        text = page.page(self.bugs)

        for bug in self.bugs:
            self.assertIn(f'{bug.id}: {bug.title}\n', text)
        self.assertIn('``scenario.test_node_groups.HardNamesTest.'
                      'test_cluster`` (``lifecycle.cluster.any-name``)', text)


class DefectsTest(testtools.TestCase):

    defects = tables.defects()

    def test_every_bug_has_one(self):
        self.assertEqual({bug.id for bug in tables.bugs()},
                         {defect.bug for defect in self.defects})

    def test_their_tests_are_those_of_the_bug(self):
        tests = {bug.id: set(bug.tests) for bug in tables.bugs()}

        for defect in self.defects:
            self.assertNotEqual((), defect.tests, defect.name)
            self.assertEqual(
                set(), set(defect.tests) - tests[defect.bug], defect.name)

    def test_every_unit_test_is_proved_by_one(self):
        proved = {test for defect in self.defects for test in defect.tests}

        for bug in tables.bugs():
            self.assertEqual(set(), {
                test for test in bug.tests
                if test.startswith(tables.UNIT)} - proved, bug.id)

    def test_they_can_be_brought_in(self):
        for defect in self.defects:
            text = (LIBRARY / defect.file).read_text()

            changed = defect.applied(text)

            self.assertNotEqual(text, changed, defect.name)
            compile(changed, defect.file, 'exec')

    def test_names_are_unique(self):
        names = collections.Counter(defect.name for defect in self.defects)

        self.assertEqual([], [n for n, times in names.items() if times > 1])
