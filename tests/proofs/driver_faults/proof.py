# SPDX-License-Identifier: Apache-2.0

"""Faults for the driver, one after the other in one sandbox."""

import dataclasses
import functools

from tests.proofs.driver_faults import api_faults
from tests.proofs.driver_faults import box as box_module
from tests.proofs.driver_faults import cloud_faults
from tests.proofs.driver_faults import helm_faults
from tests.proofs.driver_faults import kills
from tests.proofs.driver_faults import races
from tests.proofs.driver_faults import table
from tests.proofs import proof

#: Functions of a box.Box and the name of their case; each yields table.Row.
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
    'create-kills': kills.create,
    'upgrade-kills': kills.upgrade,
    'delete-kills': kills.delete,
    'two-conductors': races.two_conductors,
}

#: They need a separate conductor, the profile "full".
FULL = ('create-kills', 'upgrade-kills', 'delete-kills', 'two-conductors')


class DriverFaults(proof.Proof):
    name = 'driver-faults'
    summary = ('Put the driver k8s_capi_v1 through faults, and show that '
               'nothing is lost and nothing leaks.')
    columns = table.COLUMNS
    key = columns[:2]
    compared = ('How it ended', 'Left', 'Verdict')
    docs = proof.DOCS / 'driver-faults.csv'
    docs_cases = proof.DOCS / 'driver-faults-parts.csv'
    port_base = 31000

    def add_options(self, parser):
        parser.add_argument('--profile', choices=('full', 'embedded'),
                            default='full')

    def cases(self, args):
        return [proof.Case(
            name, data=function, needs='the profile full'
            if name in FULL and args.profile != 'full' else '')
            for name, function in FAULTS.items()]

    def open(self, work):
        return box_module.Box(work)

    def run(self, box, case):
        for row in case.data(box, case.name):
            yield dataclasses.asdict(row)

    def judge(self, case, seen, results):
        row = table.load(seen)
        return proof.Row(row.kept, row.as_text(), row.cells())


PROOF = DriverFaults()
