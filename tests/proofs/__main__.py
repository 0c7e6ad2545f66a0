# SPDX-License-Identifier: Apache-2.0

"""The command for all proofs: a sandbox, stestr, and nothing left at the end.

stestr has a process for each worker, so none of them can start the sandbox
that all have in common, or take it down.
"""

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import tempfile
import typing

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from tests import proofs
from tests.proofs import boxes
from tests.proofs.broken_clusters import box as broken_clusters
from tests.proofs.driver_faults import box as driver_faults
from tests.proofs.robustness import box as robustness
from tests.proofs.soak import box as soak
from tests.proofs.suite_defects import box as suite_defects
from tests.proofs import tables
from tests import sessions

TOP = pathlib.Path(__file__).resolve().parents[2]


class Proof(typing.NamedTuple):
    """A folder with tests.

    :param shows: a sentence.
    :param box: class of the sandbox; None: each case has one of its own.
    :param jobs: how many of its cases run at once by default: some spend most
        of their time waiting.
    """

    shows: str
    box: type[boxes.Box] | None
    jobs: int = 1


PROOFS = {
    'broken-clusters': Proof(
        'conformance runs on broken clusters say what is broken',
        broken_clusters.Box),
    'cloud-defects': Proof(
        'the Tempest suite sees what drivers leave in OpenStack',
        suite_defects.CloudBox, 2),
    'discovery': Proof(
        'the tests of driver discovery fail where they must', None),
    'driver-faults': Proof(
        'the driver loses and leaks nothing by faults', driver_faults.Box),
    'robustness': Proof(
        'clusters outlive programs, time limits and changed options',
        robustness.Box),
    'soak': Proof(
        'the driver keeps what it says for hours of use and faults',
        soak.Box),
    'suite-defects': Proof(
        'the Tempest suite sees what drivers do wrong', suite_defects.Box, 4),
}

#: Seconds for cases to take down what is theirs.
PATIENCE = 1200


def main(argv=None):
    args, words = _parse(argv)
    proof = PROOFS[args.name]
    results = (args.results or pathlib.Path('.proofs', args.name)).absolute()
    results.mkdir(mode=0o700, parents=True, exist_ok=True)
    stestr = ['--config', str(TOP / 'tests/proofs/stestr.conf'),
              '--test-path', f'./tests/proofs/{args.name.replace("-", "_")}',
              '--repo-url', str(results)]
    with contextlib.ExitStack() as stack:
        folder = (args.directory or pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='proof-', dir='/tmp')))
        ).absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ |= {f'{proofs.PREFIX}FOLDER': str(folder),
                       f'{proofs.PREFIX}RESULTS': str(results)}
        if not (results / '.stestr').exists():
            _stestr([*stestr, 'init'])
        if args.list:
            return _stestr([*stestr, 'list', *words])
        if not args.directory:
            stack.callback(_down, folder)
        if proof.box:
            proof.box().up()
        code = _stestr([*stestr, 'run', '--concurrency', str(proof.jobs),
                        *words])
    tables.collect(results)
    return code


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs', allow_abbrev=False,
        description='Run a proof with stestr. All other arguments are for '
        '"stestr run", such as regular expressions of cases and --failing.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='\n'.join(f'{name:16} {proof.shows}'
                         for name, proof in PROOFS.items()))
    parser.add_argument('name', metavar='NAME', choices=PROOFS)
    parser.add_argument('--list', action='store_true',
                        help='only name the cases')
    parser.add_argument('--results', type=pathlib.Path, metavar='DIR',
                        help='for what is seen, and the repository of stestr '
                        '(default: .proofs/NAME)')
    parser.add_argument('--directory', type=pathlib.Path, metavar='DIR',
                        help='use the sandbox of this folder, and leave it up '
                        '(default: a new one, taken down at the end)')
    return parser.parse_known_args(argv)


def _stestr(words):
    """Run stestr; its workers end with it."""
    process = processes.start([sys.executable, '-m', 'stestr', *words],
                              cwd=TOP, start_new_session=True)
    try:
        return process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            waiting.wait_for(
                lambda: sessions.members(process.pid), timeout=PATIENCE,
                done=lambda left: not left, what='the cases to end')
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            process.wait()


def _down(folder):
    """Take down all sandboxes of a run."""
    with contextlib.ExitStack() as stack:
        for path in (folder / 'boxes').glob('*'):
            stack.callback(sandbox.Box(path).down, progress.Progress())


if __name__ == '__main__':
    proofs.take_down_at_the_end()
    try:
        sys.exit(main())
    except errors.MagnumCapiError as e:
        print(f'proof: {e}', file=sys.stderr)
        sys.exit(e.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
