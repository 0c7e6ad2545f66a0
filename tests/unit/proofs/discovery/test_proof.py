# SPDX-License-Identifier: Apache-2.0

"""What the proof keeps of a part, and shows of all."""

import pathlib

import testtools

from tests.proofs.discovery import proof
from tests.proofs import proof as proof_module
from tests.proofs import records


class ProofTest(testtools.TestCase):

    case = proof_module.Case('plain')

    def judge(self, *problems):
        return proof.PROOF.judge(self.case, {
            'problems': list(problems), 'tests': {'T.test': 'passed'}},
            pathlib.Path('results'))

    def test_a_part_without_problems(self):
        row = self.judge()

        self.assertEqual((True, 'plain: 1 test'), (row.good, row.text))

    def test_every_problem_is_told(self):
        row = self.judge('T.test must fail and passed', 'T.x did not run')

        self.assertFalse(row.good)
        self.assertEqual(['  T.test must fail and passed',
                          '  T.x did not run'], row.text.splitlines()[1:])

    def test_the_end_has_a_row_for_each_test_of_a_deviation(self):
        deviant = [test for test in proof._tests() if test.deviations]
        name = next(test.name for test in deviant if not test.apart)
        text = proof.PROOF.epilogue([records.Record(
            'plain', '', seen=[{'problems': [], 'tests': {
                name: 'failed'}}])])

        row, = [line for line in text.splitlines() if name in line]
        self.assertRegex(row, r'did not run +failed +did not run$')
        self.assertNotIn('BrokenDriverTest', text)
