# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.observed import attention
from tests.unit.driver import objects


def cluster(version='100'):
    return objects.as_read({'metadata': {'resourceVersion': version}})


class AttentionTest(testtools.TestCase):

    def thorough(self, looks, of=lambda number: cluster(), settle=True,
                 ended=True, **kwargs):
        """Numbers of the thorough ones among so many looks."""
        mind, found = attention.Attention(), []
        for number in range(1, looks + 1):
            if mind.next(of(number), **kwargs):
                found.append(number)
                if ended:
                    mind.found(restless=not settle)
        return found

    def test_second_look_is_the_first_thorough_one(self):
        self.assertEqual([2], self.thorough(2))

    def test_cluster_that_stays_as_it_is_is_left_alone(self):
        self.assertEqual([2, 32, 62], self.thorough(70))

    def test_cluster_that_changes_is_read_every_third_time(self):
        self.assertEqual([2, 5, 8], self.thorough(
            10, lambda number: cluster(str(number))))

    def test_change_after_calm_is_read_at_once(self):
        for before, after in (('1', '2'), ('9', '10')):
            self.assertEqual([2, 10], self.thorough(
                12, lambda number: cluster(after if number >= 10
                                           else before)))

    def test_failure_that_was_found_is_followed(self):
        self.assertEqual([2, 5, 8], self.thorough(10, settle=False))

    def test_look_that_did_not_end_is_repeated(self):
        self.assertEqual([2, 5, 8], self.thorough(10, ended=False))

    def test_what_does_not_show_in_the_cluster_is_followed(self):
        self.assertEqual([2, 5, 8], self.thorough(10, restless=True))

    def test_nothing_to_compare_is_no_calm(self):
        for missing in (None, {'metadata': {}}):
            self.assertEqual([2, 5, 8], self.thorough(
                10, lambda number: missing))
