# SPDX-License-Identifier: Apache-2.0

"""A source of three files, with a defect."""

import pathlib

import fixtures
import testtools

from tests.proofs.driver_mutants import named
from tests.proofs.driver_mutants import runner
from tests.proofs.driver_mutants import tables

TOP = pathlib.Path(__file__).resolve().parents[4]

FOLDER = 'magnum-capi/magnum_capi'

SUM = 'def add(one, other):\n    return one + other\n'

TESTS = """
import time
import unittest

from magnum_capi import adding


class SumTest(unittest.TestCase):

    def test_sum(self):
        self.assertEqual(3, adding.add(1, 2))

    def test_nothing(self):
        adding.add(1, 2)

    def test_time(self):
        while adding.add(1, 2) != 3:
            time.sleep(1)

    @unittest.skip('for no reason')
    def test_skipped(self):
        pass
"""


def ids(*names):
    return tuple(f'tests.test_adding.SumTest.test_{name}' for name in names)


class RunnerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        package = self.top / FOLDER
        package.mkdir(parents=True)
        (package / '__init__.py').touch()
        (package / 'adding.py').write_text(SUM)
        tests = self.top / 'tests' / 'proofs' / 'driver_mutants'
        tests.mkdir(parents=True)
        for folder in (tests, tests.parent, tests.parents[1]):
            (folder / '__init__.py').touch()
        (tests.parents[1] / 'test_adding.py').write_text(TESTS)
        (tests / 'named.py').write_bytes(
            (TOP / 'tests/proofs/driver_mutants/named.py').read_bytes())

    def trial(self, *names, new='    return one - other\n',
              old='    return one + other\n', hangs=False, limit=None):
        return runner.trial(self.top, FOLDER, tables.Defect(
            'X1', 'it is', 'adding.py', old, new, ids(*names), hangs), limit)

    def test_a_defect_that_is_seen(self):
        trial = self.trial('sum')

        self.assertEqual({ids('sum')[0]: named.FAILED}, trial.outcomes)
        self.assertTrue(trial.as_wanted)

    def test_one_that_a_test_does_not_see(self):
        trial = self.trial('sum', 'nothing')

        self.assertFalse(trial.as_wanted)
        self.assertEqual('test_nothing passed', str(trial))

    def test_a_test_that_never_ends_has_seen_what_makes_it_hang(self):
        for hangs in (True, False):
            trial = self.trial('time', limit=1, hangs=hangs)

            self.assertEqual({ids('time')[0]: runner.HUNG}, trial.outcomes)
            self.assertEqual(hangs, trial.as_wanted)

    def test_what_cannot_run_or_is_skipped_has_seen_nothing(self):
        # Imports fail.
        for new, name in (('    pass\nimport nothing_of_that_name\n', 'sum'),
                          ('    return 0\n', 'skipped'),
                          ('    return 0\n', 'missing')):
            trial = self.trial(name, new=new)

            self.assertEqual({ids(name)[0]: named.BROKEN}, trial.outcomes)
            self.assertFalse(trial.as_wanted)

    def test_lines_that_are_not_there_or_no_python(self):
        for trial in (self.trial('sum', old='    return 2\n'),
                      self.trial('sum', new='    return (\n')):
            self.assertFalse(trial.as_wanted)
            self.assertNotEqual('', trial.problem)

    def test_without_a_defect_all_have_to_pass(self):
        for names, sound in ((('sum', 'nothing'), True),
                             (('skipped',), False), ((), False)):
            self.assertEqual(sound, runner.control(
                self.top, ids(*names)).as_wanted)

    def test_the_source_is_as_it_was(self):
        self.trial('sum')

        self.assertEqual(
            SUM, (self.top / FOLDER / 'adding.py').read_text())


class DefectTest(testtools.TestCase):

    def test_its_lines_have_to_be_there_once(self):
        defect = tables.Defect('X1', 'it is', 'f.py', 'a\n', 'b\n', ())

        self.assertEqual('b\nc\n', defect.applied('a\nc\n'))
        for text in ('c\n', 'a\na\n', ' a\n'):
            self.assertRaises(ValueError, defect.applied, text)
