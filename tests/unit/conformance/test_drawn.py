# SPDX-License-Identifier: Apache-2.0

"""When specs failed, as the page draws it."""

import datetime

import testtools

from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.report import timeline
from tests.unit.conformance import by_hand

BEGAN = datetime.datetime(2026, 11, 21, 9, tzinfo=datetime.timezone.utc)


def failed(at, process=25, **kwargs):
    return by_hand.failed(f'[sig-a] {at}', output=(
        f'I1121 {at}.308498 {process} util.go:454] x\n[FAILED] no\nat 5\n'
        f'In [It] at: output.go:263 @ 11/21/26 {at}.338\n'), **kwargs)


class DrawnTest(testtools.TestCase):

    def view(self, *specs, **kwargs):
        return by_hand.view(by_hand.result(
            *specs, **{'started': BEGAN, 'seconds': 1000.0} | kwargs))

    def test_ends_where_it_failed(self):
        (worker,) = timeline.of(self.view(
            failed('09:05:00', seconds=100.0)).run).workers

        (bar,) = worker.bars
        self.assertEqual(('worker-25', 200, 100, 'failed'),
                         (worker.label, bar.x, bar.width, bar.kind))

    def test_what_has_no_time_within_the_run_is_counted(self):
        page = report.to_html(self.view(
            failed('09:05:00'), failed('08:05:00'), failed('09:59:00'),
            by_hand.failed('a'), failed('99:99:99')))

        self.assertIn('; 4 more failed and are not drawn', page)
        self.assertEqual(1, page.count('<svg'))

    def test_nothing_to_draw(self):
        for specs, facts in (
                ([by_hand.failed('a')], {}), ([], {}),
                ([failed('09:05:00')], {'started': None}),
                ([failed('09:05:00')], {'seconds': None})):
            self.assertNotIn('When specs failed', report.to_html(
                self.view(*specs, **facts)))

    def test_a_real_run(self):
        page = report.to_html(by_hand.view(by_hand.real(by_hand.PARALLEL)))

        for label in '1 in worker-22', '2 in worker-25':
            self.assertIn(f'aria-label="{label}"', page)
