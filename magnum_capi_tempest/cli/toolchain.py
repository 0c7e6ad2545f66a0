# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi toolchain list|fetch|clean``."""

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import disk


class List(base.Lister):
    """Show the pinned programs, and which of them are there."""

    def take_action(self, parsed_args):
        return (('Program', 'Version', 'Source', 'State', 'Path'),
                [(s.program, s.version, s.source, s.state, str(s.path or ''))
                 for s in toolchain.describe()])


class Fetch(base.Command):
    """Get pinned programs: from PATH, by download, or by a build."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'program', nargs='*',
            help='All that commands use by default, and not what only images '
                 'of nodes contain.')
        return parser

    def take_action(self, parsed_args):
        found = toolchain.ensure(parsed_args.program or toolchain.names(),
                                 progress.Progress())
        for name, path in found.items():
            print(f'{name} {path}', file=self.app.stdout)


class Clean(base.Command):
    """Remove the programs that were downloaded or built."""

    def take_action(self, parsed_args):
        freed = toolchain.clean()
        print(f'{disk.text(freed)} freed', file=self.app.stdout)
