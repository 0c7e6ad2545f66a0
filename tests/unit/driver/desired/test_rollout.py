# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.desired import rollout
from magnum_capi.driver.desired import spec
from tests.unit.driver import objects


class BatchTest(testtools.TestCase):

    def test_numbers_of_nodes(self):
        self.assertEqual([1, 40, None], [
            rollout.batch(size) for size in (1, 40, None)])

    def test_nonsense_is_refused_with_the_value(self):
        for size in (0, -1, True, 1.5, '2'):
            e = self.assertRaises(spec.InvalidSpec, rollout.batch, size)
            self.assertIn(f'max_batch_size is {size!r}', str(e))


class StrategyTest(testtools.TestCase):

    def rolling(self, size, group=None, **strategy):
        return rollout.strategy(
            # As from a file of the operator.
            objects.as_read({'rolloutStrategy': strategy})
            if strategy else {}, size,
            spec.NodeGroupSpec(uuid='u', name='n', flavor='f',
                               **{'count': 2, **(group or {})}))

    def test_so_many_nodes_go_at_once(self):
        self.assertEqual(
            {'rolloutStrategy': {'rollingUpdate': {'maxUnavailable': 3}}},
            self.rolling(3))

    def test_so_many_come_where_new_nodes_come_first(self):
        for nothing in (0, '0', '0%'):
            self.assertEqual(
                {'rolloutStrategy': {'rollingUpdate': {'maxSurge': 3}}},
                self.rolling(3, rollingUpdate={
                    'maxUnavailable': nothing, 'maxSurge': 1}))

    def test_nothing_is_said_when_nobody_asked(self):
        self.assertEqual({}, self.rolling(None))

    def test_type_that_is_the_usual_one_changes_nothing(self):
        for group in ({}, {'count': 1}, {'held': True}):
            self.assertEqual(
                self.rolling(3, group),
                self.rolling(3, group, type='RollingUpdate'))
            self.assertNotEqual({}, self.rolling(3, group))

    def test_nothing_is_said_where_nodes_are_replaced_by_hand(self):
        for group in ({}, {'count': 1}, {'held': True}):
            for kind in ('OnDelete', 'Surge'):
                self.assertEqual({}, self.rolling(3, group, type=kind))

    SURGE = {'rolloutStrategy': {'rollingUpdate': {
        'maxSurge': 1, 'maxUnavailable': '0%'}}}

    def test_new_node_comes_before_the_only_one_goes(self):
        for size in (None, 1, 3):
            self.assertEqual(self.SURGE, self.rolling(size, {'count': 1}))
        for count in (0, 2):
            self.assertEqual({}, self.rolling(None, {'count': count}))
        # Charts take a 0 of a group for nothing said.
        self.assertTrue(self.SURGE['rolloutStrategy']['rollingUpdate'][
            'maxUnavailable'])

    def test_operator_without_room_for_one_more_may_say_so(self):
        self.assertEqual({}, self.rolling(None, {'count': 1}, rollingUpdate={
            'maxSurge': 0, 'maxUnavailable': 1}))
        for told in ({'maxSurge': 0}, {'maxUnavailable': 1}):
            self.assertEqual({}, self.rolling(
                None, {'count': 1}, rollingUpdate=told))
        self.assertEqual(self.SURGE, self.rolling(
            None, {'count': 1}, rollingUpdate={'deletePolicy': 'Oldest'}))

    def test_nobody_is_replaced_before_the_turn_of_the_group(self):
        for group in ({'held': True}, {'held': True, 'count': 1}):
            for size in (None, 2):
                self.assertEqual(
                    {'rolloutStrategy': {'type': 'OnDelete'}},
                    self.rolling(size, group))
