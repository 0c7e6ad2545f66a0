# SPDX-License-Identifier: Apache-2.0

"""Waiting for node groups that come and go, and for the end of anything."""

from magnum_capi import errors
from tests.unit.package_tests import test_waiters

NOT_FOUND = test_waiters.NOT_FOUND
cluster = test_waiters.cluster
group = test_waiters.group


def groups(*bodies):
    return 200, {'nodegroups': [body for _, body in bodies]}


class GroupCreatedTest(test_waiters.WaiterTestCase):

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
        error = self.assertRaises(
            errors.WaitAborted, self.created,
            group('CREATE_FAILED', 1), cluster('UPDATE_IN_PROGRESS'))

        self.assertIn('its node group is CREATE_FAILED', str(error))

    def test_so_does_that_of_the_cluster(self):
        error = self.assertRaises(
            errors.WaitAborted, self.created, group('CREATE_IN_PROGRESS', 1),
            cluster('UPDATE_FAILED', status_reason='no quota'))

        self.assertIn('no quota', str(error))


class GroupDeletedTest(test_waiters.WaiterTestCase):

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


class SettledTest(test_waiters.WaiterTestCase):

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


class CountedTest(test_waiters.WaiterTestCase):

    def test_when_the_group_has_the_number(self):
        self.script(group('UPDATE_COMPLETE', 1), cluster('UPDATE_COMPLETE'),
                    group('UPDATE_IN_PROGRESS', 2),
                    cluster('UPDATE_COMPLETE'), NOT_FOUND)

        self.waiter.until_counted('c', 'g', 2)

        self.assertEqual(4, len(self.magnum.requests))
