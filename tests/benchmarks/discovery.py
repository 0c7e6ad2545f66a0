# SPDX-License-Identifier: Apache-2.0
"""What it costs to decide which driver serves a cluster template.

    python tests/benchmarks/discovery.py [--drivers 2 20 200] [--calls 20000]

Registers so many drivers in a temporary distribution, for the Python of the
sandbox's cloud, which has an unmodified Magnum, and prints what one decision
costs there: ours, with all the checks, and Magnum's own with the same drivers,
in turns. Wall time of single calls, in microseconds; CPU time is the mean.

With ``--filter`` it also starts a sandbox with the filter and one without,
and prints what each takes to create a cluster template.
"""

import argparse
import contextlib
import json
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
from magnum_capi_sandbox import rest

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Microseconds a decision, with this many drivers.
GOAL, GOAL_DRIVERS = 20, 200
#: The operating system that the first two drivers have in common, and the one
#: that all have.
CLASH, COMMON = 'clash', 'common'
#: A name as long as the longest property of an image that anyone sends.
HOSTILE = 'n' * 4096
#: Templates before it counts.
WARM = 5

# One class with all that Magnum asks for, and one of its own for each driver.
MODULE = '''
from magnum.drivers.common import driver


def make(number):
    oses = [f'os{{number}}', '{common}'] + ['{clash}'] * (number < 2)
    stubs = dict.fromkeys(driver.Driver.__abstractmethods__,
                          lambda *args, **kwargs: None)
    return type(f'Driver{{number}}', (driver.Driver,), stubs | {{
        'provides': property(lambda self: [
            {{'server_type': 'vm', 'os': os, 'coe': 'kubernetes'}}
            for os in oses])}})


for number in range({drivers}):
    globals()[f'Driver{{number}}'] = make(number)
'''


def distribution(folder, drivers):
    """Register ``drivers`` drivers for a Python that looks in a folder."""
    info = folder / 'magnum_capi_benchmark-1.0.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: magnum-capi-benchmark\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text('[magnum.drivers]\n' + ''.join(
        f'bench_{n:03} = magnum_capi_benchmark:Driver{n}\n'
        for n in range(drivers)))
    (folder / 'magnum_capi_benchmark.py').write_text(
        MODULE.format(clash=CLASH, common=COMMON, drivers=drivers))


def configuration(folder, default):
    """A file and a folder with two more, as an operator would have."""
    (folder / 'magnum.d').mkdir(parents=True)
    (folder / 'magnum.conf').write_text('[api]\nport = 9511\n')
    (folder / 'magnum.d' / '10-drivers.conf').write_text(
        f'[drivers]\ndefault_driver = {default}\n')
    (folder / 'magnum.d' / '20-beta.conf').write_text(
        '[drivers]\nenabled_beta_drivers = some, others\n')
    return [folder / 'magnum.conf'], [folder / 'magnum.d']


def decisions(args):
    """The first part, for each number of drivers in a Python of its own."""
    python = environment.ensure(progress.Progress()) / 'bin' / 'python'
    print('drivers  path                                     '
          'min/us    p50/us    p99/us    CPU/us   to ours', flush=True)
    for drivers in args.drivers:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            distribution(folder / 'lib', drivers)
            # stevedore keeps a cache, which would stay behind elsewhere.
            subprocess.run(
                [python, __file__, '--inside', folder, '--drivers',
                 str(drivers), '--calls', str(args.calls)],
                check=True, env=os.environ | {
                    'PYTHONPATH': os.pathsep.join(map(str, (
                        folder / 'lib', ROOT, ROOT / 'magnum-capi'))),
                    'PYTHONWARNINGS': 'ignore',
                    'XDG_CACHE_HOME': str(folder / 'cache')})


