# SPDX-License-Identifier: Apache-2.0

"""What ran when, as far as a record tells."""

import datetime
import json
import pathlib
import re

import fixtures
import testtools

from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import timeline
from magnum_capi_tempest.tests.common import notes
from magnum_capi_tempest import texts
from tests.unit import fake_clock
from tests.unit.report import streams

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'


def line(seconds, status, uuid=UUID, name='one'):
    return json.dumps([streams.at(seconds).timestamp(), uuid, name, status])


def a_test(name, began, seconds, *tags, status=model.PASSED):
    return model.Test(name, f'a.{name}', status, seconds, tags=tags,
                      started=streams.at(began))


def run_of(*tests, seconds=100.0, found=()):
    return model.Run('T', streams.START, seconds, tests,
                     phases=tuple(timeline.phases(found)))


class PhasesTest(testtools.TestCase):

    def test_each_ends_where_the_next_begins(self):
        found = timeline.phases([
            line(10, 'CREATE_COMPLETE'), line(0, 'CREATE_IN_PROGRESS'),
            line(30, 'DELETE_IN_PROGRESS'), line(40, '', name='')])

        self.assertEqual(
            [('CREATE_IN_PROGRESS', 0, 10), ('CREATE_COMPLETE', 10, 30),
             ('DELETE_IN_PROGRESS', 30, 40)],
            [(one.status, *((moment - streams.START).total_seconds()
                            for moment in (one.started, one.ended)))
             for one in found])
        self.assertEqual({'one'}, {one.name for one in found})

    def test_damaged_lines_are_left_out(self):
        for damaged in ('', '{', '[]', '["now", "u", "n", "s"]', '7', 'null',
                        '[1e99,1,1,1]'):
            self.assertEqual([], timeline.phases([damaged]), damaged)

    def test_what_the_tests_record(self):
        clock = fake_clock.FakeClock()
        clock.time = clock.monotonic
        seen = notes.Notes(clock)
        for status in ('CREATE_IN_PROGRESS', 'CREATE_IN_PROGRESS',
                       'CREATE_COMPLETE'):
            seen.see(UUID, {'name': 'one', 'status': status})
            clock.sleep(5)
        seen.see(UUID, None)
        seen.see('never-there', None)

        found = timeline.phases(seen.take()[texts.PHASES].splitlines())

        self.assertEqual(
            [('CREATE_IN_PROGRESS', 10), ('CREATE_COMPLETE', 5)],
            [(one.status, (one.ended - one.started).total_seconds())
             for one in found])
        self.assertEqual({}, seen.take())


class TimelineTest(testtools.TestCase):

    def test_a_lane_for_each_worker(self):
        found = timeline.of(run_of(
            a_test('b', 50, 25, 'worker-1', status=model.FAILED),
            a_test('a', 0, 50, 'worker-0'), a_test('c', 60, 40, 'worker-0')))

        self.assertEqual(
            [('worker-0', [(0, 500), (600, 400)]), ('worker-1', [(500, 250)])],
            [(lane.label, [(bar.x, bar.width) for bar in lane.bars])
             for lane in found.workers])
        bar, = found.workers[1].bars
        self.assertEqual((model.FAILED, 'b: failed, 25.0 s'),
                         (bar.kind, bar.title))
        self.assertEqual(('0 s', '50.0 s', '1 min 40 s'), found.marks)

    def test_the_phases_of_clusters(self):
        found = timeline.of(run_of(a_test('a', 0, 100), found=[
            line(10, 'CREATE_IN_PROGRESS'), line(20, 'CREATE_FAILED')]))

        lane, = found.clusters
        # What was not seen to end lasts until the end of the run.
        self.assertEqual(
            ('one', [('moving', 100, 100), (model.FAILED, 200, 800)]),
            (lane.label, [(bar.kind, bar.x, bar.width) for bar in lane.bars]))

    def test_nothing_leaves_the_drawing(self):
        found = timeline.of(run_of(a_test('a', 99.99, 0), found=[
            line(-50, 'CREATE_COMPLETE'), line(500, 'DELETE_COMPLETE')]))

        for lane in (*found.workers, *found.clusters):
            for bar in lane.bars:
                self.assertTrue(0 <= bar.x < timeline.WIDTH, bar)
                self.assertTrue(0 < bar.width <= timeline.WIDTH - bar.x, bar)

    def test_a_run_without_times_has_none(self):
        for run in (run_of(model.Test('a', 'a.a', model.PASSED, 1.0)),
                    run_of(a_test('a', 0, 1), seconds=0.0), run_of()):
            self.assertIsNone(timeline.of(run))
            self.assertNotIn('class="lane', html.render(run))

    def test_of_a_recorded_stream(self):
        stream = streams.Stream()
        for number in range(3):
            stream.test(f'a.b.test_{number}', seconds=10,
                        tags=[f'worker-{number % 2}'],
                        **{texts.PHASES: line(number, f'X_{number}_COMPLETE')})
        run = subunit.read(stream.write(pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)), title='T')

        self.assertEqual(3, len(run.phases))
        self.assertEqual([()] * 3, [test.details for test in run.tests])
        page = html.render(run)
        self.assertIn('<span>worker-1</span>', page)
        self.assertIn('<title>X_1_COMPLETE, 1.0 s</title>', page)
        self.assertNotIn('no phases of clusters', page)

    def test_without_phases_the_page_says_so(self):
        self.assertIn('no phases of clusters', html.render(
            run_of(a_test('a', 0, 1))))

    def test_a_page_of_a_thousand_tests_can_be_mailed(self):
        log = model.Detail('pythonlogging', 'l' * 40_000)
        tests = [model.Test(
            f'SomeClassTest.test_{n}_of_that_length_as_most_have',
            f'a.b.SomeClassTest.test_{n}_of_that_length[id-{UUID}]',
            model.FAILED if n % 10 == 0 else model.PASSED, 5.0, (log,),
            (f'worker-{n % 4}',), started=streams.at(n)) for n in range(1000)]
        found = [line(n, status, f'{n:08}{UUID[8:]}', f'tempest-cluster-{n}')
                 for n in range(500) for status in (
                     'CREATE_IN_PROGRESS', 'CREATE_COMPLETE', 'UPDATE_FAILED')]

        page = html.render(run_of(*tests, seconds=1005.0, found=found))

        self.assertLess(len(page), 1_000_000)
        self.assertIn('350 more clusters are not shown', page)
        self.assertEqual([], re.findall(r'style="', page))

    def test_hostile_names(self):
        evil = '</title><script>alert(1)</script>'
        page = html.render(run_of(
            a_test(evil, 0, 1, f'worker-{evil}'),
            found=[line(0, evil, name=evil)]))

        self.assertNotIn('<script>alert', page)

    def test_a_clock_that_was_set_back(self):
        early = datetime.timedelta(days=-1)
        test = model.Test('a', 'a.a', model.PASSED, 1.0,
                          started=streams.START + early)

        bar, = timeline.of(run_of(test)).workers[0].bars
        self.assertEqual((0, 2), (bar.x, bar.width))
