# SPDX-License-Identifier: Apache-2.0

import re
from xml.etree import ElementTree

import testtools

from magnum_capi_tempest.conformance.reports import charts
from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import difference_charts
from magnum_capi_tempest.conformance.reports import page
from tests.unit.conformance import by_hand


def sigs(before, after):
    return difference_charts.sigs(
        by_hand.result(*before), by_hand.result(*after))


class SigsTest(testtools.TestCase):

    def test_durations_are_of_what_ran_in_both(self):
        found, = sigs(
            [by_hand.passed('[sig-a] both', 5), by_hand.passed('[sig-a] 1')],
            [by_hand.passed('[sig-a] both', 9), by_hand.passed('[sig-a] 2'),
             by_hand.failed('[sig-a] untimed', seconds=None)])

        self.assertEqual((4, 1, 5, 9), (
            found.specs, found.timed, found.before, found.after))

    def test_outcomes(self):
        found, = sigs(
            [by_hand.passed('[sig-a] 1'), by_hand.failed('[sig-a] 2'),
             by_hand.failed('[sig-a] 3'), by_hand.passed('[sig-a] 4')],
            [by_hand.failed('[sig-a] 1'), by_hand.failed('[sig-a] 2'),
             by_hand.passed('[sig-a] 3'), by_hand.passed('[sig-a] 4')])

        self.assertEqual(
            {'new_failures': 1, 'still_failing': 1, 'fixed': 1},
            found.outcomes)

    def test_what_ran_in_one_only_is_not_unchanged(self):
        found, = sigs(
            [by_hand.passed('[sig-a] both'), by_hand.passed('[sig-a] gone'),
             by_hand.passed('[sig-a] left')],
            [by_hand.passed('[sig-a] both'), by_hand.skipped('[sig-a] left'),
             by_hand.passed('[sig-a] new'), by_hand.failed('[sig-a] bad')])

        self.assertEqual((5, 3, 1), (
            found.specs, found.once, found.outcomes['new_failures']))

    def test_most_time_first_and_what_never_ran_is_not_there(self):
        both = [by_hand.passed('[sig-a] 1', 1), by_hand.passed('other', 2),
                by_hand.skipped('[sig-b] 1')]

        self.assertEqual(['none', 'a'],
                         [one.name for one in sigs(both, both)])

    def test_many_are_summed_up(self):
        some = [by_hand.passed(f'[sig-{i}] x', i) for i in range(1000)]

        found = sigs(some, some)

        self.assertEqual(charts.SIGS, len(found))
        self.assertEqual((1000, '981 others'), (
            sum(one.specs for one in found), found[-1].name))


class PictureTest(testtools.TestCase):

    def pictures(self, *results):
        content = page.render_comparison(comparison.of(
            comparison.Judged(r, by_hand.judged(r)) for r in results))
        return [ElementTree.fromstring(svg) for svg in re.findall(
            '(?s)<svg.*?</svg>', content)]

    def test_of_real_runs(self):
        found = self.pictures(*map(by_hand.real, (
            by_hand.RERUN, by_hand.PARALLEL, by_hand.MAGNUM)))

        labels = [one.get('aria-label') for one in found]
        self.assertIn('88 specs, 4 new failures, 84 in one run only', labels)
        for picture in found:
            for box in picture.findall('rect'):
                self.assertLessEqual(float(box.get('x', 0)) + float(
                    box.get('width')), 100.01)

    def test_runs_without_times(self):
        one = by_hand.result(by_hand.passed('a', None))

        label, = self.pictures(one, one)

        self.assertEqual('1 spec', label.get('aria-label'))

    def test_nothing_is_drawn_of_what_ran_in_one_only(self):
        before = [by_hand.passed('[sig-a] both'), by_hand.passed('[sig-b] x')]
        after = [by_hand.passed('[sig-a] both'), by_hand.passed('[sig-a] new')]

        times, outcomes = self.pictures(
            by_hand.result(*before), by_hand.result(*after))

        self.assertEqual('2 specs, 1 in one run only',
                         outcomes.get('aria-label'))
        self.assertEqual(['50.00'], [
            box.get('width') for box in outcomes.iter('rect')])
