# SPDX-License-Identifier: Apache-2.0

"""The command: sandboxes, one after the other, and a table."""

import argparse
import pathlib
import sys
import tempfile
import typing

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.report import model
from tests import proofs
from tests.proofs.discovery import compare
from tests.proofs.discovery import proof
from tests.proofs.discovery import suite

PORT_BASE = 29000


class Part(typing.NamedTuple):
    """A part of the proof.

    :param function: of :mod:`.proof`.
    :param sandbox: arguments of :class:`.proof.Box`.
    """

    function: typing.Callable
    sandbox: dict


PARTS = {
    'filter': Part(proof.cured_or_named, {'with_filter': True}),
    'plain': Part(proof.rest_and_live, {'with_filter': False}),
    'own-filter': Part(proof.own_driver,
                       {'with_filter': True, 'own': True}),
    'own-plain': Part(proof.own_driver,
                      {'with_filter': False, 'own': True}),
    'broken-filter': Part(proof.broken,
                          {'with_filter': True, 'broken': True}),
    'broken-plain': Part(proof.broken,
                         {'with_filter': False, 'broken': True}),
}


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs.discovery',
        description='Prove that the tests of driver discovery fail where '
        'they must, and only there.')
    parser.add_argument('--part', choices=PARTS, action='append',
                        help='one part only; may be repeated')
    proofs.add_results(parser, 'the reports of the runs there')
    proofs.add_port_base(parser, PORT_BASE)
    args = parser.parse_args(argv)
    proofs.take_down_at_the_end()
    tests = suite.load()
    runs, found = {}, []
    with tempfile.TemporaryDirectory(prefix='proof-', dir='/tmp') as folder:
        results = args.results or pathlib.Path(folder) / 'results'
        for name in args.part or PARTS:
            with proof.Box(pathlib.Path(folder) / name, results,
                           progress.Progress(), port_base=args.port_base,
                           **PARTS[name].sandbox) as box:
                problems, runs[name] = PARTS[name].function(box, tests)
            found += [f'{name}: {problem}' for problem in problems]
            print(*(problems or [f'{name}: as expected']), sep='\n',
                  flush=True)
    show(tests, runs)
    print(*(found or ['All as expected.']), sep='\n')
    return 1 if found else 0


def show(tests, runs):
    """Print a row for every test of a deviation."""
    rows = [('deviation', 'test', 'with the filter', 'without')]
    for names, is_broken in ((('filter', 'plain'), False),
                             (('broken-filter', 'broken-plain'), True)):
        if any(name in runs for name in names):
            rows += compare.table(
                [t for t in tests
                 if (compare.BROKEN in t.deviations) is is_broken],
                *(runs.get(name, model.Run(name)) for name in names))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width
                        in zip(row, widths)).rstrip())


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'discovery proof: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
