# SPDX-License-Identifier: Apache-2.0

"""The command: a sandbox, defect after defect, and a table."""

import argparse
from concurrent import futures
import contextlib
import pathlib
import sys

from magnum_capi import errors
from magnum_capi import progress
from tests import proofs
from tests.proofs.suite_defects import box as box_module
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts

PORT_BASE = 27000

#: Table of the documentation.
DOCS = pathlib.Path(__file__).parents[3] / 'doc/source/suite-defects.csv'


def main(argv=None):
    defects = tables.defects()
    args = _parse(argv, defects)
    chosen = [defect for defect in defects
              if not args.defects or defect.name in args.defects]
    if args.list:
        print(*(f'{d.name}: {d.does} ({d.short})' for d in chosen), sep='\n')
        return 0
    with contextlib.ExitStack() as stack:
        folder = proofs.folder(args, stack, 'defects-')
        results = (args.results or folder / 'results').absolute()
        alarms = []
        if not args.from_results:
            alarms = _run(args, chosen, folder / 'box', results, stack)
        trials = list(_recorded(
            defects if args.from_results else chosen, results))
    seen = sum(bool(trial.seen) for trial in trials)
    print(f'{seen} of {len(trials)} defects were seen')
    if args.write_docs:
        DOCS.write_text(verdicts.as_csv(trials))
    return 0 if trials and seen == len(trials) and not alarms else 1


def _parse(argv, defects):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs.suite_defects',
        description='Run the Tempest suite against drivers with seeded '
        'defects, and see that the test of each fails. Exit code: 0 all '
        'were seen and nothing failed without a defect, 1 otherwise.')
    parser.add_argument(
        'defects', nargs='*', metavar='DEFECT',
        help='only these; all by default')
    parser.add_argument('--list', action='store_true',
                        help='only name them, with their tests')
    parser.add_argument('--jobs', type=int, default=4, metavar='N',
                        help='how many defects at once; most of the time is '
                        'spent on waiting (default: 4)')
    parser.add_argument('--patience', type=float, default=1.0, metavar='X',
                        help='wait X times as long, on a machine that is '
                        'busy (default: 1)')
    parser.add_argument('--rounds', type=int, default=3, metavar='N',
                        help='how often the same tests have to pass with '
                        f'{" and ".join(box_module.HEALTHY)} (default: 3)')
    parser.add_argument('--only-rounds', action='store_true',
                        help='try no defect')
    proofs.add_options(
        parser, PORT_BASE, results='the recorded runs there',
        shown='judge the runs that are there', tables='table')
    args = parser.parse_args(argv)
    unknown = set(args.defects) - {defect.name for defect in defects}
    if unknown:
        parser.error(f'there is no {", ".join(sorted(unknown))}; see --list')
    if args.jobs < 1 or args.rounds < 0 or args.patience < 1:
        parser.error('jobs and patience from 1 on, rounds from 0 on')
    if args.from_results and not args.results:
        parser.error('--from-results needs --results')
    return args


def _run(args, defects, folder, results, stack):
    """Try defects, then drivers without one; returns false alarms."""
    proofs.take_down_at_the_end()
    box = stack.enter_context(box_module.Box(
        folder, results, progress.Progress(), port_base=args.port_base,
        keep=args.directory is not None))
    if not args.only_rounds:
        _try(box, defects, args.jobs, args.patience)
    alarms = []
    for turn in range(1, args.rounds + 1):
        for driver in box_module.HEALTHY:
            alarms += _healthy(box, driver, defects, turn)
    return alarms


def _try(box, defects, jobs, patience):
    with futures.ThreadPoolExecutor(jobs) as pool:
        trials = [pool.submit(_trial, box, defect, patience)
                  for defect in defects]
        try:
            for trial in futures.as_completed(trials):
                print(verdicts.as_text(trial.result()), flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            box.stop()
            raise


def _trial(box, defect, patience):
    try:
        path = box.try_defect(defect, patience)
    except errors.MagnumCapiError as e:
        return verdicts.Trial(defect, False, verdicts.plain(str(e)))
    return verdicts.judge(defect, box_module.read(path, defect.name))


def _healthy(box, driver, defects, turn):
    kept = box_module.kept_by(box.promised(driver), defects)
    with box.progress.step(f'{driver}, round {turn}'):
        path = box.try_healthy(driver, kept, turn)
    found = verdicts.false_alarms(
        tables.tests(kept), box_module.read(path, driver))
    print(f'{driver}, round {turn}: {len(tables.tests(kept))} tests, '
          f'{len(found)} false alarms', *found, sep='\n  ', flush=True)
    return found


def _recorded(defects, results):
    """Judge what was recorded of defects."""
    for defect in defects:
        path = box_module.stream(results, defect)
        if path.exists():
            yield verdicts.judge(defect, box_module.read(path, defect.name))
        else:
            yield verdicts.Trial(defect, None, 'there is no record of it')


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'suite defects: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
