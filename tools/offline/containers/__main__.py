# SPDX-License-Identifier: Apache-2.0

"""A separate container engine, for machines without a Docker daemon.

``docker.sh`` runs it in an environment of its own.
"""

import argparse
import pathlib
import shlex
import sys

from magnum_capi.cli import endings
from magnum_capi import progress
from tools.offline import containers
from tools.offline.containers import engine


def main(argv=None) -> int:
    """Run a command; returns its exit code."""
    args = _parser().parse_args(argv)
    return endings.program(lambda: args.call(args))


def _parser():
    parser = argparse.ArgumentParser(
        prog='tools/offline/docker.sh', description='A container engine in '
        'separate namespaces, on machines without a Docker daemon.')
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    check = commands.add_parser(
        'check', help='check whether containers can run on this machine',
        description='Check whether containers can run on this machine. Exit '
        'code: 0 they can, 1 they cannot; the output says why.')
    check.set_defaults(call=_check)
    up = commands.add_parser(
        'up', help='start the engine', description='Start the engine, unless '
        'it runs. Prints the environment variables for docker and other '
        'clients, to use with "eval".')
    up.set_defaults(call=_up)
    down = commands.add_parser(
        'down', help='stop the engine', description='Stop the engine and its '
        'containers; keep only the images.')
    down.set_defaults(call=_down)
    for command in (up, down):
        command.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help='folder of the engine (default: "containers" in the state '
                 'folder)')
    return parser


def _check(args):
    problem = containers.problem(engine.default_store())
    print(problem or 'Containers can run here')
    return 1 if problem else 0


def _up(args):
    access = _engine(args).up(progress.Progress())
    for name, value in access.environment.items():
        print(f'export {name}={shlex.quote(value)}')
    return 0


def _down(args):
    _engine(args).down()
    return 0


def _engine(args):
    return containers.Engine(args.directory or engine.default_directory())


if __name__ == '__main__':
    sys.exit(main())
