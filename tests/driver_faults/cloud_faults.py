# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Keystone or Glance is down while the conductor works.

Every operation is accepted first and stopped before it has its lock, because
nothing is accepted without Keystone. Then the service ends, the operations go
on, and the service comes back.
"""

from tests.driver_faults import bench as bench_module
from tests.driver_faults import steps

#: Seconds.
DOWN = 25


def run(service, box, part):
    """Rows of a service during each operation.

    :param service: name of its program.
    """
    with bench_module.Bench(box, part) as bench:
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
