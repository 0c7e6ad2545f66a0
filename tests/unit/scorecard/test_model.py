# SPDX-License-Identifier: Apache-2.0

"""Who keeps which promise, judged from outcomes."""

import dataclasses

import testtools

from magnum_capi_tempest.scorecard import model
from tests.unit.scorecard import samples

ALL = dict.fromkeys(('life', 'resize', 'named', 'ready'), 'passed')


class CellsTest(testtools.TestCase):

    def cells(self, *records):
        return {row.name: row.cells for row in samples.matrix(*records).rows}

    def state(self, name, **outcomes):
        return self.cells(samples.record(**ALL | outcomes))[name][0].state

    def test_everything_passes(self):
        found = self.cells(samples.record(**ALL))

        self.assertEqual({model.KEPT},
                         {cells[0].state for cells in found.values()})
        self.assertEqual('2 tests', found['resize'][0].said)

    def test_a_failure_breaks_the_promise_with_fewest_tests(self):
        # test_named needs "resize" too, which another test keeps
        broken = {'named': ('failed', 'any node went')}

        self.assertEqual(model.BROKEN, self.state('named', **broken))
        self.assertEqual(model.KEPT, self.state('resize', **broken))

    def test_what_is_granted_is_broken_last(self):
        # as many tests need the one as the other
        tests = (samples.test('test_both', ('resize', 'ready')),)
        matrix = model.build(
            samples.FLAGS, tests, (),
            [samples.record(both=('failed', 'too early'))])

        self.assertEqual(
            {'resize': model.UNTRIED, 'ready': model.BROKEN},
            {row.name: row.cells[0].state for row in matrix.promises})

    def test_a_broken_promise_says_what_was_measured(self):
        cell, = self.cells(samples.record(
            **ALL | {'ready': ('failed', 'no node is ready')}))['ready']

        self.assertEqual(('no node is ready',
                          ('api.test_x.XTest.test_ready',)),
                         (cell.said, cell.tests))

    def test_a_promise_whose_only_tests_failed_for_another_one(self):
        cell, = self.cells(samples.record(
            named=('failed', 'x'), resize='skipped'))['resize']

        self.assertEqual((model.UNTRIED,
                          'its tests failed for another promise'),
                         (cell.state, cell.said))

    def test_a_skip_proves_nothing_and_says_why(self):
        cell, = self.cells(samples.record(
            ready=('skipped', 'no slow_flavor')))['ready']

        self.assertEqual((model.UNTRIED, 'no slow_flavor'),
                         (cell.state, cell.said))

    def test_what_did_not_run(self):
        cell, = self.cells(samples.record(life='passed'))['ready']

        self.assertEqual((model.UNTRIED, 'not among the tests that ran'),
                         (cell.state, cell.said))

    def test_a_class_that_is_not_set_up_breaks_nothing_and_is_told(self):
        one = samples.record()
        one.outcomes['api.test_x.XTest'] = samples.outcome('failed', 'no')

        matrix = samples.matrix(one)

        self.assertEqual({(model.UNTRIED, 'its class was not set up: no')},
                         {(row.cells[0].state, row.cells[0].said)
                          for row in matrix.rows})
        self.assertEqual((('api.test_x.XTest',), 1),
                         (matrix.failures[0], matrix.exit_code))

    def test_a_test_that_was_not_strict_proves_nothing(self):
        strict = dataclasses.replace(samples.TESTS[3],
                                     stricter=frozenset(('ready',)))
        states = [model.build(
            samples.FLAGS, (strict,), (),
            [dataclasses.replace(samples.record(ready='passed'),
                                 asked=frozenset(asked))]
        ).promises[0].cells[0].state for asked in ((), ('ready',))]

        self.assertEqual([model.UNTRIED, model.KEPT], states)

    def test_operations_are_not_judged_by_tests_of_promises(self):
        self.assertEqual(model.KEPT, self.state(
            'create_cluster', ready=('failed', 'x')))

    def test_a_failure_counts_against_the_operation_in_its_stack(self):
        found = self.cells(samples.record(
            **ALL | {'life': ('failed', 'x', 'resize_cluster')}))

        self.assertEqual(
            (model.BROKEN, model.UNTRIED),
            (found['resize_cluster'][0].state,
             found['create_cluster'][0].state))

    def test_a_failure_without_a_stack_counts_against_all(self):
        broken = {'life': ('failed', 'x')}

        for name in ('create_cluster', 'resize_cluster'):
            self.assertEqual(model.BROKEN, self.state(name, **broken))