def inside(folder, drivers, calls):
    """Measure; this Python has Magnum and the drivers."""
    from magnum.drivers.common import driver as magnum

    from magnum_capi.discovery import catalog
    from magnum_capi.discovery import model
    from magnum_capi.discovery import resolve

    def loaded(configured):
        catalog.configure(*configured)
        return catalog.load(catalog.policy())

    without = loaded(configuration(folder / 'none', ''))
    configured = configuration(folder / 'default', 'bench_001')
    with_default = loaded(configured)

    def request(os, driver=None):
        return model.Request(model.ImageProperties(os), driver=driver)

    def ours(made, wanted, driver, kind=None):
        def decide():
            return resolve.resolve(wanted, made)
        decision = decide()
        # What is measured must be what the line says.
        assert decision.driver == driver, decision
        assert (decision.refusal and decision.refusal.kind) == kind, decision
        return decide

    def by_default():
        return magnum.Driver.get_driver(
            'vm', CLASH, 'kubernetes', magnum.Driver.get_default_driver())

    def by_name():
        return magnum.Driver.get_driver(
            'vm', 'os1', 'kubernetes', 'bench_001')

    def by_type():
        return magnum.Driver.get_driver('vm', CLASH, 'kubernetes')

    assert type(by_default()).__name__ == 'Driver1'
    # The scan of all entry points takes that much longer.
    few = max(50, calls // 200)
    measured = (
        ('ours: the template names it', calls, ours(
            with_default, request('os1', 'bench_001'), 'bench_001')),
        ('ours: only one provides the type', calls, ours(
            with_default, request('os1'), 'bench_001')),
        ('ours: default among two', calls, ours(
            with_default, request(CLASH), 'bench_001')),
        ('ours: ambiguous, refused', calls, ours(
            without, request(CLASH), None, model.Kind.AMBIGUOUS)),
        ('hostile: ambiguous among all, refused', calls, ours(
            without, request(COMMON), None, model.Kind.AMBIGUOUS)),
        ('hostile: a driver of 4 KiB, refused', calls, ours(
            with_default, request('os1', HOSTILE), None,
            model.Kind.UNKNOWN)),
        ('hostile: a distro of 4 KiB, refused', calls, ours(
            with_default, request(HOSTILE), None, model.Kind.NOT_SUPPORTED)),
        ('Magnum: get_default_driver, get_driver', few, by_default),
        ('Magnum: get_driver by name, no check', calls, by_name),
        ('Magnum: get_driver by type', calls, by_type),
    )
    table(drivers, measured)
    loads = []
    for _ in range(9):
        begin = time.perf_counter()
        loaded(configured)
        loads.append((time.perf_counter() - begin) * 1e3)
    print(f'{len(with_default.offers)} drivers with those of the cloud '
          'itself; to read the configuration and load them once more: '
          f'{statistics.median(loads):.1f} ms\n', flush=True)


def table(drivers, measured, turns=10):
    """Time (name, calls, function) in turns and print a line for each."""
    times = {name: [] for name, _, _ in measured}
    cpu = dict.fromkeys(times, 0)
    clock = time.perf_counter_ns
    for _ in range(turns):
        for name, calls, function in measured:
            begin, found = time.process_time_ns(), times[name]
            for _ in range(calls // turns):
                start = clock()
                function()
                found.append(clock() - start)
            cpu[name] += time.process_time_ns() - begin
    slowest = max(statistics.median(found) for name, found in times.items()
                  if name.startswith('ours')) / 1e3
    for name, found in times.items():
        cut = statistics.quantiles(found, n=100)
        print(f'{drivers:7}  {name:38}{min(found) / 1e3:9.1f} '
              f'{cut[49] / 1e3:9.1f} {cut[98] / 1e3:9.1f} '
              f'{cpu[name] / len(found) / 1e3:9.1f} '
              f'{cut[49] / 1e3 / slowest:8.1f}x')
    if drivers == GOAL_DRIVERS:
        print(f'goal: at most {GOAL} us a decision with {drivers} drivers; '
              f'slowest of ours, p50: {slowest:.1f} us: '
              f'{"met" if slowest <= GOAL else "NOT MET"}')


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
        self._user = rest.User(box.layout(), box.passwords()['demo'])
        seeded = json.loads((box.directory / 'seeded.json').read_text())
        self._body = {
            'name': 'bench', 'coe': 'kubernetes', 'network_driver': 'calico',
            'image_id': seeded['images']['ubuntu-capi'],
            'external_network_id': seeded['networks']['public'],
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small'}
        self.begin()

    def begin(self):
        """From now on it counts."""
        self.times = []
        self._cpu = self._used()

    def create(self):
        """One template, gone again; its creation is timed, in ms."""
        begin = time.perf_counter()
        answer = self._user.request('container-infra', 'POST',
                                    'clustertemplates', self._body)
        self.times.append((time.perf_counter() - begin) * 1e3)
        answer.raise_for_status()
        self._user.request(
            'container-infra', 'DELETE',
            f'clustertemplates/{answer.json()["uuid"]}').raise_for_status()

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
                        default=[2, 20, GOAL_DRIVERS])
    parser.add_argument('--calls', type=int, default=20000)
    parser.add_argument('--filter', action='store_true')
    parser.add_argument('--templates', type=int, default=200)
    parser.add_argument('--port-base', type=int)
    parser.add_argument('--inside', type=pathlib.Path,
                        help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        inside(args.inside, args.drivers[0], args.calls)
        return 0
    print(f'{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}')
    if args.drivers:
        decisions(args)
    if args.filter:
        template_create(args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
