# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi report``: show a result that is there already."""

import pathlib

from magnum_capi.cli import base
from magnum_capi_tempest import report
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal


class Show(base.Command):
    """Show the result of a recorded test run.

    Exit code: 0 all passed, 1 something failed or nothing ran, 2 the file is
    no subunit stream.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'stream', metavar='FILE.subunit', type=pathlib.Path,
            help='Subunit version 2 stream, as "stestr last --subunit" '
                 'writes it.')
        parser.add_argument(
            '--title', help='Title; the name of the file by default.')
        parser.add_argument(
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write the HTML report into this file.')
        parser.add_argument(
            '--folder', type=pathlib.Path,
            help='Also write the report in every form (HTML, JUnit, JSON, '
                 'Markdown) into this folder.')
        return parser

    def take_action(self, args):
        return show(args.stream, title=args.title or args.stream.stem,
                    page=args.html, folder=args.folder)


def show(stream, *, title, page=None, folder=None, console=None):
    """Show a stream and write what was asked for; returns the exit code."""
    run = subunit.read(stream, title=title)
    written = None
    if folder:
        written = report.write(run, folder)['report.html']
    if page:
        written = report.write_file(page, html.render(run))
    terminal.show(run, report=written, console=console)
    return 0 if run.ok else 1
