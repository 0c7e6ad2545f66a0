# SPDX-License-Identifier: Apache-2.0

import datetime
import io
import pathlib
from unittest import mock

import fixtures
from subunit import v2
import testtools

from magnum_capi import errors
from tests import durations

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def at(seconds):
    return BEGIN + datetime.timedelta(seconds=seconds)


def stream(*events):
    """A subunit stream of (test, status, worker, seconds)."""
    f = io.BytesIO()
    writer = v2.StreamResultToBytes(f)
    for test, status, worker, seconds in events:
        writer.status(
            test_id=test, test_status=status, timestamp=at(seconds),
            test_tags={f'worker-{worker}', 'slow'},
            file_name='log', file_bytes=b'of no interest')
    return f.getvalue()


class Times(testtools.StreamResult):
    """Seconds of begin and end, and the status, by test."""

    def __init__(self):
        self.begun, self.ended, self.bytes = {}, {}, []

    def status(self, test_id=None, test_status=None, timestamp=None,
               file_bytes=None, **_):
        seconds = (timestamp - BEGIN).total_seconds()
        if test_status == 'inprogress':
            self.begun[test_id] = seconds
        else:
            self.ended[test_id] = (self.begun[test_id], seconds, test_status)
        self.bytes += [file_bytes] if file_bytes else []


class DurationsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.base / 'cache' / 'driver.subunit'

    def keep(self, *events):
        recorded = self.base / 'run.subunit'
        recorded.write_bytes(stream(*events))
        durations.keep(recorded, self.path)

    def kept(self, *events):
        self.keep(*events)
        times = Times()
        with open(self.path, 'rb') as f:
            v2.ByteStreamToStreamResult(f).run(times)
        self.assertEqual([], times.bytes)
        return times.ended

    def test_the_first_test_has_the_time_of_its_class(self):
        self.assertEqual(
            {'a': (0, 9, 'success'), 'b': (9, 11, 'fail')},
            self.kept(('z', 'exists', 0, 0), ('a', 'inprogress', 0, 8),
                      ('a', 'success', 0, 9), ('b', 'inprogress', 0, 10),
                      ('b', 'fail', 0, 11)))

    def test_workers_go_side_by_side(self):
        self.assertEqual(
            {'a': (1, 9, 'success'), 'b': (1, 5, 'success'),
             'c': (5, 7, 'success')},
            self.kept(('a', 'inprogress', 0, 1), ('b', 'inprogress', 1, 2),
                      ('b', 'success', 1, 5), ('c', 'inprogress', 1, 6),
                      ('c', 'success', 1, 7), ('a', 'success', 0, 9)))

    def test_a_class_that_is_skipped_takes_its_time_along(self):
        self.assertEqual(
            {'setUpClass (x)': (0, 4, 'skip'), 'a': (4, 6, 'success')},
            self.kept(('x', 'exists', 0, 0),
                      ('setUpClass (x)', 'skip', 0, 4),
                      ('a', 'inprogress', 0, 5), ('a', 'success', 0, 6)))

    def test_without_room_nothing_is_known_and_nothing_lost(self):
        self.path.parent.write_text('a file where the folder would be')

        self.keep(('a', 'success', 0, 1))

        self.assertFalse(self.path.exists())

    def test_nothing_to_tell(self):
        with mock.patch.object(durations.processes, 'run') as run:
            durations.tell(self.base, self.path)

        run.assert_not_called()

    def test_what_cannot_be_read_is_no_reason_to_run_nothing(self):
        self.keep(('a', 'success', 0, 1))
        for problem in (errors.CommandFailed(['stestr'], 1, 'bad'),
                        errors.EnvironmentProblem('Cannot run stestr')):
            with mock.patch.object(
                    durations.processes, 'run', side_effect=problem):
                durations.tell(self.base, self.path)
