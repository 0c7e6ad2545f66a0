# SPDX-License-Identifier: Apache-2.0

"""What it costs to read the results of a run: ours, and Sonobuoy's.

    python -m tests.benchmarks.conformance [--rounds 5] [--megabytes 350]

Runs whole programs, in turns, so that a noisy machine is as noisy for each:

* ``magnum-capi conformance report``;
* ``sonobuoy results -p e2e``, which prints what ours does;
* ``sonobuoy results``, which prints the other plugins and the health of the
  cluster, too, and reads the archive once for each.

on the real archives of the tests and on a generated one. CPU time of user and
system, wall time, the most memory; medians.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest import toolchain
from tests.benchmarks import conformance_archives

TOP = pathlib.Path(__file__).resolve().parents[2]
DATA = TOP / 'tests' / 'data' / 'sonobuoy'
REAL = ('quick-e2e-v1.34.9', 'conformance-parallel-v1.34.9')
MB = 1 << 20
OURS, E2E, PLAIN = ('report', 'sonobuoy results -p e2e', 'sonobuoy results')


#: A program that begins from a big one is charged with its memory; this one
#: is as small as Python gets.
RUNNER = '''
import os, sys, time
begin = time.monotonic()
out = os.open(os.devnull, os.O_WRONLY)
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
                     file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
_, status, used = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime,
      time.monotonic() - begin, used.ru_maxrss << 10)
'''


def measure(argv):
    """CPU seconds, wall seconds and bytes of memory of a program."""
    code, *figures = processes.run(
        [sys.executable, '-I', '-S', '-c', RUNNER, *argv],
        timeout=600).split()
    if code not in ('0', '1'):
        raise SystemExit(f'{argv[0]} failed with exit code {code}')
    return tuple(map(float, figures))


def commands(path, sonobuoy):
    """Command lines by name, for an archive."""
    ours = [pathlib.Path(sys.executable).with_name('magnum-capi'),
            'conformance', 'report']
    return {OURS: [*ours, path],
            E2E: [sonobuoy, 'results', '-p', 'e2e', path],
            PLAIN: [sonobuoy, 'results', path]}


def programs(path, sonobuoy, rounds):
    """Medians of CPU, wall and memory by name, measured in turns."""
    found = {}
    table = commands(path, sonobuoy)
    for argv in table.values():     # Everything is in the page cache then.
        measure(argv)
    for _ in range(rounds):
        for name, argv in table.items():
            found.setdefault(name, []).append(measure(argv))
    return {name: tuple(statistics.median(column) for column in zip(*rows))
            for name, rows in found.items()}


def show(what, found):
    """Print a table; ratios are to our reading."""
    print(f'\n{what}')
    print(f'  {"":30}{"CPU/s":>8}{"wall/s":>8}{"MB":>6}{"CPU to":>9}'
          f'{"wall to":>9}')
    base = found[OURS]
    for name, (cpu, wall, rss) in found.items():
        print(f'  {name:30}{cpu:8.2f}{wall:8.2f}{rss / MB:6.0f}'
              f'{cpu / base[0]:9.2f}{wall / base[1]:9.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n', 1)[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--megabytes', type=int, default=350)
    args = parser.parse_args()
    sonobuoy = toolchain.ensure(['sonobuoy'],
                                progress.Progress())['sonobuoy']
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; '
          f'Python {sys.version.split()[0]}')
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in REAL:
            path = DATA / f'{name}.tar.gz'
            show(f'{name}, {path.stat().st_size / MB:.1f} MB',
                 programs(path, sonobuoy, args.rounds))
        path = folder / 'generated.tar.gz'
        conformance_archives.write(path, args.megabytes * MB)
        show(f'generated, {args.megabytes} MB, '
             f'{path.stat().st_size / MB:.1f} MB packed',
             programs(path, sonobuoy, args.rounds))


if __name__ == '__main__':
    main()
