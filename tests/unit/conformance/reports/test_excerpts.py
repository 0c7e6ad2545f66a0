# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import excerpts
from magnum_capi_tempest.conformance.reports import page
from tests.unit.conformance import by_hand


def compared(*results):
    return comparison.of(comparison.Judged(one, by_hand.judged(one))
                         for one in results)


def suite(number, specs, make=by_hand.passed):
    return by_hand.result(*(
        make(f'[sig-{i % 30}] {"a long name " * 8}{i}') for i in range(specs)),
        title=f'run-{number}')


class ExcerptTest(testtools.TestCase):

    def test_all_of_it_leaves_nothing_off(self):
        found = compared(suite(1, 3), suite(2, 3, by_hand.failed))

        self.assertEqual(
            excerpts.Excerpt(found, (0, 1)), excerpts.excerpt(found, 2, 9))

    def test_first_run_and_those_that_have_not_passed_are_shown_first(self):
        found = excerpts.excerpt(compared(
            suite(1, 3), suite(2, 3), suite(3, 3, by_hand.failed),
            suite(4, 3)), 3, 9)

        self.assertEqual(['run-1', 'run-2', 'run-3'],
                         [run.result.title for run in found.shown.runs])
        self.assertEqual(['run-2', 'run-3'],
                         [one.after for one in found.shown.differences])
        self.assertEqual([('run-1',), ('run-2',), ('run-3',)],
                         [one.head for one in found.shown.grid.columns])
        self.assertEqual({3}, {
            len(row.cells) for row in found.shown.grid.rows})
        self.assertIn('1 of 4 runs', found.left_off[0])

    def test_lists_are_cut(self):
        found = excerpts.excerpt(compared(
            suite(1, 30), suite(2, 30, by_hand.failed)), 2, 5)

        self.assertEqual(5, len(found.shown.differences[0].new_failures))
        self.assertEqual(5, len(found.shown.grid.rows))
        self.assertEqual(('25 changes; 5 of each kind are shown',
                          '25 rows of tests by cluster'), found.left_off)


class PageTest(testtools.TestCase):

    def test_few_runs_are_shown_whole(self):
        content = page.render_comparison(compared(
            suite(1, 1500), suite(2, 1500, by_hand.failed)))

        self.assertEqual(2 * 1500, content.count('a long name ' * 8))
        self.assertNotIn('This page omits', content)

    def test_many_differences_stay_below_the_limit(self):
        runs = [suite(1, 3000), *(suite(i, 3000, by_hand.failed)
                                  for i in range(2, 6))]

        content = page.render_comparison(compared(*runs))

        self.assertLessEqual(len(content.encode()), excerpts.LIMIT)
        self.assertIn('This page omits', content)
        self.assertIn('new failures: 3000', content)
        self.assertIn('12000 new failures', content)

    def test_many_runs_stay_below_the_limit(self):
        broken = suite(499, 40, by_hand.failed)

        content = page.render_comparison(compared(
            *(suite(i, 40) for i in range(498)), broken))

        self.assertLessEqual(len(content.encode()), excerpts.LIMIT)
        self.assertIn('of 499 runs', content)
        self.assertIn('run-499', content)
