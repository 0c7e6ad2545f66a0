# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import testtools

from magnum_capi_tempest.driver.wanted import rollout
from magnum_capi_tempest.driver.wanted import spec


class BatchTest(testtools.TestCase):

    def test_numbers_of_nodes(self):
        self.assertEqual([1, 40, None], [
            rollout.batch(size) for size in (1, 40, None)])

    def test_nonsense_is_refused_with_the_value(self):
        for size in (0, -1, True, 1.5, '2'):
            e = self.assertRaises(spec.InvalidSpec, rollout.batch, size)
            self.assertIn(f'max_batch_size is {size!r}', str(e))


class StrategyTest(testtools.TestCase):

    def rolling(self, size, **strategy):
        return rollout.strategy(
            {'rolloutStrategy': strategy} if strategy else {}, size)

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

    def test_nothing_is_said_where_nodes_are_replaced_by_hand(self):
        self.assertEqual({}, self.rolling(3, type='OnDelete'))
