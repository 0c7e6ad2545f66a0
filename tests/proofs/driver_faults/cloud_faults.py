# SPDX-License-Identifier: Apache-2.0

"""Keystone or Glance is down while the conductor works.

Nothing is accepted without Keystone, so every operation is accepted first and
stopped before it has its lock. Then the service is stopped, the operations
continue, and the service comes back.
"""

from tests.proofs.driver_faults import bench as bench_module
from tests.proofs.driver_faults import steps

#: Seconds.
DOWN = 25


def run(service, box):
    """Rows of a service during each operation.

    :param service: name of its program.
    """
    with bench_module.Bench(box) as bench:
        _polled, created, resized, upgraded, deleted = bench.operations(
            f'{service.capitalize()} down, for {DOWN} s')
        with bench.held(
                (created, created.create, steps.LOCK),
                (resized, lambda: resized.resize(2), steps.LOCK),
                (upgraded, upgraded.upgrade, steps.LOCK),
                (deleted, deleted.delete, steps.LOCK)) as holds:
            box.stop(service)
            for hold in holds:
                hold.release()
            bench.settle(bench.cases, DOWN)
        box.up()
        yield from bench.finish()
