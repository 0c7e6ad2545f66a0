# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest run``."""

import argparse
import pathlib
import shlex

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest import foreground
from magnum_capi_tempest import report
from magnum_capi_tempest.workspace import conf
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs


class Run(base.Judging):
    """Run Tempest in a workspace and report on it.

    After Ctrl-C, the interrupted tests delete what they created, and the
    command waits for that; after SIGTERM it waits for --grace seconds. Then,
    or when it is interrupted again, it lists what is left, with the commands
    that remove it. Exit code: 0 all tests passed, 1 some failed, 2 wrong
    usage, 3 none ran, or Tempest ended before all tests had run.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        tests = add_tests(parser)
        tests.add_argument(
            '--failed', type=pathlib.Path, metavar='RESULTS',
            help='Run the tests that failed in a run before; its folder of '
                 'results.')
        parser.add_argument(
            '-c', '--concurrency', type=int, default=2,
            help='Number of parallel workers, limited by the users in '
                 'accounts.yaml (default: 2).')
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='Folder for the reports (default: a new one below the state '
                 'folder).')
        parser.add_argument(
            '--grace', type=float, metavar='SECONDS',
            default=foreground.CLEANUP,
            help='Time that interrupted tests get after SIGTERM, or when the '
                 'terminal is closed, to delete what they created (default: '
                 '%(default)s).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        etc = folder.etc_of(args.folder)
        regex = args.regex
        if args.failed:
            regex = report.regex_of_failed(args.failed / runs.STREAM)
            if not regex:
                raise errors.UsageError('No test failed in that run',
                                        where=args.failed)
        results = (args.output or runs.new_results()).absolute()
        facts = {'tests': regex}
        stream = results / runs.STREAM
        again = shlex.join(['magnum-capi', 'tempest', 'run', str(args.folder),
                            '--failed', str(results)])
        try:
            with leaks.reported(etc, stream):
                runs.run(args.folder, [
                    '--regex', regex, '--concurrency', conf.concurrency(
                        args.concurrency, conf.read(etc).workers)],
                    stream, etc=etc, grace=args.grace)
        except runs.RunCutOff as e:
            report.summarise(e.stream, results, 'tempest run', facts,
                             outcome='interrupted', again=again)
            raise
        return report.summarise(stream, results, 'tempest run', facts,
                                again=again).exit_code


def add_tests(parser: argparse.ArgumentParser
              ) -> argparse._MutuallyExclusiveGroup:
    """Add the arguments that name a workspace and tests in it.

    :returns: the group of those that name tests.
    """
    parser.add_argument(
        'folder', metavar='DIR', type=pathlib.Path,
        help='Workspace that "magnum-capi tempest init" created.')
    tests = parser.add_mutually_exclusive_group()
    tests.add_argument(
        '-r', '--regex', default='magnum_capi',
        help='Regular expression of the tests to run, as for "tempest '
             'run" (default: %(default)s).')
    return tests
