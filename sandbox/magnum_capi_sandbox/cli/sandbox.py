# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi sandbox ...``: a whole cloud on loopback."""

import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import typing

from cliff import command

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox import access
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import magnum_wheel
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec as specs
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest.cli import tempest as of_tempest
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import report
from magnum_capi_tempest.workspace import runs

_RELEASES = ', '.join(f'{r.name} ({r.version})' for r in releases.RELEASES)


class _OfSandbox(command.Command):
    """Adds the option that every command of this group has."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='folder of the sandbox; sandboxes in different folders can '
                 'run side by side (default: '
                 f'{hints.default_directory()})')
        return parser


class Up(_OfSandbox, base.Command):
    """Start a sandbox, or the stopped programs of an existing one."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--profile', help='services that the sandbox has, one of: '
            f'{", ".join(profiles.PROFILES)} (default: {profiles.DEFAULT})')
        parser.add_argument(
            '--chart', type=pathlib.Path, metavar='DIR',
            help='folder of the Helm chart that drivers use, for example the '
                 'chart openstack-cluster of capi-helm-charts with its '
                 'dependencies (default: sandbox/charts/sandbox-cluster)')
        parser.add_argument(
            '--port-base', type=int, metavar='N',
            help='first port that the sandbox uses (default: 25000)')
        parser.add_argument(
            '--install', action='append', default=[], metavar='REQ',
            help='install a Magnum driver from a folder, a wheel, an archive '
                 'or a requirement; may be repeated')
        parser.add_argument(
            '--magnum-conf', action='append', default=[], type=pathlib.Path,
            metavar='FILE', help="file to add to Magnum's configuration; may "
            'be repeated, later files override earlier ones')
        parser.add_argument(
            '--discovery-filter', action='store_true',
            help="add the driver discovery filter to Magnum's API")
        parser.add_argument(
            '--clash', action='store_true',
            help='install k8s_capi_v1, which clashes with magnum-capi-helm, '
                 'and peculiar drivers, for tests of driver discovery')
        add_nodes(parser)
        parser.add_argument(
            '--management', choices=standalone.BACKENDS,
            help='where Cluster API runs: processes of this machine, or pods '
                 'in minikube, in the Docker of --nodes docker, with '
                 '--infrastructure openstack (default: '
                 f'{standalone.BACKENDS[0]})')
        magnum = parser.add_mutually_exclusive_group()
        magnum.add_argument(
            '--magnum', metavar='RELEASE',
            help=f'release of Magnum, by name or major version: {_RELEASES}; '
                 'or a checkout or wheel of Magnum (default: '
                 f'{releases.NEWEST.name})')
        magnum.add_argument(
            '--magnum-patches', dest='magnum', action='store_const',
            const=magnum_wheel.PATCHED,
            help=f'use {releases.NEWEST.name} from PyPI with the patches of '
                 'upstream/magnum, in a virtual environment of its own')
        parser.add_argument(
            '--rate-limiting', action='store_true',
            help='limit the controllers of Cluster API to one reconcile a '
                 'second per object, as upstream does by default; operations '
                 'take longer')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        box = sandbox.Box(args.directory)
        say = progress.Progress()
        wish: dict[str, typing.Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in vars(args).items() if name in specs.WISHES}
        spec = box.up(sandbox.Spec(**wish), say)
        say.info(f'Ready: Keystone at {box.layout().auth_url}, profile '
                 f'{spec.profile}. To use it: eval '
                 f'"$({hints.command("env", box.directory)})"')


