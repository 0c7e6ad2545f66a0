# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.workspace import pool

LONG, SHORT, ANOTHER = 'a.test_a.LongTest', 'a.test_a.Test', 'b.test_b.Test'


class PoolTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder = base / 'shared'
        self.folder.mkdir()
        pool.make(self.folder)
        self.table = base / 'durations.csv'
        self.table.write_text(
            f'test,seconds\n{LONG}.test_1,5\n{LONG}.test_2,4\n'
            f'{SHORT}.test_1,8\n')
        self.useFixture(fixtures.MockPatchObject(
            pool, 'TYPICAL', self.table))
        pool._typical.cache_clear()
        self.addCleanup(pool._typical.cache_clear)
        self.pid = self.useFixture(fixtures.MockPatchObject(
            pool.os, 'getpid')).mock

    def worker(self, pid, *ids, alone=()):
        """An iterator of a worker, whose list is written when it begins."""
        def run():
            self.pid.return_value = pid
            yield from pool.Pool(self.folder, ids, alone)
        return run()

    def test_the_longest_class_comes_first(self):
        ids = [f'{SHORT}.test_1[id-1,smoke]', f'{ANOTHER}.test_1',
               f'{LONG}.test_1[id-2]', f'{LONG}.test_2']

        self.assertEqual([ids[2:], ids[:1], ids[1:2]],
                         list(self.worker(1, *ids)))

    def test_who_is_free_takes_those_of_others(self):
        one = self.worker(1, f'{LONG}.test_1', f'{SHORT}.test_1')
        other = self.worker(2, f'{ANOTHER}.test_1')

        self.assertEqual([f'{SHORT}.test_1'], next(one))
        self.assertEqual(
            [[f'{LONG}.test_1'], [f'{ANOTHER}.test_1']], list(other))
        self.assertEqual([], list(one))

    def test_every_third_worker_begins_with_the_shortest(self):
        ids = [f'{name}.test_1' for name in (SHORT, LONG, ANOTHER)]
        begun = [self.worker(1, *ids), self.worker(2), self.worker(3)]

        self.assertEqual([[ids[0]], [ids[1]], [ids[2]]], [*map(next, begun)])
        self.assertEqual([], list(begun[2]))

    def test_a_class_that_runs_alone_comes_last(self):
        ids = [f'{name}.test_1' for name in (SHORT, LONG, ANOTHER)]

        for pid in range(1, 4):
            self.assertEqual([ids[0]], list(self.worker(
                pid, *ids, alone=[SHORT]))[-1])

    def test_a_scenario_may_have_any_name(self):
        ids = [f'{LONG}.test_1(image a/b.c)', f'{LONG}.test_1(image a/d.c)']

        self.assertEqual([ids[:1], ids[1:]], list(self.worker(1, *ids)))

    def test_what_is_not_listed_yet_is_left_to_its_worker(self):
        self.assertEqual(
            [[f'{SHORT}.test_1']], list(self.worker(1, f'{SHORT}.test_1')))
        self.assertEqual(
            [[f'{LONG}.test_1']], list(self.worker(2, f'{LONG}.test_1')))

    def test_workers_may_have_tests_of_one_class(self):
        one = self.worker(1, f'{LONG}.test_1')
        self.assertEqual([f'{LONG}.test_1'], next(one))

        self.assertEqual([[f'{LONG}.test_2']],
                         list(self.worker(2, f'{LONG}.test_2')))
        self.assertEqual([], list(one))

    def test_seconds_of_tests(self):
        self.assertEqual(9.3, pool.seconds(
            [f'{LONG}.test_1[id-1]', f'{LONG}.test_2', f'{ANOTHER}.test_1']))
