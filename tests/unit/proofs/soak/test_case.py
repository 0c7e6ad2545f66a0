# SPDX-License-Identifier: Apache-2.0

import types
from unittest import mock

import fixtures

from magnum_capi import progress
from tests import proofs
from tests.proofs.soak import hunt
from tests.proofs.soak import stories
from tests.proofs.soak import test_soak as proof
from tests.proofs.soak import world
from tests.unit.proofs import base

STORY = stories.parse('create a 1 m1.small\ndelete a\nquiet')


class SoakTest(base.CaseTest):

    def play(self, *outcomes, **scenario):
        self.useFixture(fixtures.MockPatchObject(
            world, 'World', return_value=mock.Mock(**{
                'play.side_effect': outcomes})))
        return self.run_case(proof.SoakTest, types.SimpleNamespace(
            clock={}, progress=progress.Silent()), name='x', **scenario)

    def test_numbers_of_a_part(self):
        self.useFixture(fixtures.MockPatchObject(
            hunt.Hunt, 'run', lambda self: [self._try(story) for story in (
                STORY, STORY[:2])]))

        passed, (text,), rows = self.play(*(world.Outcome(
            2, 1, {'helm-slow': 1}, 3, seconds=60.0) for _ in range(2)),
            seed=7)

        self.assertTrue(passed)
        self.assertEqual([['x', '2', '4', '2', '2', '6', '2.0', 'kept']],
                         rows)
        self.assertIn('not apart', text)

    def test_a_story_that_breaks_is_shown_as_far_as_it_was_played(self):
        passed, (text,), rows = self.play(world.Outcome(
            broken=('lost: it',), played=2), story=STORY)

        self.assertFalse(passed)
        self.assertEqual('broken', rows[0][-1])
        self.assertIn('lost: it\n    The story:\n    create a 1 m1.small\n'
                      '    delete a', text)
        self.assertNotIn('quiet', text)

    def parts(self, **settings):
        for name, value in settings.items():
            self.useFixture(fixtures.EnvironmentVariable(
                f'{proofs.PREFIX}{name}', value))
        return proof.parts()

    def test_parts_have_seeds(self):
        self.assertEqual(
            [5, 6, 7], [values['seed'] for _name, values in self.parts(
                MINUTES='15', SEED='5')])
        self.assertRaises(ValueError, self.parts, MINUTES='4')

    def test_stories_of_files(self):
        path = self.results / 'mine.txt'
        path.write_text('\n'.join(map(str, STORY)))
        (name, values), = self.parts(STORY=str(path))

        self.assertEqual(('story-mine', STORY), (name, values['story']))
        self.assertRaises(OSError, self.parts, STORY='/x')
