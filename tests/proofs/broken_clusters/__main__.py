# SPDX-License-Identifier: Apache-2.0


"""The command: one sandbox, a cluster for each kind of break, and a table."""

import argparse
import contextlib
import pathlib
import shutil
import sys

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import containers
from tests import proofs
from tests.proofs.broken_clusters import cases
from tests.proofs.broken_clusters import proof
from tests.proofs.broken_clusters import table
from tests.proofs.broken_clusters import world

PORT_BASE = 33000

DOCS = pathlib.Path(__file__).parents[3] / 'doc/source/broken-clusters.csv'


def main(argv=None):
    args = _parse(argv)
    with contextlib.ExitStack() as stack:
        folder = proofs.folder(args, stack, 'broken-').absolute()
        results = args.results or folder / 'results'
        if not args.from_results:
            problem = containers.problem()
            if problem:
                raise errors.EnvironmentProblem(
                    f'Real nodes cannot run here: {problem}')
            _run(args, folder, results.absolute(), stack)
        rows = _load(results)
    print(table.as_text(rows))
    if args.write_docs:
        DOCS.write_text(table.as_csv(rows))
    return 0 if rows and all(row.kept for row in rows) else 1


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs.broken_clusters',
        description='Break real clusters, and show that conformance runs '
        'give the right verdict and name the cause.')
    parser.add_argument('--cluster', choices=cases.CLUSTERS, action='append',
                        help='the cases of one cluster only; may be repeated')
    parser.add_argument('--driver', default='k8s_capi_v1',
                        help='Magnum driver (default: k8s_capi_v1)')
    parser.add_argument('--images', type=pathlib.Path, metavar='DIR',
                        help='folder of "magnum-capi images build"')
    proofs.add_options(
        parser, PORT_BASE, results='rows, archives and reports there; the '
        'table is made of all rows that are there',
        shown='show the rows that are there', tables='table')
    return parser.parse_args(argv)


def _run(args, folder, results, stack):
    proofs.take_down_at_the_end()
    results.mkdir(parents=True, exist_ok=True)
    box = stack.enter_context(world.Box(
        folder, progress.Progress(), driver=args.driver, images=args.images,
        port_base=args.port_base, keep=args.directory is not None))
    for name in args.cluster or cases.CLUSTERS:
        with contextlib.ExitStack() as one:
            target = one.enter_context(box.cluster(name))
            for case in cases.CLUSTERS[name]:
                # Of an earlier run of the proof.
                shutil.rmtree(results / case.name, ignore_errors=True)
                with box.progress.step(f'{case.broken} {case.when}'):
                    row = proof.play(box, case, target,
                                     results / case.name)
                (results / f'{case.name}.json').write_text(table.dump(row))
                print(table.as_text([row]), flush=True)


def _load(results):
    """The rows of the cases that have been run."""
    files = [results / f'{case.name}.json'
             for group in cases.CLUSTERS.values() for case in group]
    return [table.load(f.read_text()) for f in files if f.exists()]


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'broken clusters: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
