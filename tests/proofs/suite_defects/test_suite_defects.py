# SPDX-License-Identifier: Apache-2.0

"""One sandbox: the test of each defect, then rounds without a defect."""

import fcntl

import fixtures
import testscenarios

from magnum_capi import errors
from tests import proofs
from tests.proofs import case
from tests.proofs.suite_defects import box as box_module
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts
from tests.proofs import tables as proof_tables

load_tests = testscenarios.load_tests_apply_scenarios


def defects(kind):
    """A scenario for each defect.

    :param kind: class of a sandbox.
    """
    return [(defect.name, {'defect': defect})
            for defect in tables.of(kind.infrastructure)]


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


class Turn(fixtures.Fixture):
    """Wait for a lock among the processes of a run.

    :param how: fcntl.LOCK_EX, or LOCK_SH, which several may have at once.
    """

    def __init__(self, how):
        self._how = how

    def _setUp(self):
        file = open(proofs.folder() / 'turn.lock', 'w')
        self.addCleanup(file.close)
        fcntl.flock(file, self._how)


class DefectTest(case.ProofTest):
    """The test of a defect fails, because of it."""

    kind = box_module.Box
    columns = ('Defect', 'What the driver does', 'Test', 'It fails with',
               'Seconds')
    scenarios = defects(kind)

    def open(self):
        self.useFixture(Turn(fcntl.LOCK_SH))
        super().open()

    def test_it_is_seen(self):
        seconds = 0
        try:
            run = self.box.try_defect(self.defect)
        except errors.CommandFailed as e:
            seen, text = False, proof_tables.plain(str(e))
        else:
            seen, text = verdicts.judge(self.defect, run)
            seconds = run.seconds
        self.judge(seen, (
            self.defect.name, self.defect.does, self.defect.test,
            text if seen else f'MISSED: {text}', f'{seconds:.0f}'))


class HealthyTest(case.ProofTest):
    """Without a defect the same tests pass; runs alone, after all defects."""

    kind = box_module.Box
    scenarios = rounds()

    def open(self):
        self.useFixture(Turn(fcntl.LOCK_EX))
        super().open()

    def test_it_passes(self):
        kept = self.box.kept_by(self.driver)
        wanted = tables.tests(kept)
        found = verdicts.false_alarms(wanted, self.box.try_healthy(
            self.driver, kept, self.turn))
        self.judge(not found, text='\n  '.join((
            f'{len(wanted)} tests, {len(found)} false alarms', *found)))
