# SPDX-License-Identifier: Apache-2.0

"""Waits for the objects of a cluster, whatever becomes of the cluster."""

import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import waiters

CREATING, COMPLETE, FAILED = (
    'CREATE_IN_PROGRESS', 'CREATE_COMPLETE', 'CREATE_FAILED')


class UntilThereTest(testtools.TestCase):

    def until_there(self, *states):
        """Wait through (status, objects); return the last look.

        :param states: objects of None: the cluster has no stack_id yet.
        """
        self.useFixture(fixtures.MonkeyPatch(
            f'{waiters.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=types.SimpleNamespace(
                    build_timeout=60, build_interval=0.001))))
        left, self.calls = list(states), []

        def observe(uuid):
            status, self.objects = left.pop(0)
            self.calls.append('observe')
            return observations.Observation({
                'status': status, 'status_reason': 'why',
                'stack_id': None if self.objects is None else 's'})

        def read(stack_id):
            self.calls.append(f'read {stack_id}')
            return self.objects

        return requested.until_there(
            types.SimpleNamespace(
                observe=observe, until_handed_over=self.handed_over),
            'u', read, lambda found: len(found) == 2, 'two objects')

    def handed_over(self, uuid):
        self.calls.append(f'handed over {uuid}')

    def test_the_objects_count_and_not_the_cluster(self):
        for status in (CREATING, FAILED):
            look = self.until_there(
                (CREATING, None), (CREATING, ['a']), (status, ['a', 'b']))

            self.assertEqual(['a', 'b'], look.found)
            self.assertEqual(status, look.cluster.status)
        self.assertEqual(
            ['handed over u', 'observe', 'observe', 'read s', 'observe',
             'read s'], self.calls)

    def test_complete_without_them(self):
        self.assertEqual(
            ['a'], self.until_there((CREATING, []), (COMPLETE, ['a'])).found)
        self.assertIsNone(self.until_there((COMPLETE, None)).found)

    def test_failed_without_them(self):
        for objects in (None, ['a']):
            e = self.assertRaises(
                errors.WaitAborted, self.until_there, (FAILED, objects))

            self.assertEqual('why', e.state.cluster.status_reason)
            self.assertIn('two objects', str(e))
