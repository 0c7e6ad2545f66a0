# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi discovery filter``."""

import argparse
import pathlib

from magnum_capi.cli import base
from magnum_capi.discovery import paste
from magnum_capi.discovery import paste_file


class Filter(base.Judging):
    """Put the filter of the discovery specification into api-paste.ini.

    Prints "changed", or "unchanged" when it is there already. Nothing but
    the filter is changed in the file. Magnum's API has to be restarted then.
    Exit code: 0 it is as it should be, 1 it is not (with --check).
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', type=pathlib.Path,
            help='For example /etc/magnum/api-paste.ini.')
        parser.add_argument(
            '--check', action='store_true',
            help='Change nothing; say what would be done, also with the '
                 'exit code.')
        parser.add_argument(
            '--remove', action='store_true',
            help='Take the filter out again.')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        changed = paste_file.put(
            args.file, dry=args.check, change=paste.without_filter
            if args.remove else paste.with_filter)
        print('changed' if changed else 'unchanged', file=self.app.stdout)
        return int(changed and args.check)
