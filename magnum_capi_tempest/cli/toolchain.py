# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi toolchain list|fetch|clean``."""

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import disk


class List(base.Lister):
    """List the pinned programs and where they are."""

    def take_action(self, parsed_args):
        return (('Program', 'Version', 'Source', 'State', 'Path'),
                [(s.program, s.version, s.source, s.state, str(s.path or ''))
                 for s in toolchain.describe()])


class Fetch(base.Command):
    """Provide pinned programs: from PATH, downloaded, or built."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'program', nargs='*',
            help='Programs to provide (default: all that commands use, '
                 'without those that only node images contain).')
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
