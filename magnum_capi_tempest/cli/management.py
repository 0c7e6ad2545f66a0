# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""``magnum-capi management``: a management cluster of its own."""

import pathlib

from magnum_capi_tempest.cli import base
from magnum_capi_tempest import errors
from magnum_capi_tempest import progress

# What a command calls is imported when it runs: "magnum-capi --help" loads
# every command.


class _OfDirectory(base.Command):

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='Folder of the cluster; "management" in the state folder '
                 'by default.')
        return parser


class Up(_OfDirectory):
    """Bring up a management cluster with Cluster API on this machine.

    Prints the path of its kubeconfig. Does nothing when it is up.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--backend', default='processes',
            help='Where Cluster API runs; "processes" (the default): plain '
                 'processes on a loopback network.')
        return parser

    def take_action(self, args):
        from magnum_capi_tempest.management import standalone
        if args.backend not in standalone.BACKENDS:
            raise errors.UsageError(
                f'There is no backend {args.backend!r}',
                hint=f'Known are: {", ".join(standalone.BACKENDS)}')
        plane = standalone.up(
            args.directory or standalone.default_directory(),
            progress.Progress())
        print(plane.kubeconfig)


class Down(_OfDirectory):
    """Stop the management cluster and remove everything of it."""

    def take_action(self, args):
        from magnum_capi_tempest.management import standalone
        standalone.down(args.directory or standalone.default_directory())


class Status(_OfDirectory):
    """Show the programs of the management cluster.

    Exit code: 0 all of them are ready, 1 some are not, or none runs.
    """

    def take_action(self, args):
        from magnum_capi_tempest.management import standalone
        directory = args.directory or standalone.default_directory()
        found = standalone.status(directory)
        for line in table(found):
            print(line)
        if not found:
            print(f'No management cluster runs in {directory}')
            return 1
        print(f'kubeconfig: {standalone.kubeconfig(directory)}')
        return 0 if all(ready for _, ready in found) else 1


class Check(base.Command):
    """Check that a management cluster serves what the tests need.

    Exit code: 0 nothing is missing, 1 something is.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--kubeconfig', type=pathlib.Path, metavar='FILE',
            help='Of the management cluster; the one of "management up" by '
                 'default.')
        return parser

    def take_action(self, args):
        from magnum_capi_tempest.management import client
        from magnum_capi_tempest.management import requirements
        from magnum_capi_tempest.management import standalone
        api = client.from_kubeconfig(
            args.kubeconfig
            or standalone.kubeconfig(standalone.default_directory()))
        missing = requirements.missing(requirements.served(api))
        for requirement in missing:
            print(f'missing: {requirement} ({requirement.provider})')
        if not missing:
            print(f'{api.server} serves all {len(requirements.ALL)} kinds')
        return 1 if missing else 0


def table(found) -> list[str]:
    """Lines for (:class:`..supervision.Status`, ready) pairs; pure."""
    if not found:
        return []
    lines = [f'{"PROGRAM":26}{"STATE":10}{"READY":7}{"PID":>8}'
             f'{"RSS MiB":>9}{"CPU s":>8}']
    for s, ready in found:
        lines.append(
            f'{s.name:26}{s.state:10}{"yes" if ready else "no":7}'
            f'{s.pid or "-":>8}{s.rss / 2**20:9.0f}{s.cpu:8.1f}')
    total = sum(s.rss for s, _ in found) / 2**20
    lines.append(f'{"all":43}{"":8}{total:9.0f}'
                 f'{sum(s.cpu for s, _ in found):8.1f}')
    return lines
