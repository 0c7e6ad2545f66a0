# SPDX-License-Identifier: Apache-2.0

"""Races: simultaneous requests for one cluster, and two conductors."""

import threading

from tests.proofs.driver_faults import bench as bench_module
from tests.proofs.driver_faults import steps

#: Seconds between requests in quick succession, and between two that Magnum
#: itself may swap: its conductor runs each in a thread of its own, and the
#: thread that is faster writes the node group first
#: (magnum/conductor/handlers/cluster_conductor.py, cluster_resize).
QUICK, TOO_QUICK = 0.1, 0.002

#: Seconds until an upgrade is under way, which Magnum answers late.
AFTER = 0.5

_HELM_NOTED, = [s for s in steps.CREATE
                if s.text == 'helm has noted its revision']


def run(box):
    """Rows for simultaneous requests."""
    with bench_module.Bench(box) as bench:
        behind = bench.case('delete right behind create', 'no pause')
        during = bench.case('delete during create',
                            f'create: {_HELM_NOTED.text}')
        last = bench.case('three resizes', f'{QUICK:g} s apart')
        swapped = bench.case('two resizes', f'{TOO_QUICK * 1000:g} ms apart')
        gone = bench.case('delete right behind resize', 'no pause')
        both = bench.case('resize behind upgrade', f'{AFTER:g} s after it')
        bench.ready([last, swapped, gone, both])
        behind.create()
        behind.delete()
        with bench.held((during, during.create, _HELM_NOTED)) as (hold,):
            during.delete()
            _pause(1)
            hold.release()
            for workers in (3, 1, 2):
                last.resize(workers)
                _pause(QUICK)
            gone.resize(2)
            gone.delete()
            both.upgrade()
            _pause(AFTER)
            both.resize_beside(2)
            swapped.resize_twice(2, 3, TOO_QUICK)
        yield from bench.finish()


def two_conductors(box):
    """Two conductors on one queue, and the end of one of them."""
    box.another_conductor()
    try:
        yield from _at_once(box)
        yield from _one_ends(box)
    finally:
        box.stop_second_conductor()
        box.up()


def _at_once(box):
    name = 'two conductors'
    with bench_module.Bench(box) as bench:
        new = [bench.case(name, f'create, {number} of 2')
               for number in (1, 2)]
        resized = bench.case(name, f'three resizes, {QUICK:g} s apart')
        upgraded = bench.case(name, 'upgrade')
        deleted = bench.case(name, 'delete right behind resize')
        bench.ready([resized, upgraded, deleted])
        for case in new:
            case.create()
        upgraded.upgrade()
        for workers in (3, 1, 2):
            resized.resize(workers)
            _pause(QUICK)
        deleted.resize(2)
        deleted.delete()
        yield from bench.finish()


def _one_ends(box):
    """The conductor that works on a cluster is killed; it stays away."""
    name = 'two conductors, the one at work killed -9'
    with bench_module.Bench(box) as bench:
        case = bench.case(name, f'create: {_HELM_NOTED.text}')
        with bench.held((case, case.create, _HELM_NOTED)) as (hold,):
            box.kill(box.conductor_of(case.release))
            box.kill_helms(case.release)
            hold.release(False)
        yield from bench.finish()


def _pause(seconds):
    threading.Event().wait(seconds)
