# SPDX-License-Identifier: Apache-2.0

"""One sandbox: the test of each defect, then rounds without a defect."""

import testscenarios

from magnum_capi import errors
from magnum_capi_sandbox import infrastructure as infrastructures
from tests import proofs
from tests.proofs import boxes
from tests.proofs import case
from tests.proofs.suite_defects import box as box_module
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts
from tests.proofs import tables as proof_tables

load_tests = testscenarios.load_tests_apply_scenarios


def defects(infrastructure):
    """A scenario for each defect."""
    return [(defect.name, {'defect': defect})
            for defect in tables.of(infrastructure)]


def rounds():
    """A scenario for each driver without a defect, and round.

    :raises ValueError: there are none.
    """
    number = int(proofs.setting('ROUNDS', '3'))
    if number < 1:
        raise ValueError(f'{proofs.PREFIX}ROUNDS is 1 or more')
    return [(f'{driver}-{turn}', {'driver': driver, 'turn': turn})
            for turn in range(1, number + 1)
            for driver in box_module.HEALTHY]


class DefectTest(case.ProofTest):
    """The test of a defect fails, because of it."""

    infrastructure = infrastructures.MEMORY
    port_base = 27000
    columns = verdicts.COLUMNS
    scenarios = defects(infrastructure)

    def open(self):
        self.useFixture(boxes.Turn('defects', alone=False))
        return boxes.shared(
            box_module.Box, self.port_base, self.infrastructure)

    def test_it_is_seen(self):
        problem = ''
        try:
            self.box.try_defect(self.defect)
        except errors.CommandFailed as e:
            problem = proof_tables.plain(str(e))
        trial = verdicts.Trial(self.defect, False, problem)
        if not problem:
            trial = verdicts.judge(self.defect, box_module.read(
                box_module.stream(self.results, self.defect),
                self.defect.name))
        self.judge(trial.seen, trial.as_text(), trial.cells())


class HealthyTest(case.ProofTest):
    """Without a defect the same tests pass; runs alone, after all defects."""

    infrastructure = infrastructures.MEMORY
    port_base = 27000
    scenarios = rounds()

    def open(self):
        self.useFixture(boxes.Turn('defects'))
        return boxes.shared(
            box_module.Box, self.port_base, self.infrastructure)

    def test_it_passes(self):
        kept = box_module.kept_by(
            self.box.not_promised(self.driver), self.box.defects)
        path = self.box.try_healthy(self.driver, kept, self.turn)
        wanted = tables.tests(kept)
        found = verdicts.false_alarms(wanted, box_module.read(
            path, f'{self.driver}-{self.turn}'))
        self.judge(not found, '\n  '.join((
            f'{self.driver}-{self.turn}: {len(wanted)} tests, '
            f'{len(found)} false alarms', *found)))
