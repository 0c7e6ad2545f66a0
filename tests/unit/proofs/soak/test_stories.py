# SPDX-License-Identifier: Apache-2.0

"""Stories, their seeds, and what becomes of one that breaks."""

import types

import testtools

from tests.proofs.soak import hunt
from tests.proofs.soak import stories


class HuntTest(testtools.TestCase):

    def hunt(self, breaks, minutes=90):
        """Hunt with stories that take a minute each."""
        played = []

        def play(story):
            played.append(story)
            return types.SimpleNamespace(
                broken=('lost',) if breaks(story) else (), played=len(story))

        found = hunt.Hunt(play, 1, minutes, 30,
                          clock=lambda: 60 * len(played))
        found.run()
        return found, played

    def test_a_seed_tells_the_same_stories_with_all_steps_and_faults(self):
        _found, told = self.hunt(lambda story: False)
        steps = [step for story in told for step in story]

        self.assertEqual(told[:3], self.hunt(lambda story: False, 3)[1])
        self.assertEqual({*stories.STEPS}, {step.op for step in steps})
        self.assertEqual(
            {*stories.SERVICES, *stories.MACHINES, *stories.CONDUCTORS},
            {step.args[0] for step in steps if step.op == 'fault'})
        for story in told:
            self.assertEqual(story, stories.parse('\n'.join(map(str, story))))

    def test_one_that_breaks_is_made_shorter(self):
        def breaks(story):
            return any(step.op == 'upgrade' for step in story)

        found, told = self.hunt(breaks)

        self.assertTrue(breaks(found.broken))
        self.assertLess(len(found.broken), len(next(filter(breaks, told))))
        self.assertEqual(('lost',), found.why)
