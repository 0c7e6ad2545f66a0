# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver test``: which promises does a driver keep?"""

import contextlib
import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.cli import driver_report
from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest.cli import sandbox as box_commands
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import paths
from magnum_capi_tempest import promises
from magnum_capi_tempest import report as reports
from magnum_capi_tempest import sandbox
from magnum_capi_tempest.sandbox import drivers
from magnum_capi_tempest.sandbox import hints
from magnum_capi_tempest.sandbox import nodes
from magnum_capi_tempest.sandbox import record as records
from magnum_capi_tempest.sandbox import tempest_run
from magnum_capi_tempest.sandbox import usable_drivers
from magnum_capi_tempest.sandbox import versions
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.toolchain import lock
from magnum_capi_tempest.workspace import concurrency
from magnum_capi_tempest.workspace import folder as workspaces
from magnum_capi_tempest.workspace import runs

_NODES = {nodes.MEMORY: 'memory', nodes.DOCKER: 'container'}


class Test(base.Judging):
    """Test a driver in a sandbox or on a cloud, and write a report.

    If it is interrupted by Ctrl-C, SIGTERM or a closed terminal, or Tempest
    ends early, the report covers the tests that have run so far; on a cloud,
    what they left is listed with the commands that remove it. Exit code: 0
    all core promises are kept, 1 some are not, or something was left behind in
    the sandbox, 3 the driver could not be tested, or not to the end.
    """

    def get_parser(self, prog_name):
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
        parser.add_argument(
            '--magnum', metavar='RELEASE',
            help='Release of Magnum, as for "sandbox up".')
        box_commands.add_nodes(parser)
        parser.add_argument(
            '--keep', action='store_true',
            help='Do not take the sandbox down afterwards.')
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='BOX',
            help='Folder of a running sandbox that has the driver; it is not '
                 'taken down.')
        parser.add_argument(
            '--description', type=pathlib.Path, metavar='FILE',
            help='magnum-capi.yaml for a driver whose distribution has none.')
        tempest.add_cloud(parser.add_argument_group(
            'to test on a cloud instead of in a sandbox'), required=False)
        parser.add_argument(
            '-c', '--concurrency', type=int,
            help='Number of parallel workers, limited by the users of the '
                 'cloud (default: 2; in a sandbox as for "sandbox tempest").')
        parser.add_argument(
            '--option', type=box_commands.option, action='append',
            default=[], metavar='NAME=VALUE', help='Option to set in '
            '[magnum_capi] of tempest.conf; may be repeated.')
        parser.add_argument(
            '--folder', type=pathlib.Path, metavar='DIR',
            help='Folder for the reports (default: a new one below the state '
                 'folder).')
        return parser

    def act(self, args):
        if sum(map(bool, (args.what, args.cloud, args.directory))) != 1:
            raise errors.UsageError(
                'Exactly one of these is required: the distribution of a '
                'driver, --cloud, or --directory')
        if args.cloud and not (args.image and args.driver):
            raise errors.UsageError('--cloud requires --image and --driver')
        if not args.what and (args.nodes or args.infrastructure):
            raise errors.UsageError(
                '--nodes and --infrastructure are for a new sandbox')
        if args.what:
            # Fail here: it takes minutes to start a sandbox.
            drivers.requirement(args.what)
        folder = (args.folder or runs.new_results('driver-')).absolute()
        ended = _Ended()
        found, left = (of_cloud if args.cloud else of_sandbox)(
            args, folder, ended)
        driver_report.publish(found, folder)
        ended.go_on()
        if left:
            print(left)
        return int(found.verdict != judge.PASSED
                   or bool(left and left.leaks))


class _Ended:
    """Delays what has ended a run early until there is a report."""

    def __init__(self) -> None:
        self._by: BaseException | None = None

    def __bool__(self) -> bool:
        return self._by is not None

    @contextlib.contextmanager
    def run(self, stream):
        """Handle the early end of the run recorded in this stream."""
        earlier = _stamp(stream)
        try:
            yield
        except runs.RunCutOff as e:
            self._by = e
        except (KeyboardInterrupt, SystemExit) as e:
            # The folder may have the stream of an earlier run.
            if _stamp(stream) in (None, earlier):
                raise
            self._by = e

    def go_on(self) -> None:
        if self._by is not None:
            raise self._by


