# SPDX-License-Identifier: Apache-2.0

"""``python -m magnum_capi_tempest.toolchain NAME...``, for scripts."""

import argparse
import collections.abc
import sys

from magnum_capi.cli import endings
from magnum_capi import progress
from magnum_capi_tempest import toolchain


def main(argv: list[str] | None = None) -> int:
    """Make programs and print their paths; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog='python -m magnum_capi_tempest.toolchain',
        description='Download or build pinned programs that are missing, and '
        'print the absolute path of each, one a line.')
    parser.add_argument('name', nargs='+', help='name of a program')
    args = parser.parse_args(argv)
    return endings.program(lambda: _run(args.name))


def _run(names: collections.abc.Sequence[str]) -> int:
    for path in toolchain.ensure(names, progress.Progress()).values():
        print(path)
    return 0


if __name__ == '__main__':
    sys.exit(main())
