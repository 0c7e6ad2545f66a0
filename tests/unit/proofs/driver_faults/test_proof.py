# SPDX-License-Identifier: Apache-2.0

import json

import testtools

from tests.proofs.driver_faults import proof
from tests.proofs.driver_faults import table
from tests.proofs import proof as proof_module

KEPT = table.Row('api-down', 'down', 'create', ('CREATE_COMPLETE',),
                 end=table.REACHED, seconds=12.3)
LEAKS = table.Row('api-down', 'down', 'delete', end=table.REACHED,
                  left=('a Lease',))


class ProofTest(testtools.TestCase):

    def test_rows_are_judged_as_they_are_kept(self):
        case = proof_module.Case('api-down', data=lambda box, part: iter(
            (KEPT, LEAKS)))
        seen = json.loads(json.dumps(list(proof.PROOF.run(None, case))))

        rows = [proof.PROOF.judge(case, one, None) for one in seen]

        self.assertEqual([True, False], [row.good for row in rows])
        self.assertEqual([KEPT.cells(), LEAKS.cells()],
                         [row.cells for row in rows])

    def test_faults_that_need_a_conductor_are_there(self):
        self.assertLessEqual({*proof.FULL}, {*proof.FAULTS})
