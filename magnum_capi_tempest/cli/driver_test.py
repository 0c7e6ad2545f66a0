# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver test``: which promises does a driver keep?

It tests on a cloud. Tests in a sandbox are of another distribution, see
:data:`GROUP`.
"""

import argparse
import importlib.metadata
import pathlib
import sys
import types

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import driver_report
from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.workspace import conf
from magnum_capi_tempest.workspace import folder as workspaces
from magnum_capi_tempest.workspace import runs

#: Entry points of modules that test a driver elsewhere. "sandbox" has three
#: functions: add_arguments(parser), check(args), and run(args, folder, ended)
#: with the results of :func:`of_cloud`.
GROUP = 'magnum_capi_tempest.driver_test'


def _in_sandbox() -> types.ModuleType | None:
    """The module that tests in a sandbox, if it is installed."""
    found = importlib.metadata.entry_points(group=GROUP, name='sandbox')
    return next(iter(found)).load() if found else None


class Test(base.Judging):
    """Test a driver in a sandbox or on a cloud, and write a report.

    If it is interrupted by Ctrl-C, SIGTERM or a closed terminal, or Tempest
    ends early, the report covers the tests that have run so far; on a cloud,
    what they left is listed with the commands that remove it. Exit code: 0
    all core promises are kept, 1 some are not, or something was left behind in
    the sandbox, 3 the driver could not be tested, or not to the end.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'what', nargs='?', metavar='FOLDER|WHEEL|REQUIREMENT',
            help='Distribution of the driver; it is tested in a new sandbox, '
                 'which is taken down afterwards.')
        parser.add_argument(
            '--driver', default='', metavar='NAME',
            help='Entry point of the driver in magnum.drivers (default: the '
                 'only one of the distribution).')
        parser.add_argument(
            '--profile', action='append', default=[],
            choices=promises.PROFILES,
            help='Test only this profile; may be repeated (default: all '
                 'profiles that the driver declares).')
        parser.add_argument(
            '--core', action='store_true',
            help='Test core promises only.')
        parser.add_argument(
            '--everything', action='store_true',
            help="Also run the tests of Magnum's API.")
        parser.set_defaults(directory=None)
        self._in_sandbox = _in_sandbox()
        if self._in_sandbox:
            self._in_sandbox.add_arguments(parser)
        parser.add_argument(
            '--description', type=pathlib.Path, metavar='FILE',
            help='magnum-capi.yaml for a driver whose distribution has none.')
        tempest.add_cloud(parser.add_argument_group(
            'to test on a cloud instead of in a sandbox'), always=False)
        parser.add_argument(
            '-c', '--concurrency', type=int,
            help='Number of parallel workers, limited by the users of the '
                 'cloud (default: 2; in a sandbox as for "sandbox tempest").')
        parser.add_argument(
            '--option', type=tempest.options, action='extend',
            default=[], metavar='NAME=VALUE', help='Option to set in '
            '[magnum_capi] of tempest.conf; may be repeated; "-" reads lines '
            'from standard input.')
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='Folder for the reports (default: a new one below the state '
                 'folder).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        if sum(map(bool, (args.what, args.cloud, args.directory))) != 1:
            raise errors.UsageError(
                'Exactly one of these is required: the distribution of a '
                'driver, --cloud, or --directory')
        if args.cloud and not (args.image and args.driver):
            raise errors.UsageError('--cloud requires --image and --driver')
        if self._in_sandbox:
            self._in_sandbox.check(args)
        elif args.what:
            raise errors.EnvironmentProblem(
                'The driver is tested in a sandbox, and there is none here',
                where=sys.prefix, hint='Run pip install . ./sandbox in a '
                'checkout of the repository, or test on a cloud with --cloud')
        folder = (args.output or runs.new_results('driver-')).absolute()
        ended = driver_report.Ended()
        run = of_cloud if args.cloud or not self._in_sandbox \
            else self._in_sandbox.run
        found, left = run(args, folder, ended)
        if left:
            # Before the verdict: it may be long.
            print(left)
        driver_report.publish(found, folder)
        ended.go_on()
        return int(not forms.good([found])
                   or bool(left and left.leaks))


def of_cloud(args: argparse.Namespace, folder: pathlib.Path,
             ended: driver_report.Ended) -> tuple[report.Report, None]:
    """Run the suite on a cloud, which others may use at the same time."""
    described = driver_report.description(args.description, args.driver)
    asked = driver_report.asked(args, described)
    options = {} if not described else {
        **described.tempest,
        'not_promised': ','.join(described.unsupported)}
    workspace = folder / 'workspace'
    choice = tempest.init(
        workspace, args, args.driver, options=tuple(args.option),
        of_driver=lambda name: options)
    stream = folder / runs.STREAM
    etc = workspace / workspaces.ETC
    with ended.run(stream), leaks.reported(etc, stream):
        runs.run(workspace, ['--regex', driver_report.regex(args, asked),
                             '--concurrency', conf.concurrency(
                                 2 if args.concurrency is None
                                 else args.concurrency, choice.workers)],
                 stream, etc=etc)
    return driver_report.judged(
        stream, report.of_driver(described, args.driver), described,
        {'magnum': f'{judge.MICROVERSION}{choice.microversions[1]}'}, 'server',
        asked, ended), None
