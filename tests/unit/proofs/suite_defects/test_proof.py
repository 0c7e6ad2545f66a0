# SPDX-License-Identifier: Apache-2.0

"""What is run of a defect and of a driver without one, and the verdicts."""

import argparse
import pathlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.report import model
from tests.proofs.cloud_defects import proof as cloud_defects
from tests.proofs import proof as proof_module
from tests.proofs.suite_defects import box as box_module
from tests.proofs.suite_defects import proof
from tests.proofs.suite_defects import tables

RESULTS = pathlib.Path('/results')


class ProofTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.defect = tables.defects()[0]
        self.box = types.SimpleNamespace(
            results=RESULTS, defects=(self.defect,), try_defect=self.try_,
            not_promised=lambda driver: (),
            try_healthy=lambda driver, kept, turn:
            RESULTS / f'{driver}-{turn}' / 'run.subunit')
        self.status, self.why, self.read = model.FAILED, '', []
        self.error = None
        self.useFixture(fixtures.MockPatchObject(
            box_module, 'read', self.read_))

    def try_(self, defect):
        if self.error:
            raise self.error

    def read_(self, path, title):
        self.read.append(str(path))
        return model.Run(title, tests=(model.Test(
            self.defect.short, self.defect.id, self.status, 1.0,
            (model.Detail('reason', self.why),)),), seconds=3.0)

    def row(self, case):
        seen, = proof.PROOF.run(self.box, case)
        return proof.PROOF.judge(case, seen, RESULTS)

    def test_a_defect_is_judged_by_its_recorded_run(self):
        self.why = 'Timed out waiting for it to be created: CREATE_IN_PROGRESS'
        row = self.row(proof_module.Case(self.defect.name, data=self.defect))

        self.assertTrue(row.good)
        self.assertEqual(self.defect.name, row.cells[0])
        self.assertEqual([f'/results/{self.defect.name}/run.subunit'],
                         self.read)

    def test_a_test_that_does_not_end_has_seen_nothing(self):
        self.error = errors.CommandFailed(['python'], None, '')
        row = self.row(proof_module.Case(self.defect.name, data=self.defect))

        self.assertFalse(row.good)
        self.assertIn('MISSED: python did not end in time', row.cells[3])

    def test_false_alarms(self):
        case = proof_module.Case('k8s_capi_v1-1', control=True,
                                 data=('k8s_capi_v1', 1))
        row = self.row(case)
        self.assertFalse(row.good)
        self.assertIn(f'{self.defect.short} failed', row.text)
        # They are no defects: the table has nothing of them.
        self.assertEqual((), row.cells)

        self.status = model.PASSED
        self.assertTrue(self.row(case).good)
        self.assertEqual('/results/k8s_capi_v1-1/run.subunit', self.read[-1])


class CasesTest(testtools.TestCase):

    def names(self, rounds=1, only_rounds=False, patience=1.0):
        return [case.name for case in proof.PROOF.cases(argparse.Namespace(
            rounds=rounds, only_rounds=only_rounds, patience=patience))]

    def test_rounds_come_after_the_defects(self):
        self.assertEqual(['k8s_capi_v1-1', 'k8s_capi_helm_v1-1'],
                         self.names()[-2:])
        self.assertEqual(len(tables.of('memory')), len(self.names(rounds=0)))

    def test_each_defect_is_a_case_of_one_proof(self):
        cases = [case.name for one in (proof.PROOF, cloud_defects.PROOF)
                 for case in one.cases(argparse.Namespace(
                     rounds=0, only_rounds=False, patience=1.0))]
        self.assertEqual(sorted(d.name for d in tables.defects()),
                         sorted(cases))

    def test_only_rounds(self):
        self.assertEqual(4, len(self.names(rounds=2, only_rounds=True)))

    def test_numbers_that_are_too_small(self):
        self.assertRaises(errors.UsageError, self.names, rounds=-1)
        self.assertRaises(errors.UsageError, self.names, patience=0.5)
