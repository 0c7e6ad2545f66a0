# SPDX-License-Identifier: Apache-2.0

"""The waiters against a Magnum that answers by script, over HTTP."""

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools
import urllib3.exceptions

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.evidence import conditions
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.tests.common import notes
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import waiters
from magnum_capi_tempest import texts
from tests.unit import fake_clock
from tests.unit.services import scripted_magnum

NOT_FOUND = (404, {'errors': [{'detail': 'Cluster c could not be found.'}]})
#: As Magnum 23.0.0 was seen to send it.
PASSING = (400, {'errors': [{'detail': (
    "Invalid input for field/attribute master_count. Value: '0'. Value "
    'should be greater or equal to 1')}]})
OTHER = (400, {'errors': [{'detail': 'Expected a uuid but received x.'}]})


def cluster(status, **fields):
    return 200, {'uuid': 'c', 'status': status, 'stack_id': 's', **fields}


def group(status, node_count):
    return 200, {'uuid': 'g', 'name': 'default-worker', 'status': status,
                 'node_count': node_count}


class WaiterTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.useFixture(fixtures.FakeLogger())
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.clock = fake_clock.FakeClock()
        self.clock.time = self.clock.monotonic
        self.notes = notes.Notes(self.clock)
        self.waiter = self.new_waiter()

    def new_waiter(self, **kwargs):
        return waiters.ClusterWaiter(
            self.magnum.client('ClustersClient'),
            self.magnum.client('NodegroupsClient'), interval=5, timeout=100,
            clock=self.clock, notes=self.notes, **kwargs)

    def tolerated(self):
        return self.notes.take().get(texts.TOLERATED, '').splitlines()

    def script(self, *answers):
        self.magnum.answers = list(answers)

    def observe(self, *answers, nodegroup=None):
        self.script(*answers)
        return self.waiter.observe('c', nodegroup)


class HandedOverTest(WaiterTestCase):

    def handed_over(self, *answers):
        self.script(*answers)
        self.waiter.until_handed_over('c')
        return len(self.magnum.requests)

    def test_when_the_node_group_belongs_to_a_stack(self):
        without = group('CREATE_IN_PROGRESS', 1)
        with_stack = (200, {**without[1], 'stack_id': 's'})

        self.assertEqual(4, self.handed_over(
            without, cluster('CREATE_IN_PROGRESS'),
            with_stack, cluster('CREATE_IN_PROGRESS'), NOT_FOUND))

    def test_when_the_driver_failed(self):
        self.assertEqual(2, self.handed_over(
            group('CREATE_IN_PROGRESS', 1), cluster('CREATE_FAILED'),
            NOT_FOUND))

    def test_not_before_there_are_node_groups(self):
        self.assertEqual(3, self.handed_over(
            NOT_FOUND, group('CREATE_COMPLETE', 1),
            cluster('CREATE_COMPLETE'), NOT_FOUND))


class CreatedTest(WaiterTestCase):

    def test_returns_the_cluster(self):
        self.script(NOT_FOUND, cluster('CREATE_IN_PROGRESS'),
                    cluster('CREATE_COMPLETE', api_address='https://x'))

        self.assertEqual('https://x',
                         self.waiter.until_created('c')['api_address'])

    def test_failure_carries_status_reason_and_time(self):
        self.script(cluster('CREATE_IN_PROGRESS'),
                    cluster('CREATE_FAILED', status_reason='no quota'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_created, 'c')

        self.assertEqual(
            ('CREATE_FAILED', 'no quota', 0.5),
            (error.state.status, error.state.status_reason, error.elapsed))
        self.assertIn('no quota', str(error))

    def test_timeout_carries_the_last_status(self):
        self.script(cluster('CREATE_IN_PROGRESS'))

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_created, 'c')

        self.assertEqual(('CREATE_IN_PROGRESS', 100.0),
                         (error.state.status, error.elapsed))

    def test_a_cluster_that_never_appears_times_out(self):
        self.script(NOT_FOUND)

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_created, 'c')

        self.assertIn('no such cluster (404)', str(error))

    def test_a_cluster_that_vanishes_aborts(self):
        self.script(cluster('CREATE_IN_PROGRESS'), NOT_FOUND)

        self.assertRaises(errors.WaitAborted, self.waiter.until_created, 'c')

    def test_polls_gently(self):
        self.script(cluster('CREATE_IN_PROGRESS'))

        self.assertRaises(
            errors.WaitTimeout, self.waiter.until_created, 'c')

        self.assertEqual(5, max(self.clock.naps))
        self.assertLess(len(self.magnum.requests), 30)


