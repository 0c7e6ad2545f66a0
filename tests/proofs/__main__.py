# SPDX-License-Identifier: Apache-2.0

"""The command for all proofs: stestr, and an end that leaves nothing."""

import argparse
import contextlib
import os
import pathlib
import signal
import sys
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_tempest import runmarks
from tests import proofs
from tests.proofs import tables
from tests import sessions

TOP = pathlib.Path(__file__).resolve().parents[2]

#: What each proof shows, and how many of its cases run at once by default:
#: some spend most of their time waiting.
PROOFS = {
    'broken-clusters': (
        'conformance runs on broken clusters say what is broken', 1),
    'cloud-defects': ('the Tempest suite sees what drivers leave in '
                      'OpenStack', 2),
    'discovery': ('the tests of driver discovery fail where they must', 1),
    'driver-faults': ('the driver loses and leaks nothing by faults', 1),
    'soak': ('the driver keeps what it says for hours of use and faults', 1),
    'suite-defects': ('the Tempest suite sees what drivers do wrong', 4),
}

#: Seconds for cases to take down what is theirs.
PATIENCE = 1200


def main(argv=None):
    args, words = _parse(argv)
    results = (args.results or pathlib.Path('.proofs', args.name)).absolute()
    results.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = ['list'] if args.list else [
        'run', '--concurrency', str(PROOFS[args.name][1])]
    with contextlib.ExitStack() as stack:
        folder = (args.directory or pathlib.Path(stack.enter_context(
            tempfile.TemporaryDirectory(prefix='proof-', dir='/tmp')))
        ).absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / 'up').unlink(missing_ok=True)
        stack.callback(_down, folder, bool(args.directory))
        settings = {'FOLDER': str(folder), 'RESULTS': str(results)}
        stestr = ['--config', str(TOP / 'tests/proofs/stestr.conf'),
                  '--test-path',
                  f'./tests/proofs/{args.name.replace("-", "_")}',
                  '--repo-url', str(results)]
        if not (results / '.stestr').exists():
            _stestr([*stestr, 'init'], settings)
        code = _stestr([*stestr, *command, *words], settings)
    tables.collect(results)
    return code


def _parse(argv):
    parser = argparse.ArgumentParser(
        prog='python -m tests.proofs', allow_abbrev=False,
        description='Run a proof with stestr. All other arguments are for '
        '"stestr run", such as regular expressions of cases and --failing.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='\n'.join(f'{name:16} {text}'
                         for name, (text, _jobs) in PROOFS.items()))
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


def _stestr(words, settings):
    """Run stestr; its workers end with it."""
    process = processes.start(
        [sys.executable, '-m', 'stestr', *words], cwd=TOP,
        start_new_session=True, env={**os.environ, **{
            f'{proofs.PREFIX}{name}': value
            for name, value in settings.items()}})
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


def _down(folder, keep):
    """Take down all sandboxes, and end the programs of cases."""
    runmarks.sweep(folder / 'programs')
    with contextlib.ExitStack() as stack:
        for path in [] if keep else (folder / 'boxes').glob('*'):
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
