# SPDX-License-Identifier: Apache-2.0

import testtools

from tests.proofs.driver_faults import kills
from tests.proofs.driver_faults import steps


class BatchesTest(testtools.TestCase):

    def test_every_step_has_its_kill(self):
        for all_steps in (steps.CREATE, steps.UPGRADE, steps.DELETE):
            made = [kill for batch in kills.batches(all_steps)
                    for kill in batch]
            self.assertEqual(set(all_steps), {step for step, _ in made})
            self.assertEqual(len(made), len(set(made)))

    def test_where_helm_works_it_goes_on_once_and_dies_once(self):
        found = {(step.helm, dies) for batch in kills.batches(steps.DELETE)
                 for step, dies in batch}
        self.assertEqual({(True, True), (True, False), (False, False)}, found)

    def test_what_comes_late_does_not_keep_others_waiting(self):
        for batch in kills.batches(steps.DELETE):
            self.assertEqual(1, len({step.late for step, _ in batch}), batch)

    def test_no_more_than_can_be_stopped_in_time(self):
        for batch in kills.batches(steps.CREATE):
            self.assertLessEqual(len(batch), kills.TOGETHER)
