# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from tests.proofs.driver_mutants import named
from tests.proofs.driver_mutants import proof
from tests.proofs.driver_mutants import runner
from tests.proofs.driver_mutants import tables
from tests.proofs import proof as proof_module

DEFECT = tables.Defect('X1', 'it is', 'a.py', 'a\n', 'b\n', ('t.one', 't.two'))


class ProofTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.case = proof_module.Case(DEFECT.name, data=DEFECT)
        self.work = types.SimpleNamespace(
            mark=pathlib.Path(self.useFixture(
                fixtures.TempDir()).path) / 'programs',
            cases=(self.case,), progress=progress.Silent())

    def outcomes(self, name, *wanted):
        self.useFixture(fixtures.MockPatchObject(
            runner, name, lambda *args, **kwargs: runner.Trial(
                DEFECT.name, wanted, dict(zip(
                    DEFECT.tests, (named.PASSED, named.FAILED))))))

    def test_nothing_is_tried_when_tests_fail_without_a_defect(self):
        self.outcomes('control', named.PASSED)

        e = self.assertRaises(errors.MagnumCapiError,
                              proof.PROOF.open(self.work).__enter__)
        self.assertIn('two failed', str(e))

    def test_all_tests_of_a_defect_have_to_fail(self):
        for wanted, good in (((named.FAILED,), False),
                             ((named.PASSED, named.FAILED), True)):
            self.outcomes('trial', *wanted)
            seen, = proof.PROOF.run(self.work, self.case)
            row = proof.PROOF.judge(
                self.case, json.loads(json.dumps(seen)), None)

            self.assertEqual(good, row.good)
            self.assertEqual(not good, 'one passed' in row.text)
