# SPDX-License-Identifier: Apache-2.0

"""The command: try the mutants of a room."""

import argparse
import json
import os
import pathlib
import signal
import sys

from magnum_capi import errors
from tests.mutation import report
from tests.mutation import rooms
from tests.mutation import session


def main(argv=None):
    args = _parse(argv)
    args.results.mkdir(parents=True, exist_ok=True)
    run = session.Session(args.room, rooms.ROOMS[args.room], args.results,
                          args.all_killers, args.jobs)
    run.complete(args.sample, args.seed,
                 lambda line: print(line, flush=True))
    found = report.mutants(run.sample(args.sample, args.seed))
    alarms = run.alarms({test for one in found for test in one['killers']})
    (args.results / f'{args.room}.json').write_text(json.dumps({
        'room': args.room, 'sample': args.sample, 'seed': args.seed,
        'all_killers': args.all_killers, 'false_alarms': alarms,
        'mutants': found}, indent=1), encoding='utf-8')
    print(report.table(args.room, found, alarms))
    return 1 if alarms else 0


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.mutation',
        description='Change the code of a room, one operator, number, '
        'condition, loop, handler or decorator at a time, and tell of which '
        'changes no unit test fails. A run that was stopped goes on. Exit '
        'code: 0 done, 1 a test also fails without a mutant, 2 wrong usage.')
    parser.add_argument('room', choices=sorted(rooms.ROOMS), metavar='ROOM',
                        help=', '.join(sorted(rooms.ROOMS)))
    parser.add_argument('--sample', type=_count, metavar='N',
                        help='only so many, by chance (default: all)')
    parser.add_argument('--seed', type=int, default=19, metavar='S',
                        help='of the chance (default: 19)')
    parser.add_argument('--all-killers', action='store_true',
                        help='find each test that fails because of a mutant, '
                        'not just one')
    parser.add_argument('--jobs', type=_count, default=2, metavar='N',
                        help='how many at once (default: 2)')
    parser.add_argument('--results', type=pathlib.Path, metavar='DIR',
                        default=pathlib.Path('.mutation'),
                        help="for cosmic-ray's session and ROOM.json "
                        '(default: .mutation)')
    return parser.parse_args(argv)


def _count(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


if __name__ == '__main__':
    # The order of sets is the same in all processes that are started.
    os.environ['PYTHONHASHSEED'] = '0'
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'mutation: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
