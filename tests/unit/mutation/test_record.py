# SPDX-License-Identifier: Apache-2.0


import dataclasses
import enum
import importlib
import operator
import pathlib
import re

import fixtures
import testtools

from tests.mutation import mutants
from tests.mutation import pool
from tests.mutation import record
from tests.mutation import rooms
from tests.mutation import tables


def place(number=0):
    return mutants.Place('discovery/a.py', 'op', number, 3)


def result(number=0, outcome=pool.KILLED, **other):
    return dataclasses.replace(record.Result(
        place(number).key, 'f', 3, f'{number} == 1', f'{number} != 1',
        outcome, 'test', 1.5, 'code', 'rest'), **other)


class RecordTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'a.jsonl'

    def test_what_is_recorded_is_found_by_the_next_run(self):
        record.Record(self.path).add(result())

        found = record.Record(self.path)

        self.assertEqual(result(), found.of(place(), 'code', 'rest'))
        self.assertIsNone(found.of(place(1), 'code', 'rest'))
        self.assertIsNone(found.of(place(), 'code', 'rest', control=True))

    def test_a_line_that_was_not_written_to_its_end(self):
        record.Record(self.path).add(result())
        whole = self.path.read_text()
        self.path.write_text(whole + whole[:50])

        self.assertIsNotNone(
            record.Record(self.path).of(place(), 'code', 'rest'))

    def test_the_last_of_a_place_counts(self):
        for outcome in (pool.SURVIVED, pool.KILLED):
            record.Record(self.path).add(result(outcome=outcome))

        self.assertTrue(record.Record(self.path).of(
            place(), 'code', 'rest').killed)

    def test_what_holds_no_more(self):
        found = record.Record(self.path)
        for one, code, rest, holds in (
                (result(), 'other', 'rest', False),
                (result(), 'code', 'other', True),
                (result(outcome=pool.SURVIVED), 'code', 'rest', True),
                (result(outcome=pool.SURVIVED), 'code', 'other', False),
                (result(outcome=record.NO_TEST), 'code', 'other', False)):
            found.add(one)

            self.assertEqual(
                holds, found.of(place(), code, rest) is not None, one)

    def test_the_digest_sees_every_source_and_name(self):
        top = self.path.parent
        seen = set()
        for name, text in ((f'{rooms.FOLDER}/a.py', 'a = 1'),
                           ('tests/b.py', 'b = 1'), ('tests/b.py', 'b = 2'),
                           ('tests/c.py', '')):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
            seen.add(record.digest_of_all(top))

        self.assertEqual(4, len(seen))


class EquivalentTest(testtools.TestCase):

    def read(self, text):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'e.toml'
        path.write_text(text)
        return record.equivalents(path)

    def test_each_has_one_proof(self):
        entry = ('[[mutant]]\nfile = "a.py"\nbefore = "a"\nafter = "b"\n'
                 'why = "{}"\n')

        self.assertEqual(1, len(self.read(entry.format('so'))))
        self.assertEqual((), self.read(''))
        rule = '[[rule]]\nchange = "a\\nb"\nwhy = "so"\n'
        self.assertEqual(2, len(self.read(rule + entry.format('so'))))
        for text in (entry.format(' '), entry.format('so') * 2, rule * 2):
            self.assertRaises(ValueError, self.read, text)

    def of_one_place(self):
        return [one for one in record.equivalents()
                if isinstance(one, record.Equivalent)]

    def test_those_of_this_project_are_of_sources_that_are_there(self):
        self.assertEqual([], [
            one.file for one in self.of_one_place()
            if one.file not in rooms.files(one.file.partition('/')[0])])

    def test_those_of_this_project_quote_their_sources(self):
        top = pathlib.Path(__file__).resolve().parents[3] / rooms.FOLDER

        self.assertEqual([], [
            (one.file, one.before) for one in self.of_one_place()
            if one.before not in ' '.join((top / one.file).read_text().split())
        ])


class EnumRuleTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.rule, = [one for one in record.equivalents()
                      if isinstance(one, record.Rule)]

    def is_of(self, before, after):
        return self.rule.is_of(result(before=before, after=after))

    def test_the_comparison_stays(self):
        for before, after, found in (
                ('if a is m.State.A:', 'if a == m.State.A:', True),
                ('if a is not State.A:', 'if a != State.A:', True),
                ('if a is Kind.A and b is Kind.B:',
                 'if a == Kind.A and b is Kind.B:', True),
                ('if a is State.A:', 'if a != State.A:', False),
                ('if a is not State.A:', 'if a == State.A:', False),
                ('if a is State.A:', 'if a <= State.A:', False),
                ('if a is State.A:', 'if a == State.B:', False),
                ('if a is State.A and b:', 'if a == State.A or b:', False),
                ('if a is State.A.value:', 'if a == State.A.value:', False),
                ('if a is None:', 'if a == None:', False)):
            self.assertEqual(found, self.is_of(before, after), after)

    def test_it_is_of_members_that_equal_only_themselves(self):
        found = 0
        for file in (f for room in rooms.ROOMS for f in rooms.files(room)):
            text = (rooms.TOP / rooms.FOLDER / file).read_text('utf-8')
            for line in text.splitlines():
                for at in re.finditer(r' is (not )?([\w.]+)', line):
                    same = f' {"!" if at[1] else "="}= {at[2]}'
                    if self.is_of(line, line[:at.start()] + same
                                  + line[at.end():]):
                        found += 1
                        member = operator.attrgetter(at[2])(
                            importlib.import_module(rooms.module(file)))
                        self.assertIsInstance(member, enum.Enum, line)
                        self.assertIs(object.__eq__, type(member).__eq__)
        self.assertNotEqual(0, found)


