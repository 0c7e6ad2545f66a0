# SPDX-License-Identifier: Apache-2.0
"""Times decisions, ours and Magnum's own; run with Magnum's Python.

    python decisions.py FOLDER DRIVERS CALLS

:func:`distribution` has registered so many drivers for that Python.
"""

import pathlib
import statistics
import sys
import time

#: Microseconds a decision, with this many drivers.
GOAL, GOAL_DRIVERS = 20, 200
#: The operating system that the first two drivers have in common, and the one
#: that all have.
CLASH, COMMON = 'clash', 'common'
#: A name as long as the longest property of an image that anyone sends.
HOSTILE = 'n' * 4096

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


def measure(folder, drivers, calls):
    """Print times; this Python has Magnum and the drivers.

    :param folder: for configuration files.
    """
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


if __name__ == '__main__':
    measure(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
