# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi conformance report | compare``: the results of runs."""

import contextlib
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import outfile
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest import report as reports
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
        add_output(parser, 'report', 'HTML, Markdown, JSON, JUnit')
        parser.add_argument(
            '--publish', type=pathlib.Path, metavar='DIR',
            help='Also write copies without secrets to this folder: e2e.log, '
                 'junit_01.xml, report.json, report.html, and redacted.json, '
                 'which counts what was redacted. Not for CNCF: see '
                 '"conformance submit".')
        return parser

    def act(self, args):
        with output(args.html, args.output, args.publish):
            return self._show(args)

    def _show(self, args):
        reruns = [sources.load(one).result for one in args.rerun]
        if args.publish:
            judged = _publish(args, reruns)
        else:
            judged = sources.load(args.record, title=args.title)
        shown = report.view(judged, reruns)
        written = None
        if args.output:
            written = report.write(args.output, shown)[report.PAGE]
        if args.html:
            written = reports.write_file(args.html, report.to_html(shown))
        if args.format == 'json':
            print(report.to_json(shown), end='')
        elif args.format == 'markdown':
            print(report.to_markdown(shown), end='')
        else:
            terminal.show(shown.run, report=written)
        return judged.verdict.exit_code


def _publish(args, reruns):
    from magnum_capi_tempest.conformance.submission import publish
    done = publish.publish(args.record, args.publish, title=args.title,
                           reruns=reruns)
    print(f'magnum-capi: {done.total} secrets were redacted, see '
          f'{args.publish / publish.COUNTS}', file=sys.stderr)
    return done.judged


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
        with output(args.html, args.output):
            return self._show(args)

    def _show(self, args):
        from magnum_capi_tempest.conformance import compare
        from magnum_capi_tempest.conformance import compare_report
        found = compare.compare(*sources.load_all(args.records))
        if args.output:
            compare_report.write(args.output, found)
        if args.html:
            reports.write_file(args.html, compare_report.to_html(found))
        if args.format == 'json':
            print(compare_report.to_json(found), end='')
        elif args.format == 'markdown':
            print(compare_report.to_markdown(found), end='')
        else:
            compare_report.show(found)
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
        '--output', type=pathlib.Path, metavar='DIR',
        help=f'Also write the {what} in every format ({forms}) to this '
             'folder.')


@contextlib.contextmanager
def output(html, *folders):
    """Look at where to write before anything is read or run.

    :param html: path of a page, None if no page is wanted.
    :param folders: likewise; those that the block has made are named, as each
        may be a typing error.
    :raises UsageError: the folder of the page does not exist.
    """
    if html:
        outfile.require_folder(html)
    missing = [folder for folder in folders
               if folder and not folder.exists()]
    yield
    for folder in missing:
        print(f'magnum-capi: made the folder {folder.absolute()}',
              file=sys.stderr)
