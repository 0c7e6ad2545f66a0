# SPDX-License-Identifier: Apache-2.0

import types
from unittest import mock

import fixtures

from tests.proofs.discovery import box
from tests.proofs.discovery import test_discovery as proof
from tests.unit.proofs import base


class DiscoveryTest(base.CaseTest):

    def run_part(self, *problems):
        made = self.useFixture(fixtures.MockPatchObject(
            box, 'Box', mock.MagicMock())).mock
        run = types.SimpleNamespace(tests=[types.SimpleNamespace(
            name='T.test', status='passed')])
        found = self.run_case(
            proof.DiscoveryTest, None, name='plain',
            options={'with_filter': False},
            function=lambda box, tests: (list(problems), run))
        made.assert_called_once_with(29000, 'plain', with_filter=False)
        made.return_value.__exit__.assert_called_once()
        return found[:2]

    def test_a_part_without_problems(self):
        self.assertEqual((True, ['plain: 1 test']), self.run_part())

    def test_every_problem_is_told(self):
        passed, (text,) = self.run_part(
            'T.test must fail and passed', 'T.x did not run')

        self.assertFalse(passed)
        self.assertEqual(['  T.test must fail and passed',
                          '  T.x did not run'], text.splitlines()[1:])
