# SPDX-License-Identifier: Apache-2.0


import testtools

from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import upgrade_order


def machine(name, group='', version='v1.34.2', phase='Running', going=False):
    return capi_objects.Machine(name, '', not group, phase, name, version,
                                going, group)


def moment(text):
    """Machines of a short text: "m1 a1 b2!": b2 is new, and on its way out.

    The letter is the group, "m" the control plane; 1 is old, what comes
    after it new. "?" is not ready.
    """
    return [machine(
        word[:2], '' if word[0] == 'm' else word[0],
        'v1.34.2' if word[1] == '1' else 'v1.35.0',
        'Provisioned' if '?' in word else 'Running', '!' in word)
        for word in text.split()]


BEFORE = moment('m1 a1 b1')


class DisorderTest(testtools.TestCase):

    def disorder(self, *texts):
        return upgrade_order.disorder(BEFORE, map(moment, texts))

    def test_in_order(self):
        self.assertEqual([], self.disorder(
            'm1 a1 b1', 'm1 m2? a1 b1', 'm1! m2 a1 b1', 'm2 a1 b1',
            'm2 a1 a2? b1', 'm2 a1! a2 b1', 'm2 a2 b1', 'm2 a2 b1!',
            'm2 a2 b2?', 'm2 a2 b2'))

    def test_worker_before_the_control_plane(self):
        for text in ('m1 m2? a1! b1', 'm1 b1 a1 a2?', 'm1! m2? b1'):
            self.assertEqual(['a before the control plane is new'],
                             self.disorder(text), text)

    def test_two_groups_at_once(self):
        self.assertEqual(['a and b at the same time'],
                         self.disorder('m2 a1! b1', 'm2 a1! b1!', 'm2 a2? '))

    def test_node_that_is_drained_holds_nobody_up(self):
        self.assertEqual([], self.disorder('m2 a1! a2 b1! b2?'))


class SkewTest(testtools.TestCase):

    def test_newer_worker(self):
        self.assertEqual(
            ['a has v1.35.0 beside v1.34.2 of the control plane'],
            upgrade_order.skew(map(moment, (
                'm1 a1', 'm2 a1', 'm2 a2', 'm1 m2 a2', 'm1 a2'))))


class FewestTest(testtools.TestCase):

    def test_of_each_group(self):
        self.assertEqual({'a': 1, 'b': 0}, upgrade_order.fewest(map(
            moment, ('m1 a1 b1', 'm1 a1 a2? b1!', 'm1! a1! a2'))))
