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

"""What it costs to read the results of a run: ours, and Sonobuoy's.

    python benchmarks/conformance.py [--rounds 5] [--megabytes 350]

Runs whole programs, in turns, so that a noisy machine is as noisy for each:

* ``magnum-capi conformance results``, the first read, fully checked;
* the same with a sidecar, as it is when the archive was verified when it was
  retrieved, and with --no-verify, which stops behind the e2e tests;
* ``sonobuoy results -p e2e``, which prints what ours does;
* ``sonobuoy results``, which prints the other plugins and the health of the
  cluster, too, and reads the archive once for each.

on the real archives of the tests and on a generated one. CPU time of user and
system, wall time, the most memory; medians. Then, within this process, what
the library alone takes with each inflater, what of that is inflating and
hashing, which no reader can leave out, and a comparison of two runs from
their sidecars.
"""

import argparse
import functools
import hashlib
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
import zlib

import conformance_archives

from magnum_capi_tempest.conformance.record import inflate
from magnum_capi_tempest.conformance.record import reading
from magnum_capi_tempest.conformance.record import sidecar
from magnum_capi_tempest.conformance.showing import compare
from magnum_capi_tempest import processes
from magnum_capi_tempest import progress
from magnum_capi_tempest import toolchain

TOP = pathlib.Path(__file__).resolve().parent.parent
DATA = TOP / 'tests' / 'data' / 'sonobuoy'
REAL = ('quick-e2e-v1.34.9', 'conformance-parallel-v1.34.9')
MB = 1 << 20
#: What the issue asks for, on the generated archive.
GOAL_PLAIN, GOAL_E2E, GOAL_RSS, GOAL_COMPARE = 10, 2, 60 * MB, 1.0
OURS, KEPT, QUICK, E2E, PLAIN = (
    'results, first read', 'results, verified (sidecar)',
    'results --no-verify', 'sonobuoy results -p e2e', 'sonobuoy results')


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


def commands(path, kept, sonobuoy):
    """Command lines by name, for an archive and a copy with a sidecar."""
    ours = [pathlib.Path(sys.executable).with_name('magnum-capi'),
            'conformance', 'results']
    return {OURS: [*ours, path], KEPT: [*ours, kept],
            QUICK: [*ours, '--no-verify', path],
            E2E: [sonobuoy, 'results', '-p', 'e2e', path],
            PLAIN: [sonobuoy, 'results', path]}


def programs(path, kept, sonobuoy, rounds):
    """Medians of CPU, wall and memory by name, measured in turns."""
    found = {}
    table = commands(path, kept, sonobuoy)
    for argv in table.values():     # Everything is in the page cache then.
        measure(argv)
    for _ in range(rounds):
        for name, argv in table.items():
            found.setdefault(name, []).append(measure(argv))
    return {name: tuple(statistics.median(column) for column in zip(*rows))
            for name, rows in found.items()}


def show(what, found):
    """Print a table; ratios are to our first read."""
    print(f'\n{what}')
    print(f'  {"":30}{"CPU/s":>8}{"wall/s":>8}{"MB":>6}{"CPU to":>9}'
          f'{"wall to":>9}')
    base = found[OURS]
    for name, (cpu, wall, rss) in found.items():
        print(f'  {name:30}{cpu:8.2f}{wall:8.2f}{rss / MB:6.0f}'
              f'{cpu / base[0]:9.2f}{wall / base[1]:9.2f}', flush=True)


def libraries(path, rounds):
    """What reading alone takes, with each inflater; its least, at last."""
    print(f'\nReading alone{"CPU/s":>25}{"wall/s":>8}   (best of each)')
    for engine in (zlib, inflate.fast):
        if engine is None:
            print('  isal is not installed')
            continue
        for verified in (False, True):
            how = '--no-verify' if verified else 'fully checked'
            best(f'{engine.__name__:16}{how}', rounds, functools.partial(
                reading.read, path, engine=engine, verified=verified))
        best(f'{engine.__name__:16}inflating', rounds,
             functools.partial(inflating, path, engine))
    best('SHA-256', rounds, functools.partial(hashing, path))


