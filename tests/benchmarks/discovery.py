# SPDX-License-Identifier: Apache-2.0
"""What it costs to decide which driver serves a cluster template.

    python -m tests.benchmarks.discovery [--drivers 2 20 200] [--calls 20000]

Prints microseconds of one decision, the shortest and the median, for each way
in which it can end. The first two drivers have one type in common, and all of
them another one.
"""

import argparse
import os
import statistics
import timeit

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve

#: The operating system that the first two drivers have in common, and the one
#: that all have.
CLASH, COMMON = 'clash', 'common'
#: A name as long as the longest property of an image that anyone sends.
HOSTILE = 'n' * 4096

#: Name, driver that the template names, operating system of its image, whether
#: there is a default driver, and what is decided: a driver or a refusal.
CASES = (
    ('the template names it', 'bench_001', 'os1', True, 'bench_001'),
    ('only one provides the type', None, 'os1', True, 'bench_001'),
    ('default among two', None, CLASH, True, 'bench_001'),
    ('ambiguous, two provide it', None, CLASH, False, model.Kind.AMBIGUOUS),
    ('ambiguous, all provide it', None, COMMON, False, model.Kind.AMBIGUOUS),
    ('a driver of 4 KiB, refused', HOSTILE, 'os1', True, model.Kind.UNKNOWN),
    ('a distro of 4 KiB, refused', None, HOSTILE, True,
     model.Kind.NOT_SUPPORTED),
)


def catalog(drivers, default):
    """So many drivers, and maybe a default among them."""
    return model.Catalog([
        model.Offer(f'bench_{number:03}', tuple(
            model.ClusterType('vm', distro, 'kubernetes') for distro in (
                f'os{number}', COMMON, *[CLASH] * (number < 2))))
        for number in range(drivers)],
        model.Policy(default_driver='bench_001' if default else None))


def measure(drivers, calls):
    """Print a line for each of the cases."""
    for name, driver, distro, default, expected in CASES:
        known = catalog(drivers, default)
        request = model.Request(model.ImageProperties(distro), driver=driver)
        found = resolve.resolve(request, known)
        # What is measured must be what the line says.
        assert expected in (found.driver, found.refusal
                            and found.refusal.kind), found
        times = timeit.repeat(lambda: resolve.resolve(request, known),
                              number=1, repeat=calls)
        print(f'{drivers:7}  {name:30}{min(times) * 1e6:9.1f} '
              f'{statistics.median(times) * 1e6:9.1f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--drivers', type=int, nargs='+',
                        default=[2, 20, 200])
    parser.add_argument('--calls', type=int, default=20000)
    args = parser.parse_args()
    print(f'{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}')
    print('drivers  decision                         min/us    p50/us')
    for drivers in args.drivers:
        measure(drivers, args.calls)


if __name__ == '__main__':
    main()
