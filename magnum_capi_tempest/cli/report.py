# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi report``: show existing results."""

import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import report
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import report as driver_reports


class Show(base.Judging):
    """Show the result of a recorded test run.

    Exit code: 0 all passed, 1 something failed, 2 the file is not a subunit
    stream, 3 nothing ran, or the record is damaged.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'stream', metavar='FILE.subunit', type=pathlib.Path,
            help='Subunit version 2 stream, as "stestr last --subunit" '
                 'writes it.')
        parser.add_argument(
            '--title',
            help='Title of the report (default: the name of the file).')
        parser.add_argument(
            '-f', '--format', choices=('text', 'markdown', 'json'),
            default='text', help='Output format (default: text).')
        parser.add_argument(
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write the HTML report to this file.')
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help='Also write the report in every format (HTML, JUnit, JSON, '
                 'Markdown) to this folder, and a text file with everything '
                 'about each failed test.')
        return parser

    def act(self, args):
        run = subunit.read(args.stream, title=args.title or args.stream.stem)
        written = failures = None
        if args.output:
            written = report.write(run, args.output)['report.html']
            failures = report.write_failures(run, args.output)
        if args.html:
            written = report.write_file(args.html, html.render(run))
        if args.format != 'text':
            form = json_ if args.format == 'json' else markdown
            self.app.stdout.write(form.render(run))
            return run.exit_code
        terminal.show(run, report=written, failures=failures)
        if run.failures and not args.output:
            terminal.printer()(f'All of it is in {args.stream}; --output DIR '
                               'writes it as text')
        return run.exit_code


class Matrix(base.Judging):
    """Compare reports of "magnum-capi driver test" side by side.

    Exit code: 0 every driver keeps all core promises, 1 some do not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _add_files(parser)
        parser.add_argument(
            '-f', '--format', choices=('text', 'markdown', 'json'),
            default='text', help='Output format (default: text).')
        parser.add_argument(
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write the comparison as one HTML page to this file.')
        return parser

    def act(self, args):
        found = [driver_reports.loads(_read(path), path)
                 for path in args.file]
        written = args.html and report.write_file(
            args.html, forms.to_html(found))
        if args.format == 'text':
            forms.show(found, page=written)
        else:
            self.app.stdout.write(
                forms.to_markdown(found) if args.format == 'markdown'
                else json_.dumps(found))
        return 0 if forms.good(found) else 1


class Validate(base.Judging):
    """Validate reports of "magnum-capi driver test".

    Exit code: 0 all reports are valid, 1 at least one is not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _add_files(parser)
        return parser

    def act(self, args):
        bad = 0
        for path in args.file:
            text = _read(path)
            try:
                wrong = driver_reports.problems(driver_reports.parse(text))
            except errors.UsageError as e:
                wrong = [str(e)]
            for line in wrong or ['valid']:
                self.app.stdout.write(f'{path}: {line}\n')
            bad += bool(wrong)
        return 1 if bad else 0


def _add_files(parser):
    parser.add_argument('file', nargs='+', type=pathlib.Path,
                        metavar='driver-report.json')


def _read(path):
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('The file cannot be read', where=path,
                                last_seen=e) from e
