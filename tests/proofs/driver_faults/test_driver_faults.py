# SPDX-License-Identifier: Apache-2.0

"""Faults for the driver, one after the other in one sandbox."""

import functools

import testscenarios

from tests.proofs import case
from tests.proofs.driver_faults import api_faults
from tests.proofs.driver_faults import box as box_module
from tests.proofs.driver_faults import cloud_faults
from tests.proofs.driver_faults import helm_faults
from tests.proofs.driver_faults import kills
from tests.proofs.driver_faults import races
from tests.proofs.driver_faults import steps
from tests.proofs.driver_faults import table

load_tests = testscenarios.load_tests_apply_scenarios

#: By name: functions of a box.Box, each yields table.Row.
FAULTS = {
    **{f'api-{name}': functools.partial(api_faults.run, fault)
       for name, fault in (
           ('down', api_faults.DOWN), ('slow', api_faults.SLOW),
           ('409', api_faults.CONFLICT), ('429', api_faults.TOO_MANY),
           ('500', api_faults.ERROR))},
    'helm-missing': helm_faults.missing,
    'helm-killed': helm_faults.killed,
    'helm-pending': helm_faults.pending,
    **{service: functools.partial(cloud_faults.run, service)
       for service in ('keystone', 'glance')},
    'races': races.run,
    **{f'{operation}-kills': functools.partial(kills.run, operation, its)
       for operation, its in (
           ('create', steps.CREATE), ('upgrade', steps.UPGRADE),
           ('delete', steps.DELETE))},
    'two-conductors': races.two_conductors,
}


class FaultTest(case.ProofTest):
    """Nothing is lost and nothing leaks by a fault."""

    kind = box_module.Box
    columns = table.COLUMNS
    scenarios = [(name, {'name': name, 'function': function})
                 for name, function in FAULTS.items()]

    def test_it_is_survived(self):
        for row in self.function(self.box):
            self.judge(row.kept, row.cells())
