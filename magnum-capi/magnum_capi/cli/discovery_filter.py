# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi discovery filter``."""

import argparse
import importlib.metadata
import pathlib

from magnum_capi.cli import base
from magnum_capi.discovery import paste
from magnum_capi import errors

#: Major version of the oldest Magnum that stores what the filter decides.
OLDEST = 20


class Filter(base.Judging):
    """Add the driver discovery filter to Magnum's api-paste.ini.

    Prints "changed", with --check "would be changed", or "unchanged" if the
    filter is already there. Only the filter is changed in the file. Restart
    Magnum's API after a change. Exit code: 0 the file is as it should be, 1 it
    is not (with --check), 2 it cannot be changed, for example because the
    Magnum installed here is older than 2025.1 (20.0.0).
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', type=pathlib.Path,
            help='Paste file, for example /etc/magnum/api-paste.ini.')
        parser.add_argument(
            '--check', action='store_true',
            help='Change nothing, and exit with 1 if the file would be '
                 'changed.')
        parser.add_argument(
            '--remove', action='store_true',
            help='Remove the filter from the file.')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        if not args.remove:
            _check_magnum()
        changed = paste.put(
            args.file, dry=args.check, change=paste.without_filter
            if args.remove else paste.with_filter)
        print('unchanged' if not changed else
              'would be changed' if args.check else 'changed',
              file=self.app.stdout)
        return int(changed and args.check)


def _check_magnum() -> None:
    """Refuse a Magnum that the filter was not tested with.

    :raises UsageError: the Magnum of this environment is too old.
    """
    try:
        version = importlib.metadata.version('magnum')
    except importlib.metadata.PackageNotFoundError:
        # The file is for another environment.
        return
    if int(version.partition('.')[0]) < OLDEST:
        raise errors.UsageError(
            f'The filter needs Magnum {OLDEST}.0.0 (2025.1) or later, but '
            f'{version} is installed here', hint='Upgrade Magnum first')
