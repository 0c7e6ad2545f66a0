# SPDX-License-Identifier: Apache-2.0
"""What it costs to start and to end a sandbox.

    python -m tests.benchmarks.start --runs 5 [--profile full] [--cold]

Starts and ends a sandbox of its own (in a temporary folder, beside any other)
and prints for each run the wall time of ``up`` and ``down``, the CPU seconds
of the sandbox's programs and of this process with its helpers, and the memory
when ready; then the phases of the last run and the memory of each program.
The first run fills the caches and is not counted. ``--cold`` throws the
snapshot of seeded data away before each run.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import snapshot
from magnum_capi_sandbox import profiles


class Phases(progress.Silent):
    """Keeps the duration of each step, in seconds."""

    def __init__(self):
        super().__init__()
        self.seconds = {}

    @contextlib.contextmanager
    def step(self, what):
        begin = time.monotonic()
        yield lambda text: None
        self.seconds[what] = time.monotonic() - begin


def own_cpu():
    """CPU seconds of this process and of its helpers that have ended."""
    return sum(os.times()[:4])


def measure(directory, profile, cold):
    """One start and end; returns (up, down, servers, own, status, phases)."""
    box, phases = sandbox.Box(directory), Phases()
    if cold:
        shutil.rmtree(snapshot.path(profiles.get(profile)),
                      ignore_errors=True)
    cpu, begin = own_cpu(), time.monotonic()
    box.up(sandbox.Spec(profile=profile), phases)
    up = time.monotonic() - begin
    try:
        status = box.status()
        own = own_cpu() - cpu
    finally:
        begin = time.monotonic()
        box.down(progress.Silent())
        down = time.monotonic() - begin
    return up, down, sum(s.cpu for s in status), own, status, phases.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--profile', default=profiles.DEFAULT)
    parser.add_argument('--cold', action='store_true')
    args = parser.parse_args()
    print(f'{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}')
    print('run   up/s  down/s  servers CPU s  own CPU s  Memory MiB')
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.runs + 1):
            up, down, servers, own, status, phases = measure(
                pathlib.Path(folder) / 'box', args.profile, args.cold)
            row = (up, down, servers, own,
                   sum(s.memory for s in status) / 2**20)
            print('{:3} {:6.1f} {:7.1f} {:14.1f} {:10.1f} {:8.0f}'.format(
                number or 'w', *row), flush=True)
            if number:
                rows.append(row)
    print('med {:6.1f} {:7.1f} {:14.1f} {:10.1f} {:8.0f}'.format(
        *map(statistics.median, zip(*rows))))
    print('\nphases of the last run (those of the management cluster and of '
          'the cloud run side by side):')
    for what, seconds in phases.items():
        print(f'  {seconds:6.1f} s  {what}')
    print('\nprograms when ready:')
    for s in sorted(status, key=lambda s: -s.memory):
        print(f'  {s.memory / 2**20:6.0f} MiB {s.cpu:6.1f} CPU s  {s.name}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