class ToleratedTest(WaiterTestCase):

    def test_the_passing_400_is_tolerated_and_counted(self):
        self.script(PASSING, PASSING, cluster('CREATE_COMPLETE'))

        self.waiter.until_created('c')

        first, second = self.tolerated()
        self.assertIn('master_count', first)
        self.assertEqual(first, second)
        self.assertEqual([], self.tolerated())

    def test_a_passing_400_that_stays_is_a_timeout(self):
        self.script(PASSING)

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_created, 'c')

        self.assertIn('400 that passes', str(error))

    def test_it_does_not_end_a_deletion(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script(cluster('DELETE_IN_PROGRESS'), PASSING, NOT_FOUND)

        self.waiter.until_deleted('c', before)

        self.assertEqual(1, len(self.tolerated()))

    def test_another_400_is_not_tolerated(self):
        self.script(OTHER)

        self.assertRaises(lib_exc.BadRequest,
                          self.waiter.until_created, 'c')

    def test_a_proxy_without_magnum_is_tolerated(self):
        for status in (502, 503, 504):
            self.script((status, {}), cluster('CREATE_IN_PROGRESS'),
                        (status, {}), cluster('CREATE_COMPLETE', end=True))

            self.assertIs(True, self.waiter.until_created('c')['end'])
        seen = self.tolerated()
        self.assertEqual(6, len(seen))
        self.assertIn('GET cluster c: 504', seen[-1])

    def test_a_magnum_that_restarts_is_tolerated(self):
        clusters = self.waiter._clusters
        answers = [urllib3.exceptions.MaxRetryError(None, '/v1/clusters/c'),
                   cluster('CREATE_COMPLETE')[1]]

        def show_cluster(uuid):
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        clusters.show_cluster = show_cluster

        self.assertEqual('c', self.waiter.until_created('c')['uuid'])

    def test_a_proxy_does_not_know_a_cluster(self):
        self.script((503, {}), cluster('CREATE_IN_PROGRESS'))

        self.waiter.until_known('c')

        self.assertEqual(2, len(self.magnum.requests))

    def test_a_proxy_does_not_end_a_deletion(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script((503, {}), cluster('DELETE_IN_PROGRESS'), (502, {}),
                    NOT_FOUND)

        self.waiter.until_deleted('c', before)

        self.assertEqual(5, len(self.magnum.requests))

    def test_a_500_is_not_tolerated(self):
        self.script((500, {'errors': [{'detail': 'oops'}]}))

        self.assertRaises(lib_exc.ServerFault,
                          self.waiter.until_created, 'c')


class BeforeTest(WaiterTestCase):

    def test_looks_again_after_a_passing_400(self):
        self.script(PASSING, cluster('CREATE_COMPLETE'))

        self.assertEqual('CREATE_COMPLETE', self.waiter.before('c').status)

    def test_a_cluster_that_is_not_there_is_an_answer(self):
        self.script(NOT_FOUND)

        self.assertIsNone(self.waiter.before('c').cluster)


class UpdatedTest(WaiterTestCase):

    def test_is_not_fooled_by_a_stale_complete(self):
        before = self.observe(group('CREATE_COMPLETE', 1),
                              cluster('CREATE_COMPLETE'), nodegroup='w')
        self.script(
            group('CREATE_COMPLETE', 1), cluster('CREATE_COMPLETE'),
            group('UPDATE_IN_PROGRESS', 2), cluster('CREATE_COMPLETE'),
            group('UPDATE_IN_PROGRESS', 2), cluster('UPDATE_IN_PROGRESS'),
            group('UPDATE_COMPLETE', 2), cluster('UPDATE_COMPLETE', end=True))

        self.assertIs(True,
                      self.waiter.until_updated('c', before, 2)['end'])

    def test_failure_carries_the_look(self):
        before = self.observe(group('CREATE_COMPLETE', 1),
                              cluster('CREATE_COMPLETE'), nodegroup='w')
        self.script(
            group('UPDATE_FAILED', 1),
            cluster('UPDATE_FAILED', status_reason='helm'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_updated, 'c', before, 2)

        self.assertEqual(('UPDATE_FAILED', 'helm'),
                         (error.state.status, error.state.status_reason))

    def test_an_update_that_never_begins_times_out(self):
        before = self.observe(group('CREATE_COMPLETE', 1),
                              cluster('CREATE_COMPLETE'), nodegroup='w')
        self.script(*[group('CREATE_COMPLETE', 2),
                      cluster('CREATE_COMPLETE')] * 100)

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_updated, 'c', before, 2)

        self.assertIn('no sign that the update ever began', str(error))

    def abandoned(self, **kwargs):
        waiter = self.new_waiter(**kwargs)
        before = self.observe(group('CREATE_COMPLETE', 2),
                              cluster('CREATE_COMPLETE'), nodegroup='w')
        self.script(*[group('UPDATE_IN_PROGRESS', 2),
                      cluster('UPDATE_COMPLETE')] * 100)
        return waiter, before

    def test_a_group_that_is_abandoned_is_tolerated_and_noted(self):
        waiter, before = self.abandoned(tolerant=True)

        self.assertEqual('UPDATE_COMPLETE',
                         waiter.until_updated('c', before, 2)['status'])
        seen, = self.tolerated()
        self.assertIn('default-worker with 2 nodes UPDATE_IN_PROGRESS', seen)

    def test_it_is_waited_for_where_that_is_not_tolerated(self):
        waiter, before = self.abandoned()

        self.assertRaises(
            errors.WaitTimeout, waiter.until_updated, 'c', before, 2)
        self.assertEqual([], self.tolerated())


class DeletedTest(WaiterTestCase):

    def test_404_is_the_end(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script(cluster('CREATE_COMPLETE'),
                    cluster('DELETE_IN_PROGRESS'), NOT_FOUND)

        self.waiter.until_deleted('c', before)

        self.assertEqual(2, len(self.clock.naps))

    def test_failure_aborts(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script(cluster('DELETE_FAILED', status_reason='stuck'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_deleted, 'c', before)

        self.assertIn('stuck', str(error))

    def test_a_creation_that_fails_after_it_hides_that_it_failed(self):
        before = self.observe(cluster('CREATE_IN_PROGRESS'))
        self.script(cluster('CREATE_FAILED', status_reason='no driver'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_deleted, 'c', before)

        self.assertIn('its deletion has not begun', str(error))
        self.assertTrue(100 / 3 < error.elapsed < 40, error.elapsed)

    def test_one_that_begins_late_has_its_time(self):
        before = self.observe(cluster('CREATE_FAILED'))
        self.script(*[cluster('CREATE_FAILED')] * 2,
                    cluster('DELETE_IN_PROGRESS'), *[
                        cluster('CREATE_FAILED')] * 4, NOT_FOUND)

        self.waiter.until_deleted('c', before)

    def test_has_a_timeout_of_its_own(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script(cluster('DELETE_IN_PROGRESS'))

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_deleted, 'c', before)

        self.assertEqual(100.0, error.elapsed)


class ConditionsTest(WaiterTestCase):

    def fail_with(self, explain):
        self.waiter = self.new_waiter(explain=explain)
        self.script(cluster('CREATE_FAILED'))
        return self.assertRaises(
            errors.WaitAborted, self.waiter.until_created, 'c')

    def test_failure_says_what_cluster_api_says(self):
        bad = conditions.Condition('Machine', 's-1', 'Ready', 'False',
                                   'NoQuota', 'too many')

        error = self.fail_with(lambda stack_id: [bad] if stack_id == 's'
                               else [])

        self.assertEqual([bad], error.conditions)
        self.assertIn('Cluster API says: Machine s-1 Ready=False '
                      '(NoQuota: too many)', str(error))

    def test_secrets_in_reasons_and_conditions_are_not_shown(self):
        self.waiter = self.new_waiter(
            explain=lambda stack_id: ['Machine: password=hunter2'])
        self.script(cluster('CREATE_FAILED', status_reason='token: hunter2'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_created, 'c')

        self.assertNotIn('hunter2', str(error))

    def test_a_long_list_is_cut(self):
        error = self.fail_with(lambda stack_id: ['x'] * 20)

        self.assertIn('and 12 more', str(error))

    def test_a_dead_management_cluster_does_not_hide_the_failure(self):
        def explain(stack_id):
            raise kube.KubeError('no answer')

        error = self.fail_with(explain)

        self.assertEqual('CREATE_FAILED', error.state.status)
        self.assertIn('no answer', str(error))

    def test_without_management_cluster_there_are_none(self):
        self.assertEqual([], self.fail_with(None).conditions)

    def test_success_asks_nothing(self):
        asked = []
        self.waiter = self.new_waiter(explain=asked.append)
        self.script(cluster('CREATE_COMPLETE'))

        self.waiter.until_created('c')

        self.assertEqual([], asked)


class SteadyTest(testtools.TestCase):
    """What must hold for some time, or go on for it."""

    def setUp(self):
        super().setUp()
        self.clock = fake_clock.FakeClock()
        self.useFixture(fixtures.MonkeyPatch(
            f'{waiters.__name__}.time', self.clock))
        wait_for = waiting.wait_for
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.waiting.wait_for',
            lambda *args, **kwargs: wait_for(
                *args, clock=self.clock, **kwargs)))

    @staticmethod
    def states(*states):
        """A poll that shows these; the last for ever."""
        left = list(states)
        return lambda: left.pop(0) if len(left) > 1 else left[0]

    def test_a_break_begins_the_time_anew(self):
        for states, lasts in ((['no', 'yes'], (10, 16)),
                              (['yes', 'yes', 'no', 'yes'], (11, 20))):
            began = self.clock.monotonic()

            waiters.until_steady(
                self.states(*states), lambda state: state == 'yes', 10, 'it')

            took = self.clock.monotonic() - began
            self.assertTrue(lasts[0] <= took < lasts[1], took)

    def test_what_never_holds(self):
        error = self.assertRaises(
            errors.WaitTimeout, waiters.until_steady, self.states('no'),
            lambda state: state == 'yes', 10, 'it', timeout=20)

        self.assertIn('no', str(error))
        self.assertEqual(30, error.elapsed)

    def test_nothing_goes_wrong(self):
        began = self.clock.monotonic()

        last = waiters.until_over(
            10, self.states('first', 'last'), lambda state: None, 'it')

        self.assertEqual('last', last)
        self.assertGreaterEqual(self.clock.monotonic() - began, 10)

    def test_something_goes_wrong(self):
        error = self.assertRaises(
            errors.WaitAborted, waiters.until_over, 10,
            self.states('good', 'bad'),
            lambda state: 'a reason' if state == 'bad' else None, 'it')

        self.assertIn('a reason', str(error))

    def test_an_operation_that_ends_early(self):
        def judged(*statuses):
            wrong = waiters.ended_early()
            return [wrong(observations.Observation({'status': status}))
                    for status in statuses]

        going = 'UPDATE_IN_PROGRESS'
        # The old status is shown for a while.
        self.assertEqual([None] * 3, judged('CREATE_COMPLETE', going, going))
        self.assertEqual([None, 'the cluster is UPDATE_COMPLETE already'],
                         judged(going, 'UPDATE_COMPLETE'))
