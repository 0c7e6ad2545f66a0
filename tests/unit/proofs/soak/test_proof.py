# SPDX-License-Identifier: Apache-2.0

import json
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from tests.proofs import __main__ as command
from tests.proofs import proof as proof_module
from tests.proofs.soak import hunt
from tests.proofs.soak import proof
from tests.proofs.soak import stories
from tests.proofs.soak import world

STORY = stories.parse('create a 1 m1.small\ndelete a\nquiet')


class ProofTest(testtools.TestCase):

    def run_case(self, data, *outcomes):
        """What is seen in a case, as records keep it."""
        self.useFixture(fixtures.MockPatchObject(
            world, 'World', return_value=mock.Mock(**{
                'play.side_effect': outcomes})))
        self.useFixture(fixtures.MockPatchObject(proof.PROOF, '_shrink', 0,
                                                 create=True))
        seen, = proof.PROOF.run(types.SimpleNamespace(clock={}),
                                proof_module.Case('x', data=data))
        return json.loads(json.dumps(seen))

    def judge(self, seen):
        return proof.PROOF.judge(proof_module.Case('x'), seen, None)

    def test_numbers_of_a_part(self):
        self.useFixture(fixtures.MockPatchObject(
            hunt.Hunt, 'run', lambda self: [self._try(story) for story in (
                STORY, STORY[:2])]))
        row = self.judge(self.run_case(7, *(world.Outcome(
            2, 1, {'helm-slow': 1}, 3, seconds=60.0) for _ in range(2))))

        self.assertTrue(row.good)
        self.assertEqual(('x', '2', '4', '2', '2', '6', '2.0', 'kept'),
                         row.cells)
        self.assertIn('not apart', row.text)

    def test_a_story_that_breaks_is_printed_as_far_as_it_was_played(self):
        row = self.judge(self.run_case(STORY, world.Outcome(
            broken=('lost: it',), played=2)))

        self.assertFalse(row.good)
        self.assertEqual('broken', row.cells[-1])
        self.assertIn('lost: it\n    The story:\n    create a 1 m1.small\n'
                      '    delete a', row.text)
        self.assertNotIn('quiet', row.text)

    def cases(self, *words):
        args = command._parser(proof.PROOF).parse_args(words)
        return list(proof.PROOF.cases(args))

    def test_parts_have_seeds(self):
        self.assertEqual(
            ['seed 5', 'seed 6', 'seed 7'],
            [c.name for c in self.cases('--minutes', '15', '--seed', '5')])
        self.assertRaises(errors.UsageError, self.cases, '--minutes', '4')

    def test_story_of_a_file(self):
        path = self.useFixture(fixtures.TempDir()).join('mine.txt')
        with open(path, 'w') as file:
            file.write('\n'.join(map(str, STORY)))
        case, = self.cases('--story', path)

        self.assertEqual(('story mine', STORY), (case.name, case.data))
        self.assertRaises(errors.UsageError, self.cases, '--story', '/x')
