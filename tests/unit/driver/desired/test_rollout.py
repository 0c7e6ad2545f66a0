# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.desired import rollout
from magnum_capi.driver.desired import spec
from tests.unit.driver import objects

#: A new node comes before the only one goes. Charts take a 0 of a group for
#: nothing said.
SURGE = {'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': '0%'}}
GO = {'rollingUpdate': {'maxUnavailable': 3}}
COME = {'rollingUpdate': {'maxSurge': 3}}
ONE, DEFERRED = {'count': 1}, {'deferred': True}


class BatchTest(testtools.TestCase):

    def test_numbers_of_nodes(self):
        self.assertEqual([1, 40, None], [
            rollout.batch(size) for size in (1, 40, None)])

    def test_nonsense_is_refused_with_the_value(self):
        for size in (0, -1, True, 1.5, '2'):
            e = self.assertRaises(spec.InvalidSpec, rollout.batch, size)
            self.assertIn(f'max_batch_size is {size!r}', str(e))


class StrategyTest(testtools.TestCase):

    #: Size, fields of the group, what the operator says of all groups, and
    #: what the group says.
    TABLE = (
        (3, {}, {}, GO), (None, {}, {}, None),
        (None, {'count': 0}, {}, None),
        # New nodes come first where the operator says so.
        *((3, {}, {'rollingUpdate': {'maxUnavailable': none, 'maxSurge': 1}},
           COME) for none in (0, '0', '0%')),
        *((size, ONE, {}, SURGE) for size in (None, 1, 3)),
        (None, ONE, {'rollingUpdate': {'deletePolicy': 'Oldest'}}, SURGE),
        # An operator without room for one more may say so.
        *((None, ONE, {'rollingUpdate': told}, None) for told in (
            {'maxSurge': 0, 'maxUnavailable': 1}, {'maxSurge': 0},
            {'maxUnavailable': 1})),
        # Nobody is replaced before the turn of the group.
        *((size, {**DEFERRED, 'count': count}, {}, {'type': 'OnDelete'})
          for size in (None, 2) for count in (1, 2)),
        # The usual type changes nothing.
        *((3, group, {'type': 'RollingUpdate'}, expected)
          for group, expected in (({}, GO), (ONE, SURGE),
                                  (DEFERRED, {'type': 'OnDelete'}))),
        # Nodes are replaced by hand.
        *((3, group, {'type': kind}, None) for group in ({}, ONE, DEFERRED)
          for kind in ('OnDelete', 'Surge')))

    def test_what_a_group_says(self):
        for size, group, told, expected in self.TABLE:
            with self.subTest(group, size=size, told=told):
                found = rollout.strategy(
                    # As from a file of the operator.
                    objects.as_read({'rolloutStrategy': told} if told
                                    else {}), size,
                    spec.NodeGroupSpec(uuid='u', name='n', flavor='f',
                                       **{'count': 2, **group}))
                self.assertEqual(expected, found.get('rolloutStrategy'))
