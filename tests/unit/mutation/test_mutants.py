# SPDX-License-Identifier: Apache-2.0


import sys
from unittest import mock

import testtools

from magnum_capi import errors
from tests.mutation import mutants

SOURCE = '''\
"""Subject."""

LIMIT = (1 +
         2)


@decorate(3)
def first(one, two=4):
    if (one and
            two):
        return [one,
                two]
    try:
        pass
    except OSError:
        return None

    def inner(three=5):
        return three
'''


class NewTest(testtools.TestCase):

    def test_what_counts(self):
        for changed, counts in (
                ('def f(a: int | None): return a - 1', True),
                # Nobody sees these.
                ('def f(a: int | None): return a + 1', False),
                ('def f(a: int & None): return a + 1', False),
                ('def f(a: int | None): return (a + 1)', False),
                # This is none.
                ('def f(a: int | None): return a + not 1', False)):
            self.assertEqual(counts, mutants.is_new(
                'def f(a: int | None): return a + 1', changed), changed)

    def test_difference(self):
        self.assertEqual(
            ('if a and b: c', 'if a or b: d'),
            mutants.difference('x\n  if a and b:\n    c\ny\n',
                               'x\n  if a or b:\n    d\ny\n'))


class StatementTest(testtools.TestCase):

    def test_the_innermost_with_its_head_only(self):
        for line, lines, imported in (
                (4, range(3, 5), True),
                # Decorators and defaults.
                (7, range(7, 9), True), (8, range(7, 9), True),
                (10, range(9, 11), False), (12, range(11, 13), False),
                (13, range(13, 14), False), (15, range(15, 16), False),
                (18, range(18, 19), False), (19, range(19, 20), False)):
            self.assertEqual((lines, imported),
                             mutants.statement(SOURCE, line), line)


class RankTest(testtools.TestCase):

    def places(self, *files):
        return [mutants.Place(file, 'op', number, 1)
                for file in files for number in range(20)]

    def test_it_depends_on_the_seed_only(self):
        places = self.places('a.py', 'b.py')

        order = list(mutants.ranked(places, 1))

        self.assertEqual(order, list(mutants.ranked(places[::-1], 1)))
        self.assertNotEqual(order, list(mutants.ranked(places, 2)))
        self.assertCountEqual(places, order)

    def test_other_files_do_not_change_it(self):
        alone = list(mutants.ranked(self.places('a.py'), 1))
        beside = list(mutants.ranked(self.places('a.py', 'b.py'), 1))

        self.assertEqual(alone, [p for p in beside if p.file == 'a.py'])


class CosmicRayTest(testtools.TestCase):

    def test_without_it(self):
        with mock.patch.dict(sys.modules, {'cosmic_ray': None,
                                           'cosmic_ray.ast': None}):
            e = self.assertRaises(errors.EnvironmentProblem,
                                  mutants.places, 'a.py', 'a = 1\n')

        self.assertIn('tox -e mutation', str(e))
