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


def groups(*bodies):
    return 200, {'nodegroups': [body for _, body in bodies]}


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

    def test_failure_carries_status_reason_and_time(self):
        self.script(cluster('CREATE_IN_PROGRESS'),
                    cluster('CREATE_FAILED', status_reason='no quota'))

        error = self.assertRaises(
            errors.WaitAborted, self.waiter.until_created, 'c')

        self.assertEqual(
            ('CREATE_FAILED', 'no quota', 0.5),
            (error.state.status, error.state.status_reason, error.elapsed))
        self.assertIn('no quota', str(error))

    def test_a_cluster_that_never_appears_times_out(self):
        self.script(NOT_FOUND)

        error = self.assertRaises(
            errors.WaitTimeout, self.waiter.until_created, 'c')

        self.assertIn('no such cluster (404)', str(error))


class ToleratedTest(WaiterTestCase):

    def test_the_passing_400_is_tolerated_and_counted(self):
        self.script(PASSING, PASSING, cluster('CREATE_COMPLETE'))

        self.waiter.until_created('c')

        first, second = self.tolerated()
        self.assertIn('master_count', first)
        self.assertEqual(first, second)
        self.assertEqual([], self.tolerated())

    def test_it_does_not_end_a_deletion(self):
        before = self.observe(cluster('CREATE_COMPLETE'))
        self.script(cluster('DELETE_IN_PROGRESS'), PASSING, NOT_FOUND)

        self.waiter.until_deleted('c', before)

        self.assertEqual((1, 4), (
            len(self.tolerated()), len(self.magnum.requests)))

    def test_other_errors_are_not_tolerated(self):
        for answer, error in ((OTHER, lib_exc.BadRequest),
                              ((500, {'errors': [{'detail': 'oops'}]}),
                               lib_exc.ServerFault),
                              ((505, {}), lib_exc.UnexpectedResponseCode)):
            self.script(answer)
            self.assertRaises(error, self.waiter.until_created, 'c')

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


class BeforeTest(WaiterTestCase):

    def test_looks_again_after_a_passing_400(self):
        self.script(PASSING, cluster('CREATE_COMPLETE'))

        self.assertEqual('CREATE_COMPLETE', self.waiter.before('c').status)

    def test_a_cluster_that_is_not_there_is_an_answer(self):
        self.script(NOT_FOUND)

        self.assertIsNone(self.waiter.before('c').cluster)


class UpdatedTest(WaiterTestCase):

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

    def update_with_an_abandoned_group(self, waiter):
        before = self.observe(group('CREATE_COMPLETE', 2),
                              cluster('CREATE_COMPLETE'), nodegroup='w')
        self.script(*[group('UPDATE_IN_PROGRESS', 2),
                      cluster('UPDATE_COMPLETE')] * 100)
        return waiter.until_updated('c', before, 2)['status']

    def test_a_group_that_is_abandoned_is_tolerated_and_noted(self):
        self.assertEqual('UPDATE_COMPLETE',
                         self.update_with_an_abandoned_group(
                             self.new_waiter(tolerant=True)))
        seen, = self.tolerated()
        self.assertIn('default-worker with 2 nodes UPDATE_IN_PROGRESS', seen)

    def test_it_is_tolerated_of_clusters_of_other_drivers(self):
        self.waiter.tolerate_abandoned('of another driver')
        self.assertRaises(errors.WaitTimeout,
                          self.update_with_an_abandoned_group, self.waiter)

        self.waiter.tolerate_abandoned('c')

        self.assertEqual('UPDATE_COMPLETE',
                         self.update_with_an_abandoned_group(self.waiter))


class DeletedTest(WaiterTestCase):

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


class GroupCreatedTest(WaiterTestCase):

    def created(self, *answers):
        self.script(*answers)
        return self.waiter.until_group_created('c', 'g')

    def test_group_and_cluster_are_complete(self):
        state = self.created(
            # The row is not there yet.
            NOT_FOUND,
            group('CREATE_IN_PROGRESS', 1), cluster('UPDATE_IN_PROGRESS'),
            group('CREATE_COMPLETE', 1), cluster('UPDATE_IN_PROGRESS'),
            group('CREATE_COMPLETE', 1), cluster('UPDATE_COMPLETE'))

        self.assertEqual('g', state.nodegroup['uuid'])
        self.assertEqual(7, len(self.magnum.requests))

    def test_a_failure_ends_it(self):
        for answers, said in (
                ((group('CREATE_FAILED', 1), cluster('UPDATE_IN_PROGRESS')),
                 'its node group is CREATE_FAILED'),
                ((group('CREATE_IN_PROGRESS', 1),
                  cluster('UPDATE_FAILED', status_reason='no quota')),
                 'no quota')):
            error = self.assertRaises(
                errors.WaitAborted, self.created, *answers)

            self.assertIn(said, str(error))


class GroupDeletedTest(WaiterTestCase):

    def deleted(self, *answers):
        self.script(*answers)
        self.waiter.until_group_deleted('c', 'g')
        return len(self.magnum.requests)

    def test_when_it_is_no_longer_listed(self):
        self.assertEqual(6, self.deleted(
            groups(group('DELETE_IN_PROGRESS', 1)),
            cluster('UPDATE_COMPLETE'),
            groups(), cluster('UPDATE_IN_PROGRESS'),
            groups(), cluster('UPDATE_COMPLETE'), NOT_FOUND))

    def test_a_proxy_without_magnum_does_not(self):
        self.assertEqual(3, self.deleted(
            (503, {}), groups(), cluster('UPDATE_COMPLETE'), NOT_FOUND))

    def test_a_failure_ends_it(self):
        error = self.assertRaises(
            errors.WaitAborted, self.deleted,
            groups(group('DELETE_FAILED', 1)), cluster('UPDATE_IN_PROGRESS'))

        self.assertIn('its node group is DELETE_FAILED', str(error))


class SettledTest(WaiterTestCase):

    def settled(self, *answers, nodegroup=None):
        self.script(*answers)
        return self.waiter.until_settled('c', nodegroup)

    def test_a_failure_is_an_end(self):
        state = self.settled(cluster('CREATE_IN_PROGRESS'),
                             cluster('CREATE_FAILED', status_reason='why'))

        self.assertEqual(('CREATE_FAILED', 'why'),
                         (state.status, state.status_reason))

    def test_the_group_counts_too(self):
        state = self.settled(
            NOT_FOUND,
            group('CREATE_IN_PROGRESS', 1), cluster('UPDATE_COMPLETE'),
            group('CREATE_COMPLETE', 1), cluster('UPDATE_COMPLETE'),
            nodegroup='g')

        self.assertEqual('CREATE_COMPLETE', state.group_status)


class CountedTest(WaiterTestCase):

    def test_when_the_group_has_the_number(self):
        self.script(group('UPDATE_COMPLETE', 1), cluster('UPDATE_COMPLETE'),
                    group('UPDATE_IN_PROGRESS', 2),
                    cluster('UPDATE_COMPLETE'), NOT_FOUND)

        self.waiter.until_counted('c', 'g', 2)

        self.assertEqual(4, len(self.magnum.requests))


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