class Down(_OfSandbox, base.Command):
    """Stop a sandbox and remove all of its files."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--force', action='store_true',
            help='also remove a sandbox whose record cannot be read, because '
                 'it is damaged or of another version of this program')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        sandbox.Box(args.directory).down(progress.Progress(), args.force)


class Status(_OfSandbox, base.Lister):
    """Show the state of a sandbox and its programs.

    Exit code: 0 all programs are running, 1 some are not, or there is no
    sandbox.
    """

    def take_action(self, args: argparse.Namespace
                    ) -> tuple[tuple[str, ...], list[tuple[typing.Any, ...]]]:
        box = sandbox.Box(args.directory)
        try:
            found = box.status()
        except errors.UsageError as e:
            # Not the exit code of an invalid command line: scripts that start
            # a sandbox if there is none must be able to tell these apart.
            raise errors.MagnumCapiError(
                e.what, where=e.where, hint=e.hint) from e
        if args.formatter == 'table':
            print(_about(box), file=self.app.stdout)
        self._bad = not found or any(s.state != 'RUNNING' for s in found)
        rows = [(s.name, s.state, s.pid or '', round(s.memory / 2**20),
                 round(s.cpu, 1)) for s in found]
        rows.append(('total', '', '', sum(r[3] for r in rows),
                     round(sum(r[4] for r in rows), 1)))
        return ('Program', 'State', 'PID', 'Memory MiB', 'CPU s'), rows

    def run(self, parsed_args: argparse.Namespace) -> int:
        return super().run(parsed_args) or int(self._bad)


def _about(box: sandbox.Box) -> str:
    """What a sandbox is, in a few lines."""
    spec = box.spec()
    return '\n'.join((
        f'Folder: {box.directory}',
        f'Keystone: {box.layout().auth_url}',
        f'Profile: {spec.profile}, infrastructure: {spec.infrastructure}, '
        f'nodes: {spec.nodes}, Cluster API: {spec.management}',
        f'Magnum: {spec.release}',
        'Versions: ' + ', '.join(
            f'{name} {version}' for name, version in spec.versions.items())))


class List(base.Lister):
    """List the sandboxes that run, and the one in the default folder."""

    def take_action(self, args: argparse.Namespace
                    ) -> tuple[tuple[str, ...], list[tuple[typing.Any, ...]]]:
        rows: list[tuple[typing.Any, ...]] = []
        for directory in sandbox.running():
            try:
                spec = specs.load(directory)
                rows += [(
                    str(directory), 'up' if spec.ready else 'incomplete',
                    spec.layout(directory).auth_url, spec.profile,
                    str(spec.release))] if spec else []
            except errors.UsageError:
                # Damaged, or with a release that this version does not know.
                rows.append((str(directory), 'unreadable', '', '', ''))
        return ('Folder', 'State', 'Keystone', 'Profile', 'Magnum'), rows


class Logs(_OfSandbox, base.Command):
    """Print the logs of a sandbox's programs."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('program', nargs='*',
                            help='names of programs, as shown by "sandbox '
                                 'status"')
        parser.add_argument('-n', '--lines', type=int, default=50,
                            help='number of last lines of each log to print '
                                 '(default: 50)')
        parser.add_argument('-f', '--follow', action='store_true',
                            help='keep printing new lines')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        sandbox.Box(args.directory).logs(
            args.program, args.lines, args.follow, self.app.stdout)


class Env(_OfSandbox, base.Command):
    """Print shell commands that make other programs use a sandbox.

    They unset the OS_* variables of another cloud. Also writes a workspace for
    Tempest, without changing files in it that you have edited.
    """

    def take_action(self, args: argparse.Namespace) -> None:
        box = sandbox.Box(args.directory)
        say = progress.Progress()
        workspace = tempest_run.workspace(box.directory)
        made = not workspace.exists()
        kept = tempest_run.prepare_for_user(box)
        if made:
            say.info(f'Made a workspace for Tempest: {workspace}')
        for path in kept:
            say.info(f'Edited, so not made anew: {path}. Rename it to get '
                     'a new one')
        wanted = box.env() | access.beside_proxy(box.layout(), os.environ)
        # To the openstack client these come before clouds.yaml: it would use
        # the cloud of a sourced openrc file, not OS_CLOUD.
        for name in sorted(os.environ):
            if re.fullmatch(r'OS_\w+', name, re.ASCII) and name not in wanted:
                print(f'unset {name}', file=self.app.stdout)
        for name, value in wanted.items():
            print(f'export {name}={shlex.quote(value)}',
                  file=self.app.stdout)


