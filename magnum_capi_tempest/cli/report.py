# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi report``: show a result that is there already."""

import json
import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import report
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import page as pages
from magnum_capi_tempest.scorecard import report as driver_reports


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


class Matrix(base.Judging):
    """Lay reports of "magnum-capi driver test" side by side.

    Exit code: 0 all of core has passed for each driver, 1 not.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _add_files(parser)
        parser.add_argument(
            '-f', '--format', choices=('text', 'markdown'), default='text',
            help='What to print (default: text).')
        parser.add_argument(
            '--html', type=pathlib.Path, metavar='FILE',
            help='Also write it as one HTML page into this file.')
        return parser

    def act(self, args):
        found = [driver_reports.loads(_read(path), path)
                 for path in args.file]
        written = args.html and report.write_file(
            args.html, pages.render(found))
        if args.format == 'text':
            forms.show(found, page=written)
        else:
            self.app.stdout.write(forms.to_markdown(found))
        return 0 if all(one.verdict == judge.PASSED for one in found) else 1


class Validate(base.Judging):
    """Say what is wrong with reports of "magnum-capi driver test".

    Exit code: 0 they are right, 1 one is wrong.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        _add_files(parser)
        return parser

    def act(self, args):
        bad = 0
        for path in args.file:
            try:
                wrong = driver_reports.problems(json.loads(_read(path)))
            except ValueError as e:
                wrong = [f'no JSON: {e}']
            for line in wrong or ['right']:
                self.app.stdout.write(f'{path}: {line}\n')
            bad += bool(wrong)
        return 1 if bad else 0


class Badge(base.Command):
    """Draw a badge (SVG) of a report of "magnum-capi driver test"."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('file', type=pathlib.Path,
                            metavar='driver-report.json')
        return parser

    def take_action(self, args):
        self.app.stdout.write(pages.badge(
            driver_reports.loads(_read(args.file), args.file)))


def _add_files(parser):
    parser.add_argument('file', nargs='+', type=pathlib.Path,
                        metavar='driver-report.json')


def _read(path):
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('This file cannot be read', where=path,
                                last_seen=e) from e
