# SPDX-License-Identifier: Apache-2.0

"""A package with tests, to be mutated."""

import pathlib

import fixtures

from tests.mutation import rooms

CODE = '''
def add(one, other):
    return one + other
'''

TESTS = '''
import unittest

from adding_for_mutation import code


class SumTest(unittest.TestCase):

    def test_sum(self):
        self.assertEqual(3, code.add(1, 2))

    def test_more(self):
        self.assertEqual(5, code.add(2, 3))

    def test_nothing(self):
        code.add(2, 2)
'''

#: With a name that nothing else has.
MODULE = 'adding_for_mutation.code'
FILE = 'adding_for_mutation/code.py'
SUM, MORE, NOTHING = (f'adding_for_mutation.tests.SumTest.test_{name}'
                      for name in ('sum', 'more', 'nothing'))


class Adding(fixtures.Fixture):
    """``top`` is its folder, ``room`` has it and its tests."""

    def _setUp(self):
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        folder = self.top / 'adding_for_mutation'
        folder.mkdir()
        for name, text in (('__init__', ''), ('code', CODE),
                           ('tests', TESTS)):
            (folder / f'{name}.py').write_text(text)
        self.useFixture(fixtures.PythonPathEntry(str(self.top)))
        self.useFixture(fixtures.MockPatchObject(rooms, 'TOP', self.top))
        self.room = rooms.Room((FILE,), ('adding_for_mutation/tests.py',))
