# SPDX-License-Identifier: Apache-2.0


import json
import os
import pathlib
import subprocess
import sys
import time

import fixtures
import testtools

from magnum_capi_tempest import proc
from tests.mutation import pool
from tests.mutation import worker

#: A module, its package and its tests have names that nothing else has.
SUM = 'def add(one, other):\n    return one + other\n'

TESTS = """
import unittest
import adding_for_mutation as adding


class SumTest(unittest.TestCase):

    def test_sum(self):
        self.assertEqual(3, adding.add(1, 2))

    def test_nothing(self):
        adding.add(1, 2)
"""

ID = 'test_adding_for_mutation.SumTest.test_{}'


class EndTest(testtools.TestCase):

    def end(self, function):
        ((name, end),) = pool.run([('a', function)])
        self.assertEqual('a', name)
        return end

    def test_who_says_nothing_has_died(self):
        end = self.end(lambda folder: print('the last word', flush=True))

        self.assertEqual((pool.DIED, 'the last word'), (end.outcome, end.by))

    def test_who_dies(self):
        def fail(folder):
            raise OSError('of this')

        for function, by in ((fail, 'OSError: of this'),
                             (lambda folder: os.abort(), '')):
            end = self.end(function)

            self.assertEqual((pool.DIED, by), (end.outcome, end.by))

    def test_who_takes_too_long(self):
        def hang(folder):
            (folder / worker.AT).write_text('one\ntwo\n')
            worker.alarm(0.05)
            while True:
                pass

        end = self.end(hang)

        self.assertEqual((pool.TIMEOUT, 'two'), (end.outcome, end.by))

    def test_nothing_is_left_of_what_it_starts(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'pid'

        def start(folder):
            process = subprocess.Popen(
                [sys.executable, '-c', 'import time; time.sleep(600)'],
                start_new_session=True)
            path.write_text(f'{process.pid} {folder}')

        self.end(start)

        pid, folder = path.read_text().split()
        self.assertTrue(proc.ended(int(pid)))
        self.assertFalse(pathlib.Path(folder).exists())

    def test_several_at_once(self):
        def outcome(folder):
            # Each waits for the other one.
            mine = shared / str(os.getpid())
            mine.touch()
            limit = time.monotonic() + 60
            while time.monotonic() < limit and len(
                    list(shared.iterdir())) < 2:
                pass
            (folder / worker.OUTCOME).write_text('survived')

        shared = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

        ends = dict(pool.run([(1, outcome), (2, outcome)], workers=2))

        self.assertEqual({1: pool.SURVIVED, 2: pool.SURVIVED},
                         {name: end.outcome for name, end in ends.items()})


class MutantTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.top / 'adding_for_mutation.py').write_text(SUM)
        (self.top / 'test_adding_for_mutation.py').write_text(TESTS)

    def end(self, source, *tests):
        def run(folder):
            sys.path.insert(0, str(self.top))
            worker.try_mutant(
                folder, 'adding_for_mutation',
                str(self.top / 'adding_for_mutation.py'), source,
                {ID.format(test): 1.0 for test in tests})

        ((_, end),) = pool.run([(None, run)])
        return end.outcome, end.by

    def test_the_first_test_that_fails(self):
        self.assertEqual(
            (pool.KILLED, ID.format('sum')),
            self.end(SUM.replace('+', '-'), 'nothing', 'sum'))

    def test_one_that_nobody_sees(self):
        self.assertEqual((pool.SURVIVED, ''),
                         self.end(SUM.replace('+', '-'), 'nothing'))

    def test_without_a_mutant(self):
        self.assertEqual((pool.SURVIVED, ''),
                         self.end(None, 'nothing', 'sum'))

    def test_one_that_cannot_be_imported(self):
        self.assertEqual((pool.IMPORT, "NameError: name 'no' is not defined"),
                         self.end(f'{SUM}no()\n', 'nothing'))

    def test_one_that_tests_make_importable(self):
        source = 'import nothing_but_in_tests\n' + SUM
        (self.top / 'adding_for_mutation.py').write_text(source)
        path = self.top / 'test_adding_for_mutation.py'
        path.write_text('import sys\nsys.modules["nothing_but_in_tests"] = 1'
                        f'\n{TESTS}')

        self.assertEqual((pool.SURVIVED, ''), self.end(source, 'sum'))
        self.assertEqual(
            (pool.KILLED, ID.format('sum')),
            self.end(source.replace('+', '-'), 'sum'))

    def test_the_file_is_as_it_was(self):
        self.end(SUM.replace('+', '-'), 'sum')

        self.assertEqual(
            SUM, (self.top / 'adding_for_mutation.py').read_text())

    def test_what_tests_run_is_measured(self):
        (self.top / 'test_adding_for_mutation.py').write_text(
            TESTS + "\n    @unittest.skip('')\n    def test_skipped(self):\n"
            '        adding.add(1, 2)\n')

        def run(folder):
            os.chdir(self.top)
            worker.measure(folder, self.top,
                           [self.top / 'test_adding_for_mutation.py'])

        ((_, end),) = pool.run([(None, run)])

        found = json.loads(end.text)
        both = sorted(ID.format(name) for name in ('sum', 'nothing'))
        self.assertEqual(both, sorted(found['seconds']))
        self.assertEqual([], found['bad'])
        self.assertEqual(
            both, found['lines']['adding_for_mutation.py']['2'])
