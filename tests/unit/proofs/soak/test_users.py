# SPDX-License-Identifier: Apache-2.0

"""Which requests Magnum may lose on its own account."""

from concurrent import futures

import testtools

from tests.proofs.soak import model
from tests.proofs.soak import stories
from tests.proofs.soak import users


class FoldTest(testtools.TestCase):

    def allowed(self, kills=(), doubt=False, answer=model.Answer.ACCEPTED):
        """Sizes that may be there; it was 1, and 3 was asked for at 100 s."""
        cluster = users.Cluster('a')
        cluster.expected = model.Expected(counts={
            'g': model.Field((1,))})
        future = futures.Future()
        future.set_result((answer, 101))
        cluster.requests.append(users._Request(
            stories.step('resize', 'a', 'g', 3), 100, doubt, None, future))
        cluster.fold(kills, lambda text: None)
        self.assertEqual([], cluster.requests)
        return cluster.expected.count('g').allowed

    def test_what_was_accepted_counts(self):
        self.assertEqual((3,), self.allowed())
        self.assertEqual((3,), self.allowed([50, 101 + users.LOSES]))

    def test_a_conductor_that_is_killed_takes_requests_along(self):
        for kill in (99, 100.5, 110):
            self.assertEqual((1, 3), self.allowed([kill]))

    def test_no_answer_and_what_magnum_does_not_take(self):
        self.assertEqual((1, 3), self.allowed(doubt=True))
        self.assertEqual((1, 3), self.allowed(answer=model.Answer.UNKNOWN))
        self.assertEqual((1,), self.allowed(answer=model.Answer.REFUSED))
