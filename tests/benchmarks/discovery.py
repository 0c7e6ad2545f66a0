# SPDX-License-Identifier: Apache-2.0
"""What it costs to decide which driver serves a cluster template.

    python -m tests.benchmarks.discovery [--drivers 2 20 200] [--calls 20000]

Registers so many drivers in a temporary distribution, for the Python of the
sandbox's cloud, which has an unmodified Magnum, and prints what one decision
costs there: ours, with all the checks, and Magnum's own with the same drivers,
in turns. Wall time of single calls, in microseconds; CPU time is the mean.

With ``--filter`` it also starts a sandbox with the filter and one without,
and prints what each takes to create a cluster template.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import environment
from tests.benchmarks import decisions
from tests.functional import cloud

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Templates before it counts.
WARM = 5


def decide(args):
    """The first part, for each number of drivers in a Python of its own."""
    python = environment.ensure(progress.Progress()) / 'bin' / 'python'
    print('drivers  path                                     '
          'min/us    p50/us    p99/us    CPU/us   to ours', flush=True)
    for drivers in args.drivers:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            decisions.distribution(folder / 'lib', drivers)
            # stevedore keeps a cache, which would stay behind elsewhere.
            subprocess.run(
                [python, decisions.__file__, folder, str(drivers),
                 str(args.calls)],
                check=True, env=os.environ | {
                    'PYTHONPATH': os.pathsep.join(map(str, (
                        folder / 'lib', ROOT / 'magnum-capi'))),
                    'PYTHONWARNINGS': 'ignore',
                    'XDG_CACHE_HOME': str(folder / 'cache')})


def template_create(args):
    """The second part: what the filter adds to creating a template.

    One sandbox has the filter, the other has not; requests go to them in
    turns, so that whatever else this machine does concerns both.
    """
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory()))
        bench = {}
        for name in ('without', 'with'):
            box = sandbox.Box(folder / name)
            box.up(sandbox.Spec(port_base=args.port_base,
                                discovery_filter=name == 'with'),
                   progress.Progress())
            stack.callback(box.down, progress.Silent())
            bench[name] = Templates(box)
        for one in bench.values():
            for _ in range(WARM):
                one.create()
            one.begin()
        for _ in range(args.templates):
            for one in bench.values():
                one.create()
        print('\ntemplate create     min/ms    p50/ms    p99/ms  CPU/ms of '
              "Magnum's API and conductor")
        for name, one in bench.items():
            line(f'{name} the filter', one.times, one.cpu())
        line('difference, pairs', [
            one - other for one, other in zip(bench['with'].times,
                                              bench['without'].times)])


class Templates:
    """Creates and deletes templates in a sandbox, as its user."""

    def __init__(self, box):
        self._box = box
        self._user = cloud.Cloud(box)
        self._body = self._user.template_body()
        self.begin()

    def begin(self):
        """From now on it counts."""
        self.times = []
        self._cpu = self._used()

    def create(self):
        """One template, gone again; its creation is timed, in ms."""
        begin = time.perf_counter()
        found = self._user.ask('POST', 'clustertemplates', self._body)
        self.times.append((time.perf_counter() - begin) * 1e3)
        self._user.ask('DELETE', f'clustertemplates/{found["uuid"]}')

    def cpu(self):
        """CPU milliseconds of Magnum for a template and its end."""
        return (self._used() - self._cpu) * 1e3 / len(self.times)

    def _used(self):
        return sum(s.cpu for s in self._box.status()
                   if s.name.startswith('magnum'))


def p99(times):
    return statistics.quantiles(times, n=100)[98]


def line(name, times, cpu=None):
    print(f'{name:18}{min(times):9.2f} {statistics.median(times):9.2f} '
          f'{p99(times):9.2f}' + ('' if cpu is None else f' {cpu:7.1f}'))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n')[0],
        epilog='"to ours" compares with the slowest of ours, by p50.')
    parser.add_argument('--drivers', type=int, nargs='*',
                        default=[2, 20, decisions.GOAL_DRIVERS])
    parser.add_argument('--calls', type=int, default=20000)
    parser.add_argument('--filter', action='store_true')
    parser.add_argument('--templates', type=int, default=200)
    parser.add_argument('--port-base', type=int)
    args = parser.parse_args()
    print(f'{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}')
    if args.drivers:
        decide(args)
    if args.filter:
        template_create(args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
