# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi conformance report | compare``: the results of runs."""

import argparse
import collections.abc
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi_tempest.cli import output
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.report import terminal

_RECORD = 'RECORD[,driver=NAME]...'


class Report(base.Judging):
    """Show a conformance run: verdict, causes of failures, slow specs.

    Exit code: 0 passed, 1 failed, 2 wrong usage, 3 incomplete, the harness
    failed, or the record is broken.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('record', metavar=_RECORD, help=sources.HELP)
        parser.add_argument(
            '--rerun', action='append', default=[], metavar='RECORD',
            help='Record of a rerun of its failures; may be repeated. The '
                 'verdict remains that of the first run.')
        parser.add_argument(
            '--title',
            help='Title of the report (default: the name of the record).')
        output.add(parser, 'report', 'HTML, Markdown, JSON, JUnit')
        parser.add_argument(
            '--publish', type=pathlib.Path, metavar='DIR',
            help='Also write copies without secrets to this folder: e2e.log, '
                 'junit_01.xml, report.json, report.html, and redacted.json, '
                 'which counts what was redacted. Not for CNCF: see '
                 '"conformance submit".')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        with output.new_folders_named(args.output, args.publish):
            return self._show(args)

    def _show(self, args: argparse.Namespace) -> int:
        reruns = [sources.load(one).result for one in args.rerun]
        if args.publish:
            judged = _publish(args, reruns)
        else:
            judged = sources.load(args.record, title=args.title)
        shown = report.view(judged, reruns)
        output.show(
            args, text=lambda page: terminal.show(shown.run, report=page),
            markdown=lambda: report.to_markdown(shown),
            json=lambda: report.to_json(shown),
            html=lambda: report.to_html(shown),
            folder=lambda folder: report.write(folder, shown)[report.PAGE])
        return judged.exit_code


def _publish(args: argparse.Namespace,
             reruns: collections.abc.Sequence[model.Result]
             ) -> verdict.Verdict:
    from magnum_capi_tempest.conformance.submission import publish
    done = publish.publish(args.record, args.publish, title=args.title,
                           reruns=reruns)
    print(f'magnum-capi: {done.total} secrets were redacted, see '
          f'{args.publish / publish.COUNTS}', file=sys.stderr)
    return done.judged


class Compare(base.Judging):
    """Compare conformance runs with the first one.

    Exit code: 0 no new failures, 1 new failures, 2 wrong usage, 3 no new
    failures so far, but a run is incomplete, also the first one, its harness
    failed, a later run did not run all tests that the first one ran, or a
    record in a folder cannot be read.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('records', metavar=_RECORD, nargs='+',
                            help=f'{sources.HELP} {sources.TREES} The others '
                                 'are compared with the first.')
        output.add(parser, 'comparison', 'HTML, Markdown, JSON')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        with output.new_folders_named(args.output):
            return self._show(args)

    def _show(self, args: argparse.Namespace) -> int:
        from magnum_capi_tempest.conformance import compare
        from magnum_capi_tempest.conformance import compare_report
        found = compare.compare(*sources.load_all(args.records))
        output.show(
            args, text=lambda page: compare_report.show(found),
            markdown=lambda: compare_report.to_markdown(found),
            json=lambda: compare_report.to_json(found),
            html=lambda: compare_report.to_html(found),
            folder=lambda folder: compare_report.write(
                folder, found)['comparison.html'])
        return found.exit_code
