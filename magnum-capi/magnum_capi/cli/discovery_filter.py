# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi discovery filter``."""

import argparse
import importlib.metadata
import pathlib

from magnum_capi.cli import base
from magnum_capi.discovery import paste
from magnum_capi.discovery import paste_file
from magnum_capi import errors

#: First number of the oldest Magnum that stores what the filter decides.
OLDEST = 20


class Filter(base.Judging):
    """Put the filter of the discovery specification into api-paste.ini.

    Prints "changed", or "unchanged" when it is there already. Nothing but
    the filter is changed in the file. Magnum's API has to be restarted then.
    Exit code: 0 it is as it should be, 1 it is not (with --check), 2 it cannot
    be, as with a Magnum before 2025.1 (20.0.0) beside it.
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
        if not args.remove:
            _check_magnum()
        changed = paste_file.put(
            args.file, dry=args.check, change=paste.without_filter
            if args.remove else paste.with_filter)
        print('changed' if changed else 'unchanged', file=self.app.stdout)
        return int(changed and args.check)


def _check_magnum() -> None:
    """Refuse a Magnum with which nobody has seen the filter work.

    :raises UsageError: the one of this environment is too old.
    """
    try:
        version = importlib.metadata.version('magnum')
    except importlib.metadata.PackageNotFoundError:
        # The file is for another environment.
        return
    if int(version.partition('.')[0]) < OLDEST:
        raise errors.UsageError(
            f'The filter is for Magnum {OLDEST}.0.0 (2025.1) and later, and '
            f'here is {version}', hint='Upgrade Magnum first')
