# SPDX-License-Identifier: Apache-2.0

import signal

import fixtures

from magnum_capi import errors
from tests import proofs
from tests.proofs.driver_faults import table
from tests.proofs.driver_faults import test_driver_faults as proof
from tests.unit.proofs import base

KEPT = table.Row('api-down', 'down', 'create', ('CREATE_COMPLETE',),
                 end=table.REACHED, seconds=12.3)
LEAKS = table.Row('api-down', 'down', 'delete', end=table.REACHED,
                  left=('a Lease',))


class FaultTest(base.CaseTest):

    def run_fault(self, *rows, name='api-down'):
        return self.run_case(proof.FaultTest, None, name=name,
                             function=lambda box, name: iter(rows))

    def test_a_fault_fails_if_one_of_its_rows_is_not_kept(self):
        self.assertEqual((True, [KEPT.as_text()], [list(KEPT.cells())]),
                         self.run_fault(KEPT))

        passed, texts, rows = self.run_fault(LEAKS, KEPT)

        self.assertFalse(passed)
        self.assertEqual(2, len(texts))
        self.assertEqual([list(LEAKS.cells()), list(KEPT.cells())], rows)

    def test_sigterm_ends_the_case_and_all_that_follow(self):
        def function(box, name):
            signal.raise_signal(signal.SIGTERM)

        self.assertRaises(
            KeyboardInterrupt, self.run_case, proof.FaultTest, None,
            name='races', function=function)

    def test_rows_before_a_problem_are_kept(self):
        def function(box, name):
            yield KEPT
            raise errors.MagnumCapiError('No machine')

        case = proof.FaultTest('test_it_is_survived')
        vars(case).update(name='races', function=function)
        with fixtures.MockPatchObject(
                proof.boxes, 'shared', lambda *args: None):
            case.run(result := base.unittest.TestResult())

        self.assertIn('No machine', result.errors[0][1])
        path, = (self.results / 'rows').iterdir()
        self.assertIn('down,create', path.read_text())

    def test_those_that_need_a_conductor_are_skipped_without_one(self):
        self.assertLessEqual({*proof.FULL}, {*proof.FAULTS})
        self.useFixture(fixtures.EnvironmentVariable(
            f'{proofs.PREFIX}PROFILE', 'embedded'))

        for name, texts in ((proof.FULL[0], []), ('api-down', [
                LEAKS.as_text()])):
            self.assertEqual(texts, self.run_fault(LEAKS, name=name)[1])