def _stamp(path):
    """A value that changes when the file is replaced; None: there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def of_sandbox(args, folder, ended
               ) -> tuple[report.Report, model.Left | None]:
    """Run the suite in a sandbox, and see what it leaves there."""
    stream = folder / tempest_run.STREAM
    left = None
    with _box(args) as box:
        made = versions.made(box)
        usable = usable_drivers.drivers(box)
        name = _chosen(args, box, usable)
        described = (driver_report.described_by(args.description, name)
                     or usable_drivers.description(box, name))
        asked = _asked(args, described)
        with ended.run(stream):
            *_, left = box_commands.run(box, tempest_run.Order(
                regex=regex(args, asked), driver=name, results=folder,
                concurrency=args.concurrency, promise='driver',
                described=described, options=(
                    *usable_drivers.clashing(usable), *args.option)))
        kind = records.require_ready(box.directory).nodes.kind
    about = report.of_driver(described, name)
    if name in made.drivers:
        about['distribution'] = ' '.join(made.drivers[name])
    return judged(stream, about, described, made.versions, _NODES[kind],
                  asked, ended), left


@contextlib.contextmanager
def _box(args):
    """A running sandbox: the user's own, or one for this test."""
    if args.directory:
        yield sandbox.Sandbox(args.directory)
        return
    box = sandbox.Sandbox(paths.state() / 'driver-test')
    say = progress.Progress()
    with lock.hold(records.lock_file('driver-test', box.directory),
                   'tests a driver', say):
        kept = box.directory / 'kept'
        if kept.exists():
            raise errors.UsageError(
                'The sandbox of an earlier test was kept',
                where=box.directory,
                hint='To take it down: '
                     f'{hints.command("down", box.directory)}; or use '
                     '--directory to test in it')
        if box.directory.exists():
            # Of a test that was killed, with its build of the driver.
            box.down(say)
        # If it fails it leaves nothing.
        box.up(sandbox.Spec(
            install=(args.what,), magnum=args.magnum, nodes=args.nodes,
            infrastructure=args.infrastructure), say)
        try:
            yield box
        finally:
            if args.keep:
                kept.touch()
                say.info('The sandbox is still up. To take it down: '
                         f'{hints.command("down", box.directory)}')
            else:
                box.down(say)


def _chosen(args, box, usable):
    """The driver to test: the one that is named, or the only one."""
    if not args.driver:
        return usable_drivers.to_test(box)
    if args.driver not in usable:
        raise errors.UsageError(
            f'The driver {args.driver} cannot be used',
            where=args.what or args.directory,
            last_seen='; '.join((
                f'drivers that can be used: {", ".join(usable) or "none"}',
                *usable_drivers.others(box))),
            hint='Name another with --driver')
    return args.driver


def of_cloud(args, folder, ended) -> tuple[report.Report, None]:
    """Run the suite on a cloud, which others may use at the same time."""
    described = driver_report.description(args.description, args.driver)
    asked = _asked(args, described)
    options = {} if not described else {
        **described.tempest,
        'not_promised': ','.join(described.unsupported)}
    workspace = folder / 'workspace'
    choice = tempest.init(workspace, args, args.driver, options=(
        *((key, text) for key, text in options.items() if text),
        *args.option))
    stream = folder / tempest_run.STREAM
    etc = workspace / workspaces.ETC
    with ended.run(stream), leaks.telling(etc, stream):
        runs.run(workspace, ['--regex', regex(args, asked),
                             '--concurrency', concurrency.limit(
                                 2 if args.concurrency is None
                                 else args.concurrency, choice.workers)],
                 stream, etc=etc)
    return judged(
        stream, report.of_driver(described, args.driver), described,
        {'magnum': f'{judge.MICROVERSION}{choice.microversions[1]}'}, 'server',
        asked, ended), None


def _asked(args, described):
    """Profiles to test.

    :raises UsageError: the description names unknown promises, which would
        exclude nothing.
    """
    wrong = described and promises.unknown_names(
        (*described.unsupported, *described.known_issues))
    if wrong:
        raise errors.UsageError(
            f'Unknown promises: {", ".join(wrong)}',
            where=described.where,
            hint=f'All promises are in {promises.REGISTRY}')
    supported = described.profiles if described else promises.PROFILES
    return tuple(args.profile or supported)


def regex(args, asked) -> str:
    """Regular expression of the tests that a report needs."""
    if args.everything:
        return tempest_run.DEFAULT
    known = promises.known()
    wanted = [test.id.replace('.', r'\.') for test in suite.tests()
              if test.promise and known[test.promise].profile in asked
              and (known[test.promise].core or not args.core)]
    return rf'{suite.PACKAGE}\.({"|".join(wanted)})(\[|$)'


def judged(stream, about, described, made, kind, asked,
           ended=False) -> report.Report:
    """Judge a recorded run, and write the reports of its tests beside it.

    :param ended: not all of its tests have run.
    """
    title = about['name']
    if 'distribution' in about:
        title += f' ({about["distribution"]})'
    run = reports.summarise(
        stream, stream.parent, title,
        {**made, 'driver': about['name']},
        outcome='interrupted' if ended else '')
    return report.of_run(
        run, driver_report.digest(stream), about, described,
        {'suite': driver_report.suite_version(), **made}, kind, asked,
        ['The run was interrupted before all of its tests had run']
        if ended else ())
