# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi report``: show existing results."""

import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import report
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import report as driver_reports


class Show(base.Command):
    """Show the result of a recorded test run.

    Exit code: 0 all passed, 1 something failed or nothing ran, 2 the file is
    not a subunit stream.
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
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write the HTML report to this file.')
        parser.add_argument(
            '--folder', type=pathlib.Path,
            help='Also write the report in every format (HTML, JUnit, JSON, '
                 'Markdown) to this folder, and a text file with everything '
                 'about each failed test.')
        return parser

    def take_action(self, args):
        return show(args.stream, title=args.title or args.stream.stem,
                    page=args.html, folder=args.folder)


def show(stream, *, title, page=None, folder=None, console=None):
    """Show a stream and write the requested files; return the exit code."""
    run = subunit.read(stream, title=title)
    written = failures = None
    if folder:
        written = report.write(run, folder)['report.html']
        failures = report.write_failures(run, folder)
    if page:
        written = report.write_file(page, html.render(run))
    terminal.show(run, report=written, failures=failures, console=console)
    if run.failures and not folder:
        terminal.printer(console)(
            f'All of it is in {stream}; --folder DIR writes it as text')
    return 0 if run.ok else 1


class Matrix(base.Judging):
    """Compare reports of "magnum-capi driver test" side by side.

    Exit code: 0 every driver keeps all core promises, 1 some do not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _add_files(parser)
        parser.add_argument(
            '-f', '--format', choices=('text', 'markdown'), default='text',
            help='Output format (default: text).')
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
            self.app.stdout.write(forms.to_markdown(found))
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
