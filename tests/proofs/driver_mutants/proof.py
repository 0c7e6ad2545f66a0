# SPDX-License-Identifier: Apache-2.0

"""Injects each defect into a copy of the driver; its tests must fail."""

import contextlib
import dataclasses

from magnum_capi import errors
from tests.proofs.driver_mutants import runner
from tests.proofs.driver_mutants import tables
from tests.proofs import proof

FOLDER = 'magnum-capi/magnum_capi'


class DriverMutants(proof.Proof):
    name = 'driver-mutants'
    summary = ('Bring known bugs into copies of the driver, and check that '
               'its tests see them.')
    words = 'seen', 'MISSED'
    jobs = 2

    def cases(self, args):
        """A case for each defect; those of a bug are a group, such as H1."""
        return [proof.Case(defect.name, group=defect.bug, data=defect)
                for defect in tables.defects()]

    @contextlib.contextmanager
    def open(self, work):
        """Check that all tests pass without a defect."""
        work.mark.mkdir()
        wanted = tuple(dict.fromkeys(
            test for case in work.cases for test in case.data.tests))
        with work.progress.step(f'{len(wanted)} tests without a defect'):
            sound = runner.control(proof.TOP, wanted, scratch=work.mark)
        if not sound.as_wanted:
            raise errors.MagnumCapiError(
                'Tests do not pass without a defect', last_seen=sound,
                hint='Make them pass first')
        yield work

    def run(self, world, case):
        yield dataclasses.asdict(runner.trial(
            proof.TOP, FOLDER, case.data, scratch=world.mark))

    def judge(self, case, seen, results):
        trial = runner.Trial(**seen)
        more = f' ({trial})' if str(trial) else ''
        return proof.Row(trial.as_wanted,
                         f'{trial.seconds:4.1f} s  {trial.name}{more}')


PROOF = DriverMutants()
