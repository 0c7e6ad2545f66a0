# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi images build|list|check``."""

import pathlib

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest.images import build
from magnum_capi_tempest.images import inventory
from magnum_capi_tempest.images import plan
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest.toolchain import disk


def _directory(parser):
    parser.add_argument(
        '--directory', type=pathlib.Path, metavar='DIR',
        help='Folder of the archives (default: MAGNUM_CAPI_IMAGES_DIR, or a '
             'folder in the cache).')


def _minors(parser):
    parser.add_argument(
        '--kubernetes', action='append', metavar='MINOR',
        help='Only for this minor version of Kubernetes, such as 1.36; may '
             'be repeated (default: all).')


class Build(base.Command):
    """Build the images of nodes and pods without a registry.

    The programs in them come from Go modules and Debian packages. Archives
    that are up to date are not rebuilt.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _directory(parser)
        _minors(parser)
        parser.add_argument(
            '--only', nargs='+', metavar='NAME',
            help='Build only these archives, and those that they include.')
        return parser

    def take_action(self, args):
        found = build.build(args.directory, args.only, args.kubernetes,
                            progress.Progress())
        size = sum(a.size for a in found.archives.values())
        print(f'{len(found.archives)} image archives in {found.directory}, '
              f'{disk.text(size)}', file=self.app.stdout)


class List(base.Lister):
    """List the image archives in a folder."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _directory(parser)
        return parser

    def take_action(self, args):
        found = inventory.read(args.directory)
        return (('Name', 'Kind', 'Set', 'Kubernetes', 'Version', 'MiB',
                 'References'),
                [(a.name, a.kind, a.set, a.kubernetes or '', a.version,
                  round(a.size / 2**20, 1), ', '.join(a.references))
                 for _, a in sorted(found.archives.items())])


class Check(base.Command):
    """Check that no image archive is missing or broken.

    Exit code: 0 all archives are present and intact, 1 some are not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _directory(parser)
        _minors(parser)
        return parser

    def take_action(self, args):
        found = inventory.read(args.directory)
        wanted = plan.choose(recipes.load(), None,
                             args.kubernetes or recipes.minors())
        faults = found.verify()
        for name, fault in sorted(faults.items()):
            print(f'broken: {name}: {fault}', file=self.app.stdout)
        missing = [r.name for r in wanted if r.name not in found.archives]
        for name in missing:
            print(f'missing: {name}', file=self.app.stdout)
        if not faults and not missing:
            print(f'{len(found.archives)} image archives in {found.directory} '
                  'are intact', file=self.app.stdout)
        return 1 if faults or missing else 0