class ScoreTest(testtools.TestCase):

    def score(self, *outcomes, equivalent=()):
        return record.Score(
            tuple(result(n, outcome) for n, outcome in enumerate(outcomes)),
            tuple(record.Equivalent('discovery/a.py', f'{n} == 1',
                                    f'{n} != 1', 'so') for n in equivalent))

    def test_counts(self):
        score = self.score(
            pool.KILLED, pool.IMPORT, pool.TIMEOUT, pool.DIED, pool.SURVIVED,
            record.NO_TEST, pool.SURVIVED, equivalent=[6])

        self.assertEqual((4, 2, 1, 6), (
            score.killed, len(score.survivors), len(score.equivalent),
            score.judged))
        self.assertAlmostEqual(100 * 4 / 6, score.percent)
        self.assertEqual([], score.disproved)

    def test_a_proof_that_a_test_refutes(self):
        score = self.score(pool.KILLED, pool.KILLED, equivalent=[1])

        self.assertEqual([result(1)], score.disproved)
        self.assertFalse(tables.good(rooms.ROOMS['driver'], score, ()))

    def test_at_most_five_percent_are_equivalent(self):
        outcomes = [pool.SURVIVED] * 2 + [pool.KILLED] * 38

        self.assertFalse(self.score(
            *outcomes, equivalent=[0, 1]).too_many_equivalent)
        self.assertTrue(self.score(
            *outcomes[:-1], equivalent=[0, 1]).too_many_equivalent)

    def test_interval(self):
        # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        for hits, of, low, high in ((81, 263, 0.2553, 0.3662),
                                    (15, 148, 0.0624, 0.1605),
                                    (0, 20, 0.0, 0.1611),
                                    (1, 29, 0.0061, 0.1718)):
            self.assertAlmostEqual(low, record.wilson(hits, of)[0], 4)
            self.assertAlmostEqual(high, record.wilson(hits, of)[1], 4)
        self.assertEqual((0.0, 1.0), record.wilson(0, 0))

    def test_what_is_good(self):
        room = rooms.ROOMS['discovery']
        for killed, survived, alarms, good in (
                (390, 10, 0, True), (390, 10, 1, False),
                # Below the score, and below the floor.
                (380, 20, 0, False), (39, 1, 0, False), (0, 0, 0, False)):
            controls = tuple(
                result(n, pool.KILLED if n < alarms else pool.SURVIVED,
                       control=True) for n in range(3))
            score = self.score(*[pool.KILLED] * killed,
                               *[pool.SURVIVED] * survived)

            self.assertEqual(good, tables.good(room, score, controls))


class TablesTest(testtools.TestCase):

    def test_a_run_takes_the_place_of_the_last_one_like_it(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for part, seed, outcome in (
                ('discovery/a.py', 1, pool.SURVIVED),
                ('discovery/a.py', None, pool.SURVIVED),
                ('discovery/a.py', 1, pool.KILLED)):
            score = record.Score((result(outcome=outcome),))
            row = tables.row(part, score, (), 1, seed)
            tables.write(row, score, folder)

        lines = (folder / tables.SCORES).read_text().splitlines()
        self.assertEqual(3, len(lines))
        self.assertStartsWith('discovery/a.py,"sample, seed 1",1,1,1,',
                              lines[1])
        self.assertStartsWith('discovery/a.py,whole,1,1,0,', lines[2])
        self.assertEqual(
            1, len((folder / tables.SURVIVORS).read_text().splitlines()))

    def test_a_sample_leaves_survivors_that_it_has_not(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        both = tuple(result(n, pool.SURVIVED) for n in range(2))
        for part, seed, results, left in (
                ('discovery', None, both, 2),
                ('discovery', 1, (result(),), 1),
                ('discovery', 1, both[:1], 2),
                ('discovery', None, (result(), result(1)), 0)):
            score = record.Score(results)
            tables.write(tables.row(part, score, (), 2, seed), score, folder)
            lines = (folder / tables.SURVIVORS).read_text().splitlines()
            self.assertEqual(left, len(lines) - 1)

    def test_who_is_equivalent_is_no_survivor(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        score = record.Score(
            tuple(result(n, pool.SURVIVED) for n in range(2)),
            (record.Equivalent('discovery/a.py', '0 == 1', '0 != 1', 'so'),))

        tables.write(tables.row('discovery', score, (), 2, 1), score, folder)

        self.assertEqual(
            ['File,In,Before,After', 'discovery/a.py,f,``1 == 1``,``1 != 1``'],
            (folder / tables.SURVIVORS).read_text().splitlines())

    def assertStartsWith(self, start, text):
        self.assertEqual(start, text[:len(start)])

    def test_the_end_names_who_survived_and_false_alarms(self):
        score = record.Score((result(outcome=pool.SURVIVED), result(1)))
        control = result(1, control=True)

        text = tables.as_text(
            tables.row('discovery', score, (control,), 2, 1), score,
            (control,))

        self.assertIn('score: 50.0 %', text)
        self.assertIn(
            'survived: discovery/a.py:3 f: 0 == 1 -> 0 != 1 (test)', text)
        self.assertIn('FALSE ALARM: discovery/a.py:3', text)
