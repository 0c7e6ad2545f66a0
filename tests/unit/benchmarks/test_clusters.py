# SPDX-License-Identifier: Apache-2.0

from unittest import mock

import clusters
import testtools

from magnum_capi import errors


class WaitTest(testtools.TestCase):

    def wait(self, statuses):
        """Wait for cluster c1, until Magnum's lists are used up."""
        magnum = mock.Mock()
        magnum.statuses.side_effect = statuses

        def wait_for(poll, *, done, **_):
            for _ in statuses:
                if done(poll()):
                    return
            raise errors.WaitTimeout('Timed out')

        with mock.patch.object(clusters.waiting, 'wait_for', wait_for):
            return clusters.wait(magnum, ['c1'], lambda s: s == 'DONE')

    def test_the_last_status_of_each(self):
        self.assertEqual({'c1': 'DONE'}, self.wait(
            [{'c1': 'BEGUN', 'c2': 'FAILED'}, None, {'c1': 'DONE'}]))

    def test_one_that_the_list_has_not(self):
        self.assertEqual({'c1': None}, self.wait([{'c2': 'DONE'}]))

    def test_a_list_that_is_never_answered_hides_no_cluster(self):
        self.assertEqual({'c1': 'not seen'}, self.wait([None, None]))