class Set(_OfSandbox, base.Command):
    """Change Magnum's configuration and restart Magnum."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--no-restart', action='store_true',
            help='only write the configuration; options that Magnum reads at '
                 'start take effect at its next restart')
        parser.add_argument(
            'change', nargs='+', metavar='GROUP.OPTION=VALUE',
            help='option to set, for example '
                 'drivers.default_driver=k8s_capi_helm_v1; an empty VALUE '
                 'undoes an earlier change; "-" reads lines from standard '
                 'input')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        sandbox.Box(args.directory).set(
            [line for word in args.change for line in of_tempest.lines(word)],
            not args.no_restart, progress.Progress())


class Tempest(_OfSandbox, base.Judging):
    """Run Tempest against a sandbox and report on it.

    Exit code: 0 all tests passed, 1 some failed, or left something behind, 2
    wrong usage, 3 none ran, Tempest ended before all had run, or it is unknown
    what is left.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            '-r', '--regex', help='regular expression of the tests to run, as '
            f'for "tempest run" (default: {runs.SUITE})')
        which.add_argument(
            '--quick', dest='regex', action='store_const',
            const=tempest_run.QUICK,
            help='only the life of a cluster and, if there are two drivers of '
                 'one type, of a cluster of each, side by side')
        parser.add_argument(
            '--driver', help='Magnum driver that cluster templates name '
            '(default: the one of "up --install" or of "up --clash", else the '
            'one that Magnum chooses)')
        parser.add_argument(
            '--third-party', action='store_true',
            help='run the API tests of magnum-tempest-plugin, except the slow '
                 'ones, instead of ours; needs the extra "thirdparty", and '
                 'a sandbox without --clash')
        parser.add_argument(
            '-c', '--concurrency', type=int,
            help='number of parallel workers (default: 2, or up to 4, two for '
                 'each processor, if all machines are in memory)')
        parser.add_argument(
            '--promise', choices=tempest_run.PROMISES, default='kept',
            help='promises to test: those that this sandbox is known to keep, '
                 'also all of driver discovery, also all of drivers, or all, '
                 'to see what fails (default: kept)')
        parser.add_argument(
            '--option', type=of_tempest.options, action='extend', default=[],
            metavar='NAME=VALUE', help='option to set in [magnum_capi] of '
            'tempest.conf; may be repeated; "-" reads lines from standard '
            'input')
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='folder for the reports (default: a new one below the state '
                 'folder)')
        parser.add_argument(
            'arguments', nargs='*', metavar='-- ARGUMENTS',
            help='more arguments for "tempest run"')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        box = sandbox.Box(args.directory)
        driver = args.driver
        if not driver and not args.third_party:
            driver = tempest_run.chosen(box)
        return tempest(box, tempest_run.Order(
            regex=args.regex, driver=driver,
            third_party=args.third_party, concurrency=args.concurrency,
            promise=args.promise, options=tuple(args.option),
            arguments=tuple(args.arguments), results=args.output))


def add_nodes(parser: argparse.ArgumentParser) -> None:
    """Add the options for where clusters run."""
    parser.add_argument(
        '--nodes', choices=nodes.KINDS,
        help='kind of cluster nodes: simulated in memory, ready at once and '
             'without pods, or containers in your Docker '
             f'(default: {nodes.MEMORY})')
    parser.add_argument(
        '--infrastructure', choices=infrastructure.KINDS,
        help='infrastructure of the clusters: machines and networks simulated '
             'in memory, or servers, ports and load balancers of a real Nova, '
             'Neutron and Octavia, with only the hypervisor replaced '
             f'(default: {infrastructure.MEMORY}, unless a driver needs more '
             'services)')


def tempest(box: sandbox.Box, order: tempest_run.Order) -> int:
    """Run Tempest and show the result; returns the exit code."""
    title, races = 'tempest run', {}
    if not order.third_party:
        name = tempest_run.under_test(box, order)
        title += ' of ' + (usable_drivers.label(box, name)
                           or 'the driver that Magnum chooses')
        order = dataclasses.replace(
            order, described=tempest_run.described(box, order))
        races = order.described.known_races if order.described else {}
    try:
        stream, facts, left = box.tempest(order, progress.Progress())
    except runs.RunCutOff as e:
        report.summarise(e.stream, e.stream.parent, title,
                         outcome='interrupted', races=races)
        raise
    code = report.summarise(stream, stream.parent, title, facts,
                            races=races).exit_code
    print(left)
    # Leftovers of third-party tests are shown, but are not our failure.
    return code or (0 if order.third_party else left.exit_code)
