# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi import errors
from tests.mutation import rooms
from tests.mutation import running
from tests.mutation import selection
from tests.unit.mutation import adding

SOURCE = '''\
LIMIT = 1


def near():
    return LIMIT


def far():
    return (0,
            LIMIT)
'''

MEASURED = selection.Measured(
    {'slow': 3.0, 'fast': 1.0, 'other': 0.5, 'tests.c.Test.test': 0.1},
    lambda file: {'a.py': {5: ['slow', 'fast', 'skipped'], 9: ['slow']},
                  'b.py': {1: ['other']}}.get(file, {}),
    {'a.py': {'b.py'}, 'd.py': {'tests.c'}})


class SelectionTest(testtools.TestCase):

    def selected(self, line, file='a.py'):
        return list(MEASURED.tests_of(file, line, SOURCE))

    def test_in_a_function_those_that_reach_the_statement(self):
        self.assertEqual(['fast', 'slow'], self.selected(5))
        self.assertEqual(['slow'], self.selected(10))
        self.assertEqual([], self.selected(5, 'c.py'))

    def test_at_import_also_those_of_files_that_import_it(self):
        self.assertEqual(['fast', 'slow', 'other'], self.selected(1))
        self.assertEqual(['tests.c.Test.test'], self.selected(1, 'd.py'))

    def test_at_import_all_when_nobody_knows(self):
        self.assertEqual(['tests.c.Test.test', 'other', 'fast', 'slow'],
                         self.selected(1, 'c.py'))


class MeasureTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.adding = self.useFixture(adding.Adding())
        self.stem = self.adding.top / 'kept'

    def measure(self):
        return selection.measure(
            self.adding.room, self.stem, running.Processes())

    def test_what_each_test_reaches(self):
        for _again in range(2):
            measured = self.measure()

            self.assertEqual(
                {adding.SUM, adding.MORE, adding.NOTHING},
                set(measured.tests_of(adding.FILE, 3, adding.CODE)))
            self.assertEqual({adding.FILE: {'adding_for_mutation.tests'}},
                             measured.importers)
            # Nothing is run again.
            (self.adding.top / adding.FILE).write_text('')

    def test_one_fails_without_a_mutant(self):
        (self.adding.top / adding.FILE).write_text(
            adding.CODE.replace('+', '-'))

        self.assertIn(adding.SUM, str(self.assertRaises(
            errors.MagnumCapiError, self.measure)))


class RoomsTest(testtools.TestCase):

    def test_each_has_sources_and_tests(self):
        for room in rooms.ROOMS.values():
            for pattern in (*room.sources, *room.tests):
                self.assertTrue(list(rooms.TOP.glob(pattern)), pattern)
            self.assertTrue(room.files() and room.modules())
