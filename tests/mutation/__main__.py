# SPDX-License-Identifier: Apache-2.0


"""The command: mutants of parts of the package, and the score of each."""

import argparse
import contextlib
import functools
import importlib
import itertools
import json
import os
import pathlib
import sys
import tempfile

from magnum_capi import errors
from tests.mutation import mutants
from tests.mutation import pool
from tests.mutation import record as record_module
from tests.mutation import rooms
from tests.mutation import selection
from tests.mutation import tables
from tests.mutation import worker
from tests import proofs

#: A run of the tests without a mutant beside each of so many mutants.
CONTROL = 20

#: As many tests at most, for a mutant may be tried with all of a room.
LONGEST = 100


def main(argv=None):
    args = _parse(argv)
    with contextlib.ExitStack() as stack:
        folder = args.results or pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='mutation-')))
        folder.mkdir(parents=True, exist_ok=True)
        return max([_part(args, part, folder) for part in args.parts])


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.mutation',
        description='Mutate parts of the package, and count the mutants that '
        'its unit tests see. Exit code: 0 the scores are as they have to be, '
        '1 one is not, or tests fail without a mutant, 2 wrong usage.')
    parser.add_argument(
        'parts', nargs='*', metavar='PART', default=sorted(rooms.ROOMS),
        help='folders and files below the package, as driver/desired and '
        f'discovery/host.py (default: {", ".join(sorted(rooms.ROOMS))})')
    parser.add_argument(
        '--sample', type=int, metavar='N',
        help='only so many of each, by chance (default: all of them)')
    parser.add_argument('--seed', type=int, default=19, metavar='S',
                        help='of the chance (default: 19)')
    parser.add_argument('--jobs', type=int, default=2, metavar='N',
                        help='how many at once (default: 2)')
    parser.add_argument(
        '--survived', action='store_true',
        help='try only those again that survived when they were recorded')
    proofs.add_results(parser, 'what came of each mutant there; what is there '
                       'already and still holds is not run again',
                       'count what is recorded')
    parser.add_argument('--write-docs', action='store_true',
                        help='write the tables of the documentation')
    args = proofs.parse(parser, argv, 'survived')
    folders = {name for room in rooms.ROOMS.values() for name in room.folders}
    for part in args.parts:
        if part.partition('/')[0] not in folders or not rooms.files(part):
            parser.error(f'there is no {part} in '
                         f'{", ".join(sorted(rooms.ROOMS))}')
    if args.jobs < 1 or args.sample is not None and args.sample < 1:
        parser.error('jobs and sample from 1 on')
    return args


def _part(args, part, folder):
    """Try the mutants of a part; returns the exit code."""
    room = rooms.room_of(part)
    texts = {file: (rooms.TOP / rooms.FOLDER / file).read_text('utf-8')
             for file in rooms.files(part)}
    places = [place for file, text in texts.items()
              for place in mutants.places(file, text)]
    run = _Run(record_module.Record(folder / f'{room.name}.jsonl'), texts)
    order = list(mutants.ranked(places, args.seed))
    if not args.from_results:
        run.complete(room, order, args)
    results, controls = run.recorded(order, args.sample)
    score = record_module.Score(results, record_module.equivalents())
    row = tables.row(part, score, controls, len(places),
                     args.seed if args.sample else None)
    print(tables.as_text(row, score, controls), flush=True)
    if args.write_docs:
        tables.write(row, score)
    return 0 if tables.good(room, score, controls) else 1


