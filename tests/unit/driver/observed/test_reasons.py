# SPDX-License-Identifier: Apache-2.0

"""Texts of status_reason: readable, bounded, with the latest warnings."""

import testtools

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import reasons
from tests.unit.driver import objects


def event(message, minutes, kind='Warning', **kwargs):
    return objects.as_read({
        'type': kind, 'reason': 'FailedCreate', 'message': message,
        'involvedObject': {'kind': 'OpenStackMachine',
                           'name': 'c0-default-worker-x1'},
        'lastTimestamp': objects.ago(minutes=minutes).isoformat(), **kwargs})


class TextTest(testtools.TestCase):

    def test_blockers_and_warnings_with_names_of_magnum(self):
        desired = objects.desired(
            objects.group(key='gxyz', name='Pool A'),
            since=objects.ago(hours=1))
        warning = event('No valid host', 1)
        warning['involvedObject']['name'] = 'c0-gxyz-x1'

        text = reasons.text('Waiting for', ['machine c0-gxyz-x1: ERROR'],
                            desired, [warning])

        self.assertEqual(
            'Waiting for: machine Pool A-x1: ERROR. Latest warnings: '
            'OpenStackMachine Pool A-x1 FailedCreate: No valid host', text)

    def test_it_is_bounded_whatever_is_said(self):
        desired = objects.desired()

        text = reasons.text('Waiting for', ['x' * 9999] * 2 + ['y' * 9999],
                            desired, [event('z' * 9999, 0)])

        self.assertEqual(reasons.LIMIT, len(text))
        self.assertEqual(' ...', text[-4:])

    def test_a_blocker_of_400_characters_is_reported_in_full(self):
        for length, told in ((400, 'x' * 400), (401, f'{"x" * 396} ...')):
            self.assertEqual(f'W: {told}; y', reasons.text(
                'W', ['x' * length, 'y'], objects.desired()))

    def test_many_blockers_are_counted(self):
        text = reasons.text('Waiting for', [str(n) for n in range(9)],
                            objects.desired())

        self.assertEqual('Waiting for: 0; 1; 2; and 6 more', text)
        self.assertEqual('W: 0; 1; 2', reasons.text(
            'W', ['0', '1', '2'], objects.desired()))

    def test_last_progress_is_told_while_it_goes_on(self):
        going = goal.Progress(objects.ago(minutes=3), objects.NOW, {})

        for blocker in ('a', 'a.'):
            self.assertEqual(
                'W: a. Last progress: 2026-11-21 14:57 UTC', reasons.text(
                    'W', [blocker], objects.desired(progress=going)))
        self.assertEqual('W: a', reasons.text('W', ['a'], objects.desired(
            status='CREATE_FAILED', progress=going)))

    def test_text_that_was_cut_stays_marked(self):
        text = reasons.text('W', ['a' * 999], objects.desired(
            progress=goal.Progress(objects.NOW, objects.NOW, {})))

        self.assertIn('a ... Last progress: ', text)


class WarningsTest(testtools.TestCase):

    def texts(self, *events, since=None):
        return [text.partition(': ')[2]
                for text in reasons.warnings(events, since)]

    def test_newest_first_each_once_and_not_all(self):
        found = self.texts(*(event(str(n), n) for n in (3, 1, 2, 4)),
                           event('1', 9))

        self.assertEqual(['1', '2', '3'], found)

    def test_normal_events_are_no_warnings(self):
        for kind in ('Normal', None):
            self.assertEqual([], self.texts(event('x', 1, kind)))

    def test_those_before_the_operation_are_not_reported(self):
        self.assertEqual(['new', 'first'], self.texts(
            event('old', 6), event('first', 5), event('new', 1),
            since=objects.ago(minutes=5)))

    def test_events_of_the_newer_api_are_read(self):
        newer = {'type': 'Warning', 'reason': 'R', 'note': 'said',
                 'regarding': {'kind': 'Machine', 'name': 'm'},
                 'eventTime': '2026-11-21T14:59:00.123456Z'}

        self.assertEqual(['Machine m R: said'], reasons.warnings([newer]))

    def test_a_series_is_as_new_as_its_last(self):
        series = event('again', 30, series={
            'lastObservedTime': objects.ago(minutes=1).isoformat()})

        self.assertEqual(['again', 'once'],
                         self.texts(event('once', 5), series))

    def test_an_event_without_a_time_is_reported_last(self):
        for time in (None, '', 'soon', 5):
            self.assertEqual(['y', 'x'], self.texts(
                event('x', 1, lastTimestamp=time), event('y', 1),
                since=objects.ago(minutes=5)))


class ReadableTest(testtools.TestCase):
    """Names of objects as those that Magnum's user knows."""

    #: A name that leaves little of 63 characters.
    LONG = 'g' * 60

    def test_names(self):
        cut = f'c0-{self.LONG}'[:58]
        for text, key, name, expected in (
                (f'{cut}x7k2p is gone', self.LONG, 'pool',
                 'pool-x7k2p is gone'),
                # One that goes on is no machine of it.
                (f'{cut}x7k2pq', self.LONG, 'pool',
                 f'{cut}x7k2pq'.removeprefix('c0-')),
                ('c0-gxyz-x7k2p, c0-gxyz and c0-control-plane-abcde', 'gxyz',
                 'pool', 'pool-x7k2p, pool and control-plane-abcde'),
                # One that only begins alike.
                ('c0-metrics c0-m-1', 'm', 'master', 'metrics master-1'),
                # Signs of regular expressions.
                ('c0-gxyz-x7k2p', 'gxyz', r'a\1.b', r'a\1.b-x7k2p')):
            self.assertEqual(expected, reasons.readable(
                text, objects.desired(objects.group(key=key, name=name))))
