# SPDX-License-Identifier: Apache-2.0


import testtools

from tests.mutation import mutants
from tests.mutation import rooms
from tests.mutation import selection

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
    {'a.py': {5: ['slow', 'fast'], 9: ['slow']}, 'b.py': {1: ['other']}},
    {'a.py': {'b.py'}, 'd.py': {'tests.c'}})


class SelectionTest(testtools.TestCase):

    def selected(self, line, file='a.py'):
        return list(selection.tests_of(
            mutants.Place(file, 'op', 0, line), SOURCE, MEASURED))

    def test_in_a_function_those_that_reach_the_statement(self):
        self.assertEqual(['fast', 'slow'], self.selected(5))
        self.assertEqual(['slow'], self.selected(10))

    def test_at_import_also_those_of_files_that_import_it(self):
        self.assertEqual(['fast', 'slow', 'other'], self.selected(1))
        self.assertEqual(['other'], self.selected(1, 'b.py'))

    def test_at_import_also_those_that_import_it_themselves(self):
        self.assertEqual(['tests.c.Test.test'], self.selected(1, 'd.py'))

    def test_at_import_all_when_nobody_knows(self):
        self.assertEqual(['tests.c.Test.test', 'other', 'fast', 'slow'],
                         self.selected(1, 'c.py'))

    def test_none(self):
        self.assertEqual([], self.selected(5, file='c.py'))


class ImportersTest(testtools.TestCase):

    def test_they_are_found(self):
        package = rooms.PACKAGE
        self.assertEqual(
            {'d/__init__.py': {'d/b.py', 'tests.t'},
             'd/a.py': {'d/b.py', 'c.py'},
             'd/b.py': {'tests.t'}, 'c.py': set()},
            selection.importers({
                'd/__init__.py': '', 'd/a.py': 'import os\n',
                'd/b.py': f'from {package}.d import a\n',
                'c.py': f'def f():\n    import {package}.d.a\n'},
                {'tests.t': f'from {package}.d import b\n'}))
