# SPDX-License-Identifier: Apache-2.0

"""The conductor is killed at every step of create, upgrade and delete.

Several clusters are each stopped at a step, then one SIGKILL affects all of
them. Helm does not die with its conductor: it continues, or is killed as well
(like by a service manager that ends the whole control group).
"""

from magnum_capi import errors
from tests.proofs.driver_faults import bench as bench_module
from tests.proofs.driver_faults import box as box_module

#: Maximum number of clusters per kill. All steps must be reached within the
#: 30 s for which a request may be held: read_timeout, and the sandbox's
#: helm_timeout.
TOGETHER = 7

_DIES, _GOES_ON = 'conductor and helm killed -9', 'conductor killed -9'


def run(operation, all_steps, box):
    """Rows for each step of an operation.

    :param operation: "create", "upgrade" or "delete".
    :param all_steps: of steps.Step.
    """
    for kills in batches(all_steps):
        yield from _together(box, operation, kills)


def batches(all_steps):
    """Group the kills that share one SIGKILL of the conductor.

    :param all_steps: of steps.Step.
    :returns: lists of pairs: a step, and whether helm is killed as well.
    """
    kills = [(step, dies) for step in all_steps for dies in (False, True)
             if step.helm or not dies]
    # Much later steps would keep the others waiting for too long.
    return [alike[first:first + TOGETHER]
            for alike in ([kill for kill in kills if kill[0].late is late]
                          for late in (False, True))
            for first in range(0, len(alike), TOGETHER)]


def _together(box, operation, kills):
    with bench_module.Bench(box) as bench:
        cases = [bench.case(_DIES if dies else _GOES_ON,
                            f'{operation}: {step.text}')
                 for step, dies in kills]
        if operation != 'create':
            bench.ready(cases)
        with bench.held(*((case, getattr(case, operation), step)
                          for case, (step, _) in zip(cases, kills))) as holds:
            _check_helms(box, cases, kills)
            box.kill(box_module.CONDUCTOR)
            for case, hold, (step, dies) in zip(cases, holds, kills):
                if dies:
                    box.kill_helms(case.release)
                hold.release(step.helm and not dies)
        box.up()
        yield from bench.finish()


def _check_helms(box, cases, kills):
    """Check that the held helms still run: helm_timeout limits each."""
    ended = [case.when for case, (step, _) in zip(cases, kills)
             if step.helm and not box.helms(case.release)]
    if ended:
        raise errors.MagnumCapiError(
            'helm had ended before it was to be killed', last_seen=ended)
