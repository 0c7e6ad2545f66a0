# SPDX-License-Identifier: Apache-2.0

import datetime
import re
from xml.etree import ElementTree

import testtools

from magnum_capi_tempest.conformance import charts
from magnum_capi_tempest.conformance import report
from tests.unit.conformance import by_hand

BEGAN = datetime.datetime(2026, 11, 21, 9, tzinfo=datetime.timezone.utc)


def output(at, process=25):
    return (f'I1121 {at}.308498 {process} util.go:454] x\n[FAILED] no\nat 5\n'
            f'In [It] at: output.go:263 @ 11/21/26 {at}.338\n')


def failed(at, **kwargs):
    return by_hand.failed(f'[sig-a] {at}', output=output(at), **kwargs)


class SigsTest(testtools.TestCase):

    def test_many_are_summed_up(self):
        found = charts.sigs(by_hand.result(*(
            by_hand.passed(f'[sig-{i}] x', i + 1) for i in range(1000))))

        self.assertEqual(charts.SIGS, len(found))
        self.assertEqual(('981 others', 981),
                         (found[-1].name, found[-1].specs))
        self.assertEqual(1000 * 1001 / 2, sum(s.seconds for s in found))


class TimelineTest(testtools.TestCase):

    def timeline(self, *specs, **kwargs):
        return charts.timeline(by_hand.result(
            *specs, **{'started': BEGAN, 'seconds': 1000.0} | kwargs))

    def test_ends_where_it_failed(self):
        (worker, (mark,)), = self.timeline(
            failed('09:05:00', seconds=100.0)).workers

        self.assertEqual(('25', 20, 10), (worker, mark.begin, mark.width))

    def test_what_has_no_time_within_the_run_is_left_out(self):
        found = self.timeline(
            failed('09:05:00'), failed('08:05:00'), failed('09:59:00'),
            by_hand.failed('a'), by_hand.failed('b', output=output(
                '99:99:99')))

        self.assertEqual(4, found.left_out)

    def test_no_times(self):
        for specs, facts in (
                ([by_hand.failed('a')], {}), ([], {}),
                ([failed('09:05:00')], {'started': None}),
                ([failed('09:05:00')], {'seconds': None})):
            self.assertIsNone(self.timeline(*specs, **facts))

    def test_bounded(self):
        found = self.timeline(*(by_hand.failed(
            f'{i}', output=output('09:05:00', i % 90))
            for i in range(5000)))

        self.assertEqual(charts.WORKERS, len(found.workers))
        drawn = sum(len(marks) for _, marks in found.workers)
        self.assertEqual((charts.MARKS, 5000),
                         (drawn, drawn + found.left_out))


class PictureTest(testtools.TestCase):

    def pictures(self, path):
        result = by_hand.real(path)
        content = report.to_html(by_hand.view(result))
        return [ElementTree.fromstring(svg) for svg in re.findall(
            '(?s)<svg.*?</svg>', content)], content

    def test_of_a_real_run(self):
        pictures, content = self.pictures(by_hand.PARALLEL)

        self.assertIn('When specs failed', content)
        labels = [one.get('aria-label') for one in pictures]
        for label in (
                '1 failed: 09:32:52', '2 failed: 09:39:12, 09:39:23',
                '88 specs, 4 failed, 28 min 15 s, the slowest 4 min 3 s'):
            self.assertIn(label, labels)
        for picture in pictures:
            for box in picture.findall('rect'):
                self.assertLessEqual(float(box.get('x', 0)) + float(
                    box.get('width')), 100.01)
