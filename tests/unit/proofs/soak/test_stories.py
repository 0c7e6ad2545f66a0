# SPDX-License-Identifier: Apache-2.0

"""Stories, their seeds, and what becomes of one that breaks."""

import types

import testtools

from magnum_capi import errors
from tests.proofs.soak import hunt
from tests.proofs.soak import stories


class StoryTest(testtools.TestCase):

    def test_text_and_back(self):
        text = 'create a 2 slow.node\nfault api-down - 5\nquiet'
        self.assertEqual(text, '\n'.join(map(str, stories.parse(
            f'# A story.\n\n{text}  # The end.\n'))))

    def test_what_is_no_step_is_named(self):
        for line in ('dance a', 'resize a', 'resize x default-worker 1'):
            e = self.assertRaises(errors.UsageError, stories.parse, line)
            self.assertIn(line, str(e))


class HuntTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.now = 0
        self.told = []

    def hunt(self, seed=1, minutes=3, breaks=lambda story: False):
        """Hunt with stories that take a minute each."""
        def play(story):
            self.now += 60
            self.told.append(story)
            bad = breaks(story)
            return types.SimpleNamespace(
                broken=('lost',) if bad else (), played=len(story))

        found = hunt.Hunt(play, seed, minutes, 30, clock=lambda: self.now)
        found.run()
        return found

    def test_a_seed_tells_the_same_stories_until_its_time_is_over(self):
        first = list(self.hunt().outcomes)

        self.assertEqual(3, len(set(first)))
        self.assertEqual(first, list(self.hunt().outcomes))
        self.assertNotEqual(first, list(self.hunt(seed=2).outcomes))
        self.assertEqual(['create', 'create'], [s.op for s in first[0][:2]])

    def test_stories_can_be_told_again_from_their_text(self):
        for story in self.hunt(minutes=30).outcomes:
            self.assertEqual(story, stories.parse('\n'.join(map(str, story))))

    def test_each_kind_of_step_and_fault_comes_up(self):
        found = [step for story in self.hunt(minutes=90).outcomes
                 for step in story]

        self.assertEqual({*stories.STEPS}, {step.op for step in found})
        self.assertEqual(
            {*stories.SERVICES, *stories.MACHINES, *stories.CONDUCTORS},
            {step.args[0] for step in found if step.op == 'fault'})

    def test_one_that_breaks_is_made_shorter(self):
        def breaks(story):
            return any(step.op == 'upgrade' for step in story)

        found = self.hunt(minutes=60, breaks=breaks)
        whole = next(story for story in self.told if breaks(story))

        self.assertTrue(breaks(found.broken))
        self.assertLess(len(found.broken), len(whole))
        self.assertEqual(('lost',), found.why)
        self.assertEqual(len(self.told), len(set(self.told)))
        self.assertLessEqual(len(self.told) - self.told.index(whole), 31)

    def test_what_could_not_be_played_is_no_break(self):
        def breaks(story):
            raise errors.EnvironmentProblem('No disk')

        self.assertRaises(errors.EnvironmentProblem, self.hunt,
                          breaks=breaks)
        self.assertEqual(1, len(self.told))

    def test_sigterm_ends_it(self):
        def breaks(story):
            raise SystemExit(143)

        self.assertRaises(KeyboardInterrupt, self.hunt, breaks=breaks)