def best(what, rounds, call):
    """Print the least CPU time and the least wall time of a call."""
    cpu, wall = [], []
    for _ in range(rounds):
        begin = time.process_time(), time.perf_counter()
        call()
        cpu.append(time.process_time() - begin[0])
        wall.append(time.perf_counter() - begin[1])
    print(f'  {what:30}{min(cpu):8.2f}{min(wall):8.2f}', flush=True)


def inflating(path, engine):
    """Inflate, as :class:`inflate.Gzip` does, and do nothing else."""
    machine = inflate.machine(engine)
    with open(path, 'rb', buffering=0) as stream:
        while not machine.eof:
            data = stream.read(inflate.INPUT) if machine.needs_input else b''
            machine.decompress(data, inflate.PIECE)


def hashing(path):
    """Compute the digest, and do nothing else."""
    with open(path, 'rb', buffering=0) as stream:
        hashlib.file_digest(stream, 'sha256')


def comparison(first, second):
    """Seconds to load two runs from their sidecars and compare them."""
    begin, cpu = time.perf_counter(), time.process_time()
    runs = [reading.find(path) for path in (first, second)]
    loaded = time.perf_counter() - begin
    found = compare.difference(*runs)
    took = time.perf_counter() - begin
    cpu = time.process_time() - cpu
    print(f'\nCompare of two runs, {len(runs[0].specs)} specs each: '
          f'{took:.3f} s, {loaded:.3f} s of it to load them, '
          f'{cpu:.3f} s CPU; '
          f'{len(found.new_failures)} new failures')
    return took


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
            path, kept = copies(DATA / f'{name}.tar.gz', folder)
            show(f'{name}, {path.stat().st_size / MB:.1f} MB',
                 programs(path, kept, sonobuoy, args.rounds))
        first, second = folder / 'first.tar.gz', folder / 'second.tar.gz'
        generate(first, args.megabytes, seed=1, failed=2)
        generate(second, args.megabytes, seed=2, failed=5)
        path, kept = copies(first, folder)
        keep(second)
        found = programs(path, kept, sonobuoy, args.rounds)
        show(f'generated, {args.megabytes} MB, '
             f'{path.stat().st_size / MB:.1f} MB packed', found)
        libraries(path, args.rounds)
        took = comparison(kept, second)
    print('\nGoals on the generated archive:')
    for what, value, good in (
            ('first read to plain results, CPU',
             found[PLAIN][0] / found[OURS][0], GOAL_PLAIN),
            ('first read to plain results, wall',
             found[PLAIN][1] / found[OURS][1], GOAL_PLAIN),
            ('verified to -p e2e, CPU', found[E2E][0] / found[KEPT][0],
             GOAL_E2E),
            ('verified to -p e2e, wall', found[E2E][1] / found[KEPT][1],
             GOAL_E2E)):
        print(f'  {what:36}{value:7.1f} times, goal {good}: '
              f'{"met" if value >= good else "NOT met"}')
    rss = max(found[name][2] for name in (OURS, KEPT, QUICK))
    print(f'  {"memory":36}{rss / MB:7.0f} MB, goal {GOAL_RSS // MB}: '
          f'{"met" if rss <= GOAL_RSS else "NOT met"}')
    print(f'  {"compare":36}{took:7.3f} s, goal {GOAL_COMPARE}: '
          f'{"met" if took <= GOAL_COMPARE else "NOT met"}')


def generate(path, megabytes, **kwargs):
    """Write an archive, in a process of its own for the memory's sake."""
    processes.run(
        [sys.executable, conformance_archives.__file__, path,
         '--megabytes', str(megabytes),
         *(f'--{key}={value}' for key, value in kwargs.items())],
        timeout=600)


def copies(path, folder):
    """The archive in a folder, and a copy that has a sidecar."""
    ours = folder / f'a-{path.name}'
    kept = folder / f'b-{path.name}'
    shutil.copy(path, ours)
    shutil.copy(path, kept)
    keep(kept)
    return ours, kept


def keep(path):
    """What happens when an archive is retrieved."""
    sidecar.write(reading.read(path), path)


if __name__ == '__main__':
    main()
