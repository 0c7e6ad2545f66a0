# SPDX-License-Identifier: Apache-2.0

"""The command: one sandbox, fault after fault, and a table."""

import argparse
import contextlib
import functools
import pathlib
import sys
import time
import typing

from magnum_capi import errors
from magnum_capi import progress
from tests import proofs
from tests.proofs.driver_faults import api_faults
from tests.proofs.driver_faults import cloud_faults
from tests.proofs.driver_faults import helm_faults
from tests.proofs.driver_faults import kills
from tests.proofs.driver_faults import races
from tests.proofs.driver_faults import results as results_module
from tests.proofs.driver_faults import table
from tests.proofs.driver_faults import world

PORT_BASE = 31000

#: Tables of the documentation: rows, and what each part took.
DOCS = pathlib.Path(__file__).parents[3] / 'doc/source/driver-faults.csv'
DOCS_PARTS = DOCS.with_name('driver-faults-parts.csv')


class Part(typing.NamedTuple):
    """A part of the proof.

    :param function: of a world.Box and the part's name; yields table.Row.
    :param full: needs a conductor of its own, the profile "full".
    """

    function: typing.Callable
    full: bool = False


PARTS = {
    **{f'api-{name}': Part(functools.partial(api_faults.run, fault))
       for name, fault in (
           ('down', api_faults.DOWN), ('slow', api_faults.SLOW),
           ('409', api_faults.CONFLICT), ('429', api_faults.TOO_MANY),
           ('500', api_faults.ERROR))},
    'helm-missing': Part(helm_faults.missing),
    'helm-killed': Part(helm_faults.killed),
    'helm-pending': Part(helm_faults.pending),
    **{service: Part(functools.partial(cloud_faults.run, service))
       for service in ('keystone', 'glance')},
    'races': Part(races.run),
    'create-kills': Part(kills.create, full=True),
    'upgrade-kills': Part(kills.upgrade, full=True),
    'delete-kills': Part(kills.delete, full=True),
    'two-conductors': Part(races.two_conductors, full=True),
}


def main(argv=None):
    args = _parse(argv)
    with contextlib.ExitStack() as stack:
        folder = proofs.folder(args, stack, 'faults-')
        results = results_module.Results(args.results or folder / 'results')
        if args.part or not args.from_results:
            _run(args, folder, results, stack)
        found = results.load(PARTS)
    rows = results_module.rows(found)
    print(table.as_text(rows))
    print(table.summary(rows))
    if args.write_docs:
        DOCS.write_text(table.as_csv(rows))
        DOCS_PARTS.write_text(results_module.as_csv(found))
    return 0 if rows and all(row.kept for row in rows) else 1


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs.driver_faults',
        description='Put the driver k8s_capi_v1 through faults, and show '
        'that nothing is lost and nothing leaks.')
    parser.add_argument('--part', choices=PARTS, action='append',
                        help='one part only; may be repeated')
    proofs.add_options(
        parser, PORT_BASE, results='the rows there, a file for each part; '
        'the table is made of all that are there',
        shown='show the rows that are there', tables='tables')
    parser.add_argument('--profile', choices=('full', 'embedded'),
                        default='full')
    args = parser.parse_args(argv)
    full = [n for n in args.part or () if PARTS[n].full]
    if args.profile != 'full' and full:
        parser.error(f'{", ".join(full)} needs the profile full')
    return args


def _run(args, folder, results, stack):
    proofs.take_down_at_the_end()
    box = stack.enter_context(world.Box(
        folder, progress.Progress(), profile=args.profile,
        port_base=args.port_base, keep=args.directory is not None))
    for name in args.part or PARTS:
        if PARTS[name].full and args.profile != 'full':
            print(f'{name}: left out, it needs the profile full')
            continue
        rows, began = [], time.monotonic()
        with box.progress.step(f'Faults: {name}'):
            for row in _rows(box, name):
                rows.append(row)
                print(table.as_text([row]), flush=True)
                results.save(results_module.Result(
                    name, tuple(rows), time.monotonic() - began))


def _rows(box, name):
    try:
        yield from PARTS[name].function(box, name)
    except errors.MagnumCapiError as e:
        # The other parts may tell something all the same.
        yield table.Row(name, 'the proof itself', str(e))


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'driver faults: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
