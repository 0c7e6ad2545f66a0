# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi conformance report | compare``: the results of runs."""

import pathlib

from magnum_capi.cli import base
from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import comparison_forms
from magnum_capi_tempest.conformance.reports import files
from magnum_capi_tempest.conformance.reports import page
from magnum_capi_tempest.conformance.reports import presentation
from magnum_capi_tempest.conformance.reports import sources
from magnum_capi_tempest import report
from magnum_capi_tempest.report import terminal

_RECORD = 'RECORD[,driver=NAME]...'
_FORMATS = ('text', 'markdown', 'json')


class Report(base.Judging):
    """Show a conformance run: verdict, causes of failures, slow specs.

    Exit code: 0 passed, 1 failed, 2 wrong usage, 3 incomplete, the harness
    failed, or the record is broken.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('record', metavar=_RECORD, help=sources.HELP)
        parser.add_argument(
            '--rerun', action='append', default=[], metavar='RECORD',
            help='Record of a rerun of its failures; may be repeated. The '
                 'verdict remains that of the first run.')
        parser.add_argument(
            '--title',
            help='Title of the report (default: the name of the record).')
        add_output(parser, 'report', 'HTML, Markdown, JSON, JUnit, subunit')
        return parser

    def act(self, args):
        judged = sources.load(args.record, title=args.title)
        reruns = [sources.load(one).result for one in args.rerun]
        shown = judged.result, judged.verdict, reruns
        written = None
        if args.folder:
            written = files.write(args.folder, *shown)[files.PAGE]
        if args.html:
            written = report.write_file(args.html, page.render(*shown))
        if args.format == 'json':
            print(files.to_json(*shown), end='')
        elif args.format == 'markdown':
            print(files.to_markdown(*shown), end='')
        else:
            terminal.show(presentation.run(*shown), report=written)
        return judged.verdict.exit_code


class Compare(base.Judging):
    """Compare conformance runs with the first one.

    Exit code: 0 no new failures, 1 new failures, 2 wrong usage, 3 no new
    failures so far, but a later run is incomplete, did not run all tests that
    the first one ran, its harness failed, or a record in a folder cannot be
    read.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('records', metavar=_RECORD, nargs='+',
                            help=f'{sources.HELP} {sources.TREES} The others '
                                 'are compared with the first.')
        add_output(parser, 'comparison', 'HTML, Markdown, JSON')
        return parser

    def act(self, args):
        found = comparison.of(*sources.load_all(args.records))
        if args.folder:
            files.write_comparison(args.folder, found)
        if args.html:
            report.write_file(args.html, page.render_comparison(found))
        if args.format == 'json':
            print(comparison_forms.to_json(found), end='')
        elif args.format == 'markdown':
            print(comparison_forms.to_markdown(found), end='')
        else:
            comparison_forms.show(found)
        return found.exit_code


def add_output(parser, what, forms):
    """Options for what to print and which files to write."""
    parser.add_argument(
        '-f', '--format', choices=_FORMATS, default='text',
        help='Output format (default: text).')
    parser.add_argument(
        '--html', type=pathlib.Path, metavar='FILE',
        help=f'Also write the {what} as one HTML page to this file.')
    parser.add_argument(
        '--folder', type=pathlib.Path, metavar='DIR',
        help=f'Also write the {what} in every format ({forms}) to this '
             'folder.')
