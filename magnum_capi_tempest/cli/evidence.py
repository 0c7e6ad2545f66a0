# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi evidence collect``."""

import argparse
import os
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi.cli import endings
from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.evidence import collect


class Collect(base.Judging):
    """Collect evidence from a management cluster and logs.

    Secrets are not read, and known forms of secrets are redacted from what is
    written. Exit code: 0 everything was collected, 2 wrong usage, 3 something
    could not be read, which is then named.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--output', required=True, type=pathlib.Path, metavar='DIR',
            help='Folder to write to.')
        parser.add_argument(
            '--kubeconfig', type=pathlib.Path, metavar='FILE',
            help='Kubeconfig of the management cluster (default: the files of '
                 '$KUBECONFIG).')
        parser.add_argument(
            '--logs', action='append', default=[], metavar='PATTERN',
            help='Path or shell pattern of log files; may be repeated.')
        parser.add_argument(
            '--public', action='store_true',
            help='Make the files readable by everyone, for CI that publishes '
                 'them.')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        source = args.kubeconfig or os.environ.get('KUBECONFIG')
        if not source and not args.logs:
            raise errors.UsageError(
                'There is nothing to collect',
                hint='Use --kubeconfig or --logs, or set KUBECONFIG')
        mode = outfile.PUBLIC if args.public else outfile.PRIVATE
        missed = collect.from_logs(args.logs, args.output / 'logs', mode)
        if source:
            try:
                missed += collect.from_management(
                    source, args.output / 'management', mode)
            except (errors.EnvironmentProblem, errors.UsageError) as e:
                missed.append(str(e))
        for line in missed:
            print(f'magnum-capi: not collected: {line}', file=sys.stderr)
        return endings.BROKEN if missed else 0
