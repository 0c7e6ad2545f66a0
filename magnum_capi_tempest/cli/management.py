# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi management``: a separate management cluster."""

import argparse
import pathlib
import sys
import typing

from cliff import command

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress

# Commands import what they call only when they run: "magnum-capi --help" loads
# every command.


class _OfDirectory(command.Command):

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='Folder of the cluster (default: "management" in the state '
                 'folder).')
        return parser


class Up(_OfDirectory, base.Command):
    """Start a management cluster with Cluster API on this machine.

    Prints the path of its kubeconfig. Does nothing if it is already up.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--backend', default='processes',
            help='Where Cluster API runs: "processes" on a loopback network '
                 '(the default), or pods in "minikube", in your Docker.')
        parser.add_argument(
            '--addon-provider', action='store_true',
            help='Also install the addon provider, which charts install '
                 'addons with; only with the backend "minikube".')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        from magnum_capi_tempest.management import standalone
        if args.backend not in standalone.BACKENDS:
            raise errors.UsageError(
                f'Unknown backend {args.backend!r}',
                hint=f'Use one of: {", ".join(standalone.BACKENDS)}')
        directory = args.directory or standalone.default_directory()
        if args.backend == 'minikube':
            self._hosted(args, directory)
            return
        if args.addon_provider:
            raise errors.UsageError(
                '--addon-provider: only valid with --backend minikube')
        plane = standalone.up(directory, progress.Progress())
        print(plane.kubeconfig)

    def _hosted(
            self, args: argparse.Namespace, directory: pathlib.Path) -> None:
        from magnum_capi_tempest.management import hosted
        cluster = hosted.up(
            directory, progress.Progress(), args.addon_provider)
        for name in cluster.stand_ins:
            print(f'stand-in, not upstream\'s: {name}', file=sys.stderr)
        print(cluster.kubeconfig)


class Down(_OfDirectory, base.Command):
    """Stop the management cluster and remove all of its files."""

    def take_action(self, args: argparse.Namespace) -> None:
        from magnum_capi_tempest.management import standalone
        directory = args.directory or standalone.default_directory()
        known = directory.is_dir()
        standalone.down(directory, progress.Progress())
        if not known:
            print(f'There is no management cluster ({directory})',
                  file=sys.stderr)


class Status(_OfDirectory, base.Verdict, base.Lister):
    """Show the state of the management cluster and its programs.

    Memory and CPU time of pods are not known here. Exit code: 0 all programs
    are ready, 1 some are not, or none is running.
    """

    def take_action(self, args: argparse.Namespace) -> typing.Any:
        from magnum_capi_tempest.management import standalone
        directory = args.directory or standalone.default_directory()
        found = standalone.status(directory)
        self.code = int(not found or not all(ready for _, ready in found))
        print(f'kubeconfig: {standalone.kubeconfig(directory)}' if found else
              f'No management cluster is running in {directory}',
              file=sys.stderr)
        return ('Program', 'State', 'Ready', 'PID', 'Memory MiB', 'CPU s'), [
            (one.name, one.state, ready, one.pid or '',
             round(one.memory / 2**20) if one.pid else '',
             round(one.cpu, 1) if one.pid else '')
            for one, ready in found]


class Check(base.Judging):
    """Check that a management cluster has what drivers and tests need.

    Checks the kinds that its API server serves, the providers that are running
    and their releases, the versions of Kubernetes that these support, and the
    permissions of the kubeconfig's user. The management cluster may be any,
    not only one of "management up".

    Exit code: 0 nothing is missing, 1 something is, 2 the kubeconfig cannot be
    used, 3 the management cluster does not answer.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--kubeconfig', type=pathlib.Path, metavar='FILE',
            help='Kubeconfig of the management cluster (default: the one of '
                 '"management up").')
        parser.add_argument(
            '--no-addon-provider', action='store_true',
            help='Do not require the addon provider.')
        parser.add_argument(
            '--kubernetes', action='append', default=[], metavar='VERSION',
            help='Also check that Cluster API serves clusters of this version '
                 '(can be repeated).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        from magnum_capi_tempest.management import hosted
        from magnum_capi_tempest.management import inspection
        from magnum_capi_tempest.management import standalone
        directory = standalone.default_directory()
        made = {} if args.kubeconfig else hosted.record(directory) or {}
        report = inspection.inspect(
            args.kubeconfig or standalone.kubeconfig(directory),
            not args.no_addon_provider and made.get('addon_provider', True),
            args.kubernetes)
        for line in report.providers:
            print(f'provider: {line}')
        for line in report.stand_ins:
            print(f'stand-in, not upstream\'s: {line}')
        for line in report.notes:
            print(f'note: {line}')
        for line in report.problems:
            print(line)
        if not report.problems:
            print(f'{report.server} serves all {report.seen} kinds')
        return 1 if report.problems else 0