class _Run:
    """Mutants of some sources, and what is known of them.

    :param texts: sources by file.
    """

    def __init__(self, record, texts):
        self._record, self._texts = record, texts
        self._rest = record_module.digest_of_all(rooms.TOP)
        self._code = {file: record_module.digest(text)
                      for file, text in texts.items()}

    def known(self, place, control=False):
        return self._record.of(place, self._code[place.file], self._rest,
                               control)

    def recorded(self, places, sample):
        """Results of mutants, in their order, and of controls.

        A mutant that survived before a change is a survivor until it is tried
        again: to leave it out would make the score better.
        """
        def last(place, control=False):
            return self._record.of(place, self._code[place.file],
                                   control=control)

        results = tuple(itertools.islice(
            filter(_is_mutant, map(last, places)), sample))
        keys = {result.key for result in results}
        controls = (last(place, control=True) for place in places
                    if place.key in keys)
        return results, tuple(filter(None, controls))

    def complete(self, room, places, args):
        """Try what is not known yet."""
        jobs = self._jobs(places, args, _measured(room))
        for number, ((mutant, control), end) in enumerate(
                pool.run(jobs, args.jobs), 1):
            self._keep(mutant, control, end)
            if end.outcome != pool.KILLED or control:
                _say(number, mutant, control, end)

    def _jobs(self, places, args, measured):
        number = 0
        for place in places:
            if number == args.sample:
                return
            found = self.known(place)
            if found is None:
                mutant = mutants.make(place, self._texts[place.file])
                if mutant is None:
                    self._keep(mutants.Mutant(place, '', '', ''), False,
                               pool.End(record_module.NO_MUTANT, '', 0.0))
            elif found.outcome == record_module.NO_MUTANT:
                mutant = None
            else:
                mutant = mutants.Mutant(place, '', found.before, found.after)
            if mutant is None:
                continue
            number += 1
            if not args.survived or self._survived(place):
                yield from self._of(mutant, measured, found is None,
                                    number % CONTROL == 1)

    def _of(self, mutant, measured, new, control):
        """Jobs of a mutant: itself when it is new, and its control."""
        file = mutant.place.file
        tests = selection.tests_of(mutant.place, self._texts[file], measured)
        some = dict(itertools.islice(tests.items(), LONGEST))
        run = functools.partial(
            worker.try_mutant, module=rooms.module(file),
            path=str(rooms.TOP / rooms.FOLDER / file))
        if new and tests:
            yield (mutant, False), functools.partial(
                run, source=mutant.source, tests=tests)
        elif new:
            self._keep(mutant, False, pool.End(
                record_module.NO_TEST, '', 0.0))
        if control and some and not self.known(mutant.place, control=True):
            yield (mutant, True), functools.partial(
                run, source=None, tests=some)

    def _survived(self, place):
        known = self._record.last(place)
        return known is not None and not known.killed

    def _keep(self, mutant, control, end):
        place = mutant.place
        self._record.add(record_module.Result(
            place.key, place.function, place.line, mutant.before,
            mutant.after, end.outcome, end.by[:200], round(end.seconds, 2),
            self._code[place.file], self._rest, control))


def _is_mutant(result):
    return (result is not None
            and result.outcome != record_module.NO_MUTANT)


def _measured(room):
    """Run the tests of a room without a mutant; they have to pass.

    Leaves the libraries imported that they use, so that a process that is
    forked need not.

    :raises MagnumCapiError: one fails.
    """
    ((_, end),) = pool.run([(None, functools.partial(
        worker.measure, package=rooms.TOP / rooms.FOLDER,
        suites=[rooms.TOP / 'tests/unit' / path for path in room.tests]))])
    if not end.text:
        raise errors.MagnumCapiError(
            'The tests cannot be run', where=room.name, last_seen=end.by)
    found = json.loads(end.text)
    if found['bad']:
        raise errors.MagnumCapiError(
            f'{len(found["bad"])} tests fail without a mutant',
            where=room.name, last_seen=found['bad'][0],
            hint='Make them pass first')
    for name in found['libraries']:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    loaded = [name for name in sys.modules if name.startswith(tuple(
        f'{rooms.PACKAGE}.{folder}' for folder in room.folders))]
    if loaded:
        raise errors.MagnumCapiError(
            'A library imports what is to be mutated', where=loaded[0])
    print(f'{room.name}: {len(found["seconds"])} tests pass in '
          f'{end.seconds:.0f} s', flush=True)
    return selection.Measured(found['seconds'], {
        file: {int(line): ids for line, ids in lines.items()}
        for file, lines in found['lines'].items()}, selection.importers({
            file: (rooms.TOP / rooms.FOLDER / file).read_text('utf-8')
            for file in rooms.files('')}, {
                name: _path_of(name).read_text('utf-8')
                for name in map(worker.module_of, found['seconds'])}))


def _path_of(module):
    return rooms.TOP.joinpath(*module.split('.')).with_suffix('.py')


def _say(number, mutant, control, end):
    word = f'control {end.outcome}' if control else end.outcome
    print(f'{number:5} {word:9} {end.seconds:5.1f} s  {mutant.place.file}:'
          f'{mutant.place.line}: {mutant.before} -> {mutant.after}'
          + (f' ({end.by})' if end.by else ''), flush=True)


if __name__ == '__main__':
    if os.environ.get('PYTHONHASHSEED') != '0':
        # The order of sets is the same in all runs.
        os.execve(sys.executable, sys.orig_argv, {
            **os.environ, 'PYTHONHASHSEED': '0'})
    proofs.take_down_at_the_end()
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'mutation: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
