# SPDX-License-Identifier: Apache-2.0

"""What is tried, and what is not tried again."""

import pathlib
import types
from unittest import mock

import fixtures
import testtools

from tests.mutation import __main__ as command
from tests.mutation import mutants
from tests.mutation import pool
from tests.mutation import record
from tests.mutation import selection

TEXT = 'def f():\n    return 1\n'

MEASURED = selection.Measured({'test': 0.1}, {'a.py': {2: ['test']}})


class RunTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'a.jsonl'
        self.places = [mutants.Place('a.py', 'op', n, 2) for n in range(6)]
        self.made, self.tried = [], []
        self.outcomes = {}
        self.rest = 'rest'
        for holder, name, value in (
                (command.mutants, 'make', self.make),
                (command.pool, 'run', self.forked),
                (command, '_measured', lambda room: MEASURED),
                (record, 'digest_of_all', lambda top: self.rest)):
            self.useFixture(fixtures.MockPatchObject(holder, name, value))
        self.useFixture(fixtures.MockPatch('builtins.print', mock.Mock()))

    def make(self, place, text):
        """The third one is no Python."""
        self.made.append(place.occurrence)
        if place.occurrence == 2:
            return None
        return mutants.Mutant(place, text + '#', 'before', 'after')

    def forked(self, jobs, workers):
        for (mutant, control), _function in jobs:
            self.tried.append((mutant.place.occurrence, control))
            outcome = self.outcomes.get(
                mutant.place.occurrence, pool.KILLED)
            yield (mutant, control), pool.End(
                pool.SURVIVED if control else outcome, 'test', 1.0)

    def run_(self, sample=None, survived=False, text=TEXT):
        self.made.clear()
        self.tried.clear()
        run = command._Run(record.Record(self.path), {'a.py': text})
        run.complete(None, self.places, types.SimpleNamespace(
            sample=sample, survived=survived, jobs=1))
        results, controls = run.recorded(self.places, sample)
        return [r.key.rpartition(':')[2] for r in results], len(controls)

    def test_all_but_those_that_are_no_mutants(self):
        self.assertEqual((['0', '1', '3', '4', '5'], 1), self.run_())
        self.assertEqual([(0, False), (0, True), (1, False), (3, False),
                          (4, False), (5, False)], self.tried)

    def test_a_sample_is_the_first_of_them(self):
        self.assertEqual((['0', '1', '3'], 1), self.run_(sample=3))
        self.assertEqual([0, 1, 2, 3], self.made)

    def test_what_is_known_is_not_tried_or_made_again(self):
        self.run_(sample=3)

        self.assertEqual((['0', '1', '3', '4', '5'], 1), self.run_())
        self.assertEqual(([4, 5], [(4, False), (5, False)]),
                         (self.made, self.tried))

    def test_survivors_are_tried_again_when_something_has_changed(self):
        self.outcomes = {1: pool.SURVIVED}
        self.run_()
        self.rest = 'another'

        self.run_()

        self.assertEqual([(0, True), (1, False)], self.tried)

    def test_a_survivor_counts_until_it_is_tried_again(self):
        self.outcomes = {1: pool.SURVIVED}
        self.run_()
        self.rest = 'another'

        results, _ = command._Run(
            record.Record(self.path), {'a.py': TEXT}).recorded(
                self.places, None)

        self.assertEqual([True, False, True, True, True],
                         [result.killed for result in results])

    def test_only_survivors(self):
        self.outcomes = {1: pool.SURVIVED, 4: pool.SURVIVED}
        self.run_(sample=4)
        self.rest = 'another'

        self.run_(survived=True)

        self.assertEqual([(1, False), (4, False)], self.tried)

    def test_all_of_a_file_that_has_changed(self):
        self.run_()
        self.run_(text=TEXT + '\n')

        self.assertEqual(6, len(self.tried))

    def test_one_that_no_test_reaches(self):
        self.useFixture(fixtures.MockPatchObject(
            command, '_measured', lambda room: selection.Measured(
                {'test': 0.1}, {})))

        self.assertEqual(5, len(self.run_()[0]))
        self.assertEqual([], self.tried)
        self.assertIn('"no test"', self.path.read_text())
