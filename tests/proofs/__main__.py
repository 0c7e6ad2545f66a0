# SPDX-License-Identifier: Apache-2.0

"""The command for all proofs: selects proof and cases, reports results."""

import argparse
import contextlib
import fnmatch
import importlib
import pathlib
import sys
import tempfile

from magnum_capi import errors
from magnum_capi import progress
from tests import proofs
from tests.proofs import proof as proof_module
from tests.proofs import records as records_module
from tests.proofs import runner
from tests.proofs import tables

#: Proofs by the names of their folders, with what each of them shows.
PROOFS = {
    'broken-clusters': 'conformance runs on broken clusters say what is '
                       'broken',
    'cloud-defects': 'the Tempest suite sees what drivers leave in OpenStack',
    'discovery': 'the tests of driver discovery fail where they must',
    'driver-faults': 'the driver loses and leaks nothing by faults',
    'soak': 'the driver keeps what it says for hours of use and faults',
    'suite-defects': 'the Tempest suite sees what drivers do wrong',
}

_EXIT_CODES = ('Exit code: 0 all is as it must be, 1 something is not, 2 '
               'wrong usage, 3 it cannot be run here.')


def main(argv=None):
    words = sys.argv[1:] if argv is None else list(argv)
    if words and words[0] in PROOFS:
        return _prove(words[0], words[1:])
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs', description='Run a proof.',
        epilog='"python -m tests.proofs NAME --help" has the options of one.')
    parser.add_argument('name', metavar='NAME', nargs='?', choices=PROOFS)
    parser.add_argument('--list', action='store_true', help='name them')
    if not parser.parse_args(words).list:
        parser.error('name a proof; see --list')
    for name, text in PROOFS.items():
        print(f'{name:16} {text}')
    return 0


def load(name) -> proof_module.Proof:
    """The proof of a name."""
    return importlib.import_module(
        f'tests.proofs.{name.replace("-", "_")}.proof').PROOF


def _prove(name, words):
    proof = load(name)
    parser = _parser(proof)
    args = proofs.parse(parser, words, 'resume')
    try:
        cases, chosen = _choose(proof, args)
    except errors.UsageError as e:
        parser.error(str(e))
    if args.list:
        print(*(f'{c.name}: {c.text}' if c.text else c.name
                for c in chosen), sep='\n')
        return 0
    with contextlib.ExitStack() as stack:
        folder = _folder(args, stack, name)
        results = (args.results or folder / 'results').absolute()
        records = records_module.Records(results)
        if not args.from_results:
            _run(proof, proof_module.Work(
                args, chosen, _to_run(args, chosen, records), folder,
                results, progress.Progress()), records)
        return _report(proof, args, cases, chosen, records, results)


def _parser(proof):
    parser = argparse.ArgumentParser(
        prog=f'python -m tests.proofs {proof.name}',
        description=f'{proof.summary} {_EXIT_CODES}')
    parser.add_argument('cases', nargs='*', metavar='CASE',
                        help='only these; patterns such as "api-*" are fine')
    parser.add_argument('--list', action='store_true',
                        help='only name the cases')
    proofs.add_results(parser, 'what is seen there, a file for each case; the '
                       'table is made of all that are there',
                       'judge what --results has')
    parser.add_argument('--resume', action='store_true',
                        help='leave out what --results has of this commit')
    if proof.docs:
        parser.add_argument('--write-docs', action='store_true',
                            help='write the table of the documentation')
    if proof.jobs > 1:
        parser.add_argument('--jobs', type=int, default=proof.jobs,
                            metavar='N', help='how many cases at once '
                            f'(default: {proof.jobs})')
    if proof.port_base:
        parser.add_argument('--port-base', type=int, default=proof.port_base)
        if proof.one_sandbox:
            parser.add_argument(
                '--directory', type=pathlib.Path, metavar='DIR',
                help='use the sandbox of this folder, and leave it up '
                '(default: a new one, taken down at the end)')
    proof.add_options(parser)
    return parser


def _choose(proof, args):
    """All cases, and the requested ones.

    :raises UsageError: a case does not exist, or cannot run with the options.
    """
    words = args.cases
    cases = tuple(proof.cases(args))
    named = {word: [case for case in cases if word == case.name
                    or fnmatch.fnmatchcase(case.name, word)]
             for word in words}
    unknown = [word for word, found in named.items() if not found]
    if unknown:
        raise errors.UsageError(
            f'there is no {", ".join(unknown)}; see --list')
    for found in named.values():
        for case in found:
            if case.needs:
                raise errors.UsageError(f'{case.name} needs {case.needs}')
    if getattr(args, 'jobs', 1) < 1:
        raise errors.UsageError('--jobs is 1 or more')
    chosen = {case.name for found in named.values() for case in found}
    return cases, tuple(
        case for case in cases
        if not words or case.control or case.name in chosen)


def _folder(args, stack, name):
    """The folder to work in, a new one unless another was asked for."""
    directory = getattr(args, 'directory', None)
    return (directory or pathlib.Path(stack.enter_context(
        tempfile.TemporaryDirectory(prefix=f'{name}-', dir='/tmp')))
    ).absolute()


def _to_run(args, chosen, records):
    commit = records_module.commit(proof_module.TOP)

    def is_there(case):
        known = records.load(case.name)
        return bool(args.resume and commit and known and known.ended
                    and not known.problem and known.commit == commit)

    for case in chosen:
        if case.needs:
            print(f'{case.name}: left out, it needs {case.needs}')
    return tuple(case for case in chosen
                 if not case.needs and not is_there(case))


def _run(proof, work, records):
    if work.cases:
        proofs.take_down_at_the_end()
        runner.Runner(proof, work, records).run()


def _report(proof, args, cases, chosen, records, results):
    """Print the results and write them if requested; returns the exit code."""
    found = _found(proof, chosen, records, results)
    if not found:
        print(f'{proof.name}: there are no results')
        return 1
    rows = [row for _record, its in found for row in its]
    shown = [row for row in rows if args.from_results or not row.good]
    for line in (*(tables.as_text(proof, row) for row in shown),
                 proof.epilogue([record for record, _its in found]),
                 *_changes(proof, rows), tables.summary(proof, found)):
        if line:
            print(line)
    if getattr(args, 'write_docs', False):
        _write(proof, cases, _found(proof, cases, records, results))
    return 0 if rows and all(row.good for row in rows) else 1


def _found(proof, cases, records, results):
    """Pairs of a record and its rows, for cases that have been run."""
    pairs = ((case, records.load(case.name)) for case in cases)
    return [(record, tables.rows(proof, case, record, results))
            for case, record in pairs if record]


def _changes(proof, rows):
    if proof.docs and proof.docs.exists():
        yield from (f'Not as in {proof.docs.name}: {change}' for change
                    in tables.changes(proof, rows, proof.docs.read_text()))


def _write(proof, cases, found):
    """Write the tables of the documentation.

    :raises UsageError: they would lose rows.
    """
    known = {record.case for record, _rows in found}
    missing = [case.name for case in cases
               if not (case.control or case.needs or case.name in known)]
    if missing:
        raise errors.UsageError(
            f'{proof.docs.name} is not written: {len(missing)} cases have no '
            'results', last_seen=', '.join(missing[:5]))
    proof.docs.write_text(tables.as_csv(proof.columns, (
        row.cells for _record, rows in found for row in rows if row.cells)))
    if proof.docs_cases:
        proof.docs_cases.write_text(tables.cases_csv(found))


if __name__ == '__main__':
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'proof: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
