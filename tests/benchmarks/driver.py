# SPDX-License-Identifier: Apache-2.0
"""Our driver side by side with magnum-capi-helm, on one management cluster.

    python -m tests.benchmarks.driver [--clusters 1,10,50] [--json FILE]

Starts a sandbox of its own with both drivers, grows it to 1, 10 and 50
clusters of each, and measures at each size:

* create and resize: seconds from the request to COMPLETE in Magnum's REST
  API, and from the real end, by the objects themselves, to COMPLETE; and how
  often COMPLETE was said before it was true. Requests of the two drivers
  alternate. Of a single cluster also the CPU time of Magnum and of helm.
* status polls of clusters that are held in progress: API requests, CPU and
  wall time of a poll, in turns; then the first poll of an operation, and the
  one that ends it.

The exit code is 1 when our driver said COMPLETE before it was true and 2
when the measurement is broken; a goal that is missed is a figure.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import signal
import sys
import tempfile
import time

from magnum_capi import errors
from magnum_capi import progress as progress_module
import magnum_capi_sandbox as sandbox
from tests.benchmarks.sidebyside import figures
from tests.benchmarks.sidebyside import lives
from tests.benchmarks.sidebyside import polling
from tests.benchmarks.sidebyside import truth
from tests.benchmarks.sidebyside import watching

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIVERS = (figures.OURS, figures.OTHER)

#: Health polls would count as status polls.
OPTIONS = ('quotas.max_clusters_per_project=1000',
           'kubernetes.health_polling_interval=-1')

#: Clusters for which a resize is measured, at most.
RESIZED = 10

#: Fewer clusters than so many are polled more often, for the mean.
FEW = 10

#: Seconds for which Magnum is left alone, to see what it takes idle.
IDLE = 10


class Bench:
    """A sandbox with clusters of each driver.

    :param box: sandbox.Box, up.
    :param args: of the command line.
    """

    def __init__(self, box, args, progress):
        self._box = box
        self._args = args
        self._progress = progress
        history = truth.History(lives.wanted(lives.Magnum.version(box)))
        self._management = watching.Management(
            box.layout().kubeconfig, history)
        self._management.start()
        self._magnum = lives.Magnum(box, self._management, args.driver)

    def size(self, clusters):
        """Grow to so many clusters of each driver and measure.

        :returns: dict with ``clusters`` and ``drivers``, by name.
        """
        found = {name: {} for name in self._args.driver}
        self._grow(clusters, found)
        with self._progress.step(f'{clusters}: polls'):
            self._box.supervisor.stop('magnum')
            polled = polling.Polling(
                self._box, self._management, self._magnum, self._progress
            ).measure(self._args.polls * max(1, FEW // clusters))
            for name, costs in polled.items():
                found[name] |= costs
            self._box.set(OPTIONS, True, progress_module.Silent())
        return {'clusters': clusters, 'drivers': found}

    def _grow(self, clusters, found):
        magnum, drivers = self._magnum, self._args.driver
        missing = clusters - len(magnum.clusters[drivers[0]])
        # One cluster at a time can be told from the others by CPU time.
        single = missing == 1
        idle = self._usage(IDLE) if single else None
        with self._progress.step(f'{clusters}: create'):
            made = []
            if single:
                for name in drivers:
                    begin = self._usage()
                    made += magnum.carry_out(
                        [lambda n=name: magnum.create(n)], 0)
                    found[name]['cpu'] = _cpu(begin, self._usage(), idle)
            else:
                made = magnum.carry_out(
                    [lambda n=name: magnum.create(n)
                     for _ in range(missing) for name in drivers],
                    self._args.stagger)
        self._note('create', made, found)
        if clusters > RESIZED:
            return
        new = {name: magnum.clusters[name][-missing:] for name in drivers}
        # The other way round, so that nobody is always first.
        orders = [lambda n=name, i=number: magnum.resize(n, new[n][i])
                  for number in range(missing) for name in reversed(drivers)]
        with self._progress.step(f'{clusters}: resize'):
            self._note('resize', magnum.carry_out(
                orders, self._args.stagger), found)

    def _note(self, kind, made, found):
        for name in self._args.driver:
            found[name][kind] = figures.lives(
                [life for life in made if life.driver == name])
            cpu = found[name].pop('cpu', None)
            if cpu:
                found[name][kind]['cpu'] = cpu

    def _usage(self, seconds=0):
        """CPU seconds of Magnum and of the programs that it has run.

        :param seconds: return what it took in so many seconds instead.
        """
        import psutil
        if seconds:
            begin = self._usage()
            polling.idle(seconds)
            return [(now - then) / seconds
                    for now, then in zip(self._usage()[:2], begin)]
        pid = next(s.pid for s in self._box.status() if s.name == 'magnum')
        times = psutil.Process(pid).cpu_times()
        return (times.user + times.system,
                times.children_user + times.children_system,
                time.monotonic())


def _cpu(begin, end, idle):
    seconds = end[2] - begin[2]
    magnum, helm = (now - then - rate * seconds for now, then, rate
                    in zip(end[:2], begin, idle))
    return {'magnum': magnum, 'helm': helm, 'seconds': seconds}


def host():
    """Facts about this machine."""
    return {'processors': os.cpu_count(), 'load': os.getloadavg()[0],
            'python': platform.python_version(),
            'machine': platform.machine()}


def measure(args, found, progress):
    """Add the results of each size to a list."""
    with contextlib.ExitStack() as stack:
        directory = args.directory or pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='magnum-capi-'))) / 'box'
        box = sandbox.Box(directory)
        if not args.keep:
            stack.callback(box.down, progress)
        box.up(sandbox.Spec(port_base=args.port_base, install=(
            str(ROOT / 'drivers' / figures.OURS),)), progress)
        box.set(OPTIONS, True, progress)
        bench = Bench(box, args, progress)
        for clusters in args.clusters:
            found.append(bench.size(clusters))
            print('\n'.join(figures.table(found[-1:])), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n')[0])
    parser.add_argument(
        '--clusters', default='1,10,50', help='growing numbers, by commas',
        type=lambda text: [int(part) for part in text.split(',')])
    parser.add_argument('--driver', action='append', choices=DRIVERS,
                        help='only this one; both by default')
    parser.add_argument('--polls', type=int, default=30,
                        help='of each held cluster; 30 are five minutes')
    parser.add_argument('--stagger', type=float, default=5.0,
                        help='seconds between two requests; with less, a '
                        'hundred clusters overload two processors')
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE')
    parser.add_argument('--directory', type=pathlib.Path,
                        help='of the sandbox; a temporary one by default')
    parser.add_argument('--port-base', type=int)
    parser.add_argument('--keep', action='store_true',
                        help='leave the sandbox up')
    args = parser.parse_args()
    if args.clusters != sorted({*args.clusters}) or args.clusters[0] < 1:
        parser.error('--clusters: the numbers have to grow')
    args.driver = args.driver or list(DRIVERS)
    facts, found = host(), []
    print('{processors} processors, load {load:.1f}'.format(**facts))
    broken = None
    # What stops it also takes the sandbox down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        measure(args, found, progress_module.Progress())
    except KeyboardInterrupt:
        return 130
    except errors.MagnumCapiError as e:
        broken = str(e)
        print(f'broken: {broken}', file=sys.stderr)
    lines, premature = figures.verdict(found)
    print('\n' + '\n'.join(lines))
    if args.json:
        args.json.write_text(json.dumps(
            {'host': facts, 'sizes': found, 'polls': args.polls,
             'stagger': args.stagger, 'broken': broken}, indent=2) + '\n')
    return 2 if broken else 1 if premature else 0


if __name__ == '__main__':
    sys.exit(main())
