# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest run``."""

import pathlib
import time

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import paths
from magnum_capi_tempest import report
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs


class Run(base.Judging):
    """Run Tempest in a workspace and report on it.

    Exit code: 0 all passed, 1 something failed or nothing ran, 3 it could
    not be run.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'folder', metavar='DIR', type=pathlib.Path,
            help='The workspace, as "tempest init" makes one.')
        parser.add_argument(
            '-r', '--regex', default='magnum_capi',
            help='Tests to run, as of "tempest run" (default: %(default)s).')
        parser.add_argument(
            '-c', '--concurrency', type=int, default=2,
            help='Workers (default: 2).')
        parser.add_argument(
            '--results', type=pathlib.Path, metavar='DIR',
            help='Folder for report.html and the like (default: a new one '
                 'below the state folder).')
        return parser

    def act(self, args):
        etc = args.folder.absolute() / folder.ETC
        if not (etc / 'tempest.conf').is_file():
            raise errors.UsageError(
                'There is no Tempest workspace', where=args.folder,
                hint='Make one: magnum-capi tempest init')
        results = (args.results or paths.state() / 'results' / time.strftime(
            '%Y%m%dT%H%M%S', time.gmtime())).absolute()
        stream = runs.run(
            args.folder, ['--regex', args.regex,
                          '--concurrency', args.concurrency],
            results / 'run.subunit', etc=etc)
        return 0 if report.summarise(
            stream, results, 'tempest run',
            {'tests': args.regex}).ok else 1
