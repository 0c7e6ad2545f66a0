# SPDX-License-Identifier: Apache-2.0

"""Builds and checks image archives, for machines without a registry.

``images.sh`` runs it in an environment of its own.
"""

import argparse
import pathlib
import sys

from magnum_capi.cli import endings
from magnum_capi import progress
from magnum_capi_tempest import dockers
from magnum_capi_tempest.toolchain import disk
from tools.offline.images import build
from tools.offline.images import inventory
from tools.offline.images import loading
from tools.offline.images import plan
from tools.offline.images import recipes

#: Images of nodes, and of control planes' load balancers.
_MACHINES = ('node', 'haproxy')


def main(argv=None) -> int:
    """Run a command; returns its exit code."""
    args = _parser().parse_args(argv)
    return endings.program(lambda: args.call(args))


def _parser():
    parser = argparse.ArgumentParser(
        prog='tools/offline/images.sh', description='Image archives for '
        'nodes and pods, on machines without a registry.')
    commands = parser.add_subparsers(required=True, metavar='COMMAND')
    one = commands.add_parser(
        'build', help='build what is missing or out of date',
        description='Build the images of nodes and pods without a registry. '
        'The programs in them come from Go modules and Debian packages. '
        'Archives that are up to date are not rebuilt.')
    one.set_defaults(call=_build)
    one.add_argument(
        '--only', nargs='+', metavar='NAME',
        help='build only these archives, and those that they include')
    two = commands.add_parser(
        'check', help='check that none is missing or broken',
        description='Print a line for each image archive: whether it is '
        'intact, broken or missing. Exit code: 0 all are present and intact, '
        '1 some are not.')
    two.set_defaults(call=_check)
    three = commands.add_parser(
        'load', help='build node images and load them into Docker',
        description='Load the images of nodes, and of the load balancer of '
        'control planes, into Docker, where "magnum-capi sandbox up --nodes '
        'docker" finds them. Builds those that are missing.')
    three.set_defaults(call=_load)
    for command in (one, two, three):
        command.add_argument(
            '--directory', type=pathlib.Path, metavar='DIR',
            help=f'folder of the archives (default: {inventory.VARIABLE}, or '
                 'a folder in the cache)')
        command.add_argument(
            '--kubernetes', action='append', metavar='MINOR',
            help='only for this minor version of Kubernetes, such as 1.36; '
                 'may be repeated (default: all)')
    return parser


def _build(args):
    found = build.build(args.directory, args.only, args.kubernetes,
                        progress.Progress())
    size = sum(one.path.stat().st_size for one in found.values())
    directory = inventory.folder(args.directory)
    print(f'{len(found)} image archives in {directory}, {disk.text(size)}')
    return 0


def _load(args):
    docker, say = dockers.find(), progress.Progress()
    found = build.build(args.directory, _MACHINES, args.kubernetes, say)
    chosen = plan.choose(recipes.load(), _MACHINES, args.kubernetes)
    loading.load([found[r.name] for r in chosen
                  if r.title in _MACHINES], docker, say)
    return 0


def _check(args):
    directory = inventory.folder(args.directory)
    wanted = plan.choose(recipes.load(), None, args.kubernetes)
    files = inventory.files(directory)
    faults = {file: one.fault() if one else 'it is no whole image archive'
              for file, one in files.items()}
    missing = {r.name for r in wanted} - {
        one.name for one in files.values() if one}
    for file, one in files.items():
        if faults[file]:
            print(f'broken: {file.name}: {faults[file]}')
        else:
            print(f'intact: {one.name}: {one.version}, '
                  f'{disk.text(file.stat().st_size)}')
    for name in sorted(missing):
        print(f'missing: {name}')
    if missing or any(faults.values()):
        return 1
    print(f'{len(files)} image archives in {directory} are intact')
    return 0


if __name__ == '__main__':
    sys.exit(main())
