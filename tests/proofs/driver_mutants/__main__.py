# SPDX-License-Identifier: Apache-2.0

"""The command: each defect in a copy, its tests, and what came of it."""

import argparse
from concurrent import futures
import pathlib
import sys

from magnum_capi import errors
from tests.proofs.driver_mutants import runner
from tests.proofs.driver_mutants import tables

TOP = pathlib.Path(__file__).resolve().parents[3]
FOLDER = 'magnum-capi/magnum_capi'


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs.driver_mutants',
        description='Bring known bugs into copies of the driver, and check '
        'that its tests see them. Exit code: 0 all were seen, 1 one was not, '
        '2 wrong usage.')
    parser.add_argument(
        'bugs', nargs='*', metavar='BUG',
        help='only defects of these bugs, as H1; all by default')
    parser.add_argument(
        '--jobs', type=int, default=2, metavar='N',
        help='how many at once, default: 2')
    parser.add_argument(
        '--list', action='store_true', help='only name them')
    args = parser.parse_args(argv)
    known = {bug.id for bug in tables.bugs()}
    if args.jobs < 1 or not known.issuperset(args.bugs):
        parser.error(f'bugs are {", ".join(sorted(known))}; jobs from 1 on')
    defects = [defect for defect in tables.defects()
               if not args.bugs or defect.bug in args.bugs]
    if args.list:
        print(*(defect.name for defect in defects), sep='\n')
        return 0
    return _try(defects, args.jobs)


def _try(defects, jobs):
    wanted = tuple(dict.fromkeys(
        test for defect in defects for test in defect.tests))
    healthy = runner.control(TOP, wanted)
    _say('sound' if healthy.as_wanted else 'NOT SOUND', healthy,
         str(healthy) or f'{len(wanted)} tests pass')
    if not healthy.as_wanted:
        return 1
    with futures.ThreadPoolExecutor(jobs) as pool:
        trials = [pool.submit(runner.trial, TOP, FOLDER, defect)
                  for defect in defects]
        try:
            caught = [_told(trial.result()) for trial in trials]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    print(f'{sum(caught)} of {len(caught)} defects were seen')
    return 0 if all(caught) else 1


def _told(trial):
    _say('seen' if trial.as_wanted else 'MISSED', trial, str(trial))
    return trial.as_wanted


def _say(word, trial, more):
    print(f'{word:9} {trial.seconds:4.1f} s  {trial.name}'
          + (f' ({more})' if more else ''), flush=True)


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(e, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
