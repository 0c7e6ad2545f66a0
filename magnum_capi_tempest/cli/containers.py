# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi containers``: a separate container engine."""

import pathlib
import shlex

from magnum_capi.cli import base
from magnum_capi import progress

# Commands import what they call only when they run: "magnum-capi --help" loads
# every command.


class _OfDirectory(base.Command):

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='Folder of the engine (default: "containers" in the state '
                 'folder).')
        return parser

    def engine(self, args):
        from magnum_capi_tempest import containers
        from magnum_capi_tempest.containers import engine
        return containers.Engine(
            args.directory or engine.default_directory())


class Check(base.Command):
    """Check whether containers can run on this machine.

    Exit code: 0 they can, 1 they cannot; the output says why.
    """

    def take_action(self, args):
        from magnum_capi_tempest import containers
        from magnum_capi_tempest.containers import engine
        problem = containers.problem(engine.default_store())
        print(problem or 'Containers can run here')
        return 1 if problem else 0


class Up(_OfDirectory):
    """Start a container engine in separate namespaces.

    Prints the environment variables for docker and other clients, to use with
    "eval". Does nothing if the engine is already up.
    """

    def take_action(self, args):
        access = self.engine(args).up(progress.Progress())
        for name, value in access.environment.items():
            print(f'export {name}={shlex.quote(value)}')


class Down(_OfDirectory):
    """Stop the engine and its containers; keep only the images."""

    def take_action(self, args):
        self.engine(args).down()


class Status(_OfDirectory):
    """Show the state of the engine and its containers.

    Exit code: 0 the engine is running, 1 it is not.
    """

    def take_action(self, args):
        access = self.engine(args).access()
        if access is None:
            print('No engine is running')
            return 1
        client = access.client()
        try:
            for line in table(client.containers.list(
                    all=True, ignore_removed=True)):
                print(line)
        finally:
            client.close()
        print(f'DOCKER_HOST={access.docker_host}')
        print('network namespace: '
              + shlex.join(access.run_in(['COMMAND'])))
        return 0


def table(found) -> list[str]:
    """Lines for containers of the docker library; pure."""
    lines = [f'{"CONTAINER":32}{"STATE":12}IMAGE']
    for one in sorted(found, key=lambda c: c.name):
        lines.append(f'{one.name:32}{one.status:12}'
                     f'{one.attrs.get("Config", {}).get("Image", "-")}')
    return lines
