# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver new``: the start of a new driver."""

import argparse
import pathlib
import re
import shlex

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import resources

#: A distribution that can be installed as is; its name occurs in the names and
#: texts of its files.
SKELETON = 'drivers/skeleton'
_WORD = 'skeleton'


class New(base.Command):
    """Write the skeleton of a new driver.

    The skeleton has what Magnum and "driver test" need: a distribution with
    its entry points, a class with the methods that Magnum calls, and a
    description. Every operation fails with a message that it is not
    implemented.

    Exit code: 0 the driver was written, 2 the name is invalid, or the folder
    is not empty.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'name', metavar='NAME',
            help='One word; the driver is called k8s_NAME_v1 and its '
                 'distribution magnum-NAME.')
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='Folder to write it to, new or empty (default: magnum-NAME).')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        # It names a package, a distribution, an entry point and a folder.
        if not re.fullmatch('[a-z][a-z0-9]{0,29}', args.name):
            raise errors.UsageError(
                f'{args.name!r} is not a valid name for a driver',
                hint='Use at most 30 lower-case letters and digits, a letter '
                     'first; "mine" makes the driver k8s_mine_v1')
        folder = args.output or pathlib.Path(f'magnum-{args.name}')
        written = write(args.name, folder)
        for path in written:
            print(path, file=self.app.stdout)
        command = shlex.join(['magnum-capi', 'driver', 'test',
                              str(folder.absolute()), '--core'])
        print('\n'
              'To get a first report, with every operation missing:\n'
              f'  {command}', file=self.app.stdout)


def write(name: str, folder: pathlib.Path) -> list[pathlib.Path]:
    """Write the skeleton under another name; return its files, sorted.

    :raises UsageError: the folder cannot be written, or is not empty.
    """
    source = resources.find(SKELETON)
    written = []
    try:
        if folder.exists() and any(folder.iterdir()):
            raise errors.UsageError(
                'The folder is not empty', where=folder,
                hint='Name another one with --output')
        for path in sorted(source.rglob('*')):
            inner = path.relative_to(source)
            # pip leaves a copy of what it has built.
            if 'build' in inner.parts or path.suffix not in (
                    '.py', '.toml', '.yaml', '.rst'):
                continue
            target = folder / str(inner).replace(_WORD, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding='utf-8')
            # The underline of a title is as long as the title.
            target.write_text(
                text.replace('=' * len(f'magnum-{_WORD}'),
                             '=' * len(f'magnum-{name}'))
                .replace(_WORD, name), encoding='utf-8')
            written.append(target)
    except OSError as e:
        raise errors.UsageError('The driver cannot be written', where=folder,
                                last_seen=e) from e
    return written
