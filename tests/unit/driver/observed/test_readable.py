# SPDX-License-Identifier: Apache-2.0


"""Names of objects in texts, as those that Magnum's user knows."""

import testtools

from magnum_capi.driver.observed import reasons
from tests.unit.driver import objects

#: A name that leaves little of 63 characters.
LONG = 'g' * 60


class ReadableTest(testtools.TestCase):

    def readable(self, text, key, name='pool'):
        return reasons.readable(
            text, objects.wanted(objects.group(key=key, name=name)))

    def test_names_of_machines_that_were_cut(self):
        machine = f'c0-{LONG}'[:58] + 'x7k2p'
        self.assertEqual(63, len(machine))
        self.assertEqual('pool-x7k2p is gone',
                         self.readable(f'{machine} is gone', LONG))

    def test_one_that_goes_on_is_none_of_them(self):
        text = f'c0-{LONG}'[:58] + 'x7k2pq'
        self.assertEqual(text.removeprefix('c0-'), self.readable(text, LONG))

    def test_several_in_one_text(self):
        self.assertEqual(
            'pool-x7k2p, pool and control-plane-abcde',
            self.readable('c0-gxyz-x7k2p, c0-gxyz and c0-control-plane-abcde',
                          'gxyz'))

    def test_signs_of_regular_expressions_in_names(self):
        self.assertEqual(r'a\1.b-x7k2p', self.readable(
            'c0-gxyz-x7k2p', 'gxyz', r'a\1.b'))