class HeadlineTest(testtools.TestCase):

    def headline(self, *records):
        return samples.matrix(*records).headline

    def test_the_faults_of_one_are_not_those_of_all(self):
        good = samples.record(**ALL)
        bad = samples.record(**ALL | {'resize': ('failed', 'x')})

        self.assertEqual('1 of 2 drivers keep what they promise',
                         self.headline(good, bad))
        self.assertEqual('Every driver keeps what it promises',
                         self.headline(good, good))
        self.assertEqual('Broken', self.headline(bad))


class EnvironmentTest(testtools.TestCase):
    """What the cloud lacked is no broken promise, and no kept one."""

    def matrix(self, **outcomes):
        return samples.matrix(samples.record(**ALL | outcomes))

    def states(self, matrix):
        return {row.name: row.cells[0].state for row in matrix.rows}

    def test_nothing_is_broken_and_nothing_holds(self):
        matrix = self.matrix(ready=('environment', 'quota exceeded: no'))

        self.assertEqual('environment', self.states(matrix)['ready'])
        self.assertEqual(([], ((),), 1), (
            matrix.broken(0), matrix.failures, matrix.exit_code))
        self.assertEqual('Not proved', matrix.headline)
        self.assertIn('1 tests could not be judged', matrix.verdict(0))
        self.assertIn('1 environment', matrix.verdict(0))

    def test_who_would_be_blamed_is_not_judged(self):
        states = self.states(self.matrix(named=('environment', 'x')))

        self.assertEqual(('kept', 'environment'),
                         (states['resize'], states['named']))

    def test_the_only_test_of_a_promise(self):
        states = self.states(samples.matrix(samples.record(
            named=('environment', 'x'))))

        self.assertEqual('environment', states['resize'])

    def test_a_failure_of_another_test_counts(self):
        states = self.states(self.matrix(
            named=('failed', 'x'), resize=('environment', 'x')))

        self.assertEqual('broken', states['named'])

    def test_a_class_that_is_not_set_up(self):
        one = samples.record()
        one.outcomes['api.test_x.XTest'] = samples.outcome(
            'environment', 'no valid host')

        matrix = samples.matrix(one)

        self.assertEqual({'environment'}, set(self.states(matrix).values()))
        self.assertEqual(((),), matrix.failures)


class VerdictTest(testtools.TestCase):

    def test_a_promise_that_nobody_made_may_be_broken(self):
        matrix = samples.matrix(samples.record(
            **ALL | {'ready': ('failed', 'x')}))

        self.assertEqual(0, matrix.exit_code)
        self.assertEqual({'kept': 2, 'broken': 1, 'not tried': 0,
                          'environment': 0},
                         matrix.count(0))

    def test_a_promise_of_its_own_may_not(self):
        matrix = samples.matrix(
            samples.record(**ALL),
            samples.record('k8s_y', ('resize', 'ready'),
                           **ALL | {'ready': ('failed', 'x')}))

        self.assertEqual(1, matrix.exit_code)
        self.assertEqual(([], ['ready']),
                         (matrix.broken(0), matrix.broken(1)))
        self.assertIn('breaks 1 of its own promises: ready',
                      matrix.verdict(1))

    def test_operations_are_promised_by_everybody(self):
        matrix = samples.matrix(samples.record(
            **ALL | {'life': ('failed', 'x')}))

        self.assertEqual(1, matrix.exit_code)

    def test_nothing_is_no_proof(self):
        self.assertEqual(1, samples.matrix().exit_code)
        self.assertEqual(1, samples.matrix(samples.record()).exit_code)

    def test_a_damaged_record_is_no_proof(self):
        self.assertEqual(1, samples.matrix(dataclasses.replace(
            samples.record(**ALL), problems=('cut',))).exit_code)

    def test_a_failure_that_judges_nothing_is_told(self):
        one = samples.record(**ALL)
        one.outcomes['api.test_y.YTest'] = samples.outcome('failed', 'leak')

        matrix = samples.matrix(one)

        self.assertEqual((('api.test_y.YTest',), 1),
                         (matrix.failures[0], matrix.exit_code))
        self.assertIn('of the tests that judge no row, 1 failed',
                      matrix.verdict(0))

    def test_a_failing_end_of_a_class_is_told(self):
        one = samples.record(**ALL)
        one.outcomes['api.test_x.XTest'] = samples.outcome('failed', 'leak')

        self.assertEqual(('api.test_x.XTest',),
                         samples.matrix(one).failures[0])

    def test_what_is_kept_and_not_promised_stands_out(self):
        row = samples.matrix(samples.record(**ALL)).promises[2]

        self.assertEqual((True, False),
                         (row.cells[0].unexpected, row.cells[0].bad))
