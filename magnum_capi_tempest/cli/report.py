# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi report``: show existing results."""

import argparse
import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import output
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

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'stream', metavar='FILE.subunit', type=pathlib.Path,
            help='Subunit version 2 stream, as "stestr last --subunit" '
                 'writes it.')
        parser.add_argument(
            '--title',
            help='Title of the report (default: the name of the file).')
        output.add(parser, 'report', 'HTML, JUnit, JSON, Markdown; a text '
                   'file with everything about each failed test')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        run = subunit.read(args.stream, title=args.title or args.stream.stem)
        failures = {}

        def folder(path: pathlib.Path) -> pathlib.Path:
            failures.update(report.write_failures(run, path))
            return report.write(run, path)['report.html']

        def text(page: pathlib.Path | None) -> None:
            terminal.show(run, report=page, failures=failures)
            if run.failures and not args.output:
                terminal.printer()(f'All of it is in {args.stream}; --output '
                                   'DIR writes it as text')

        output.show(
            args, text=text, markdown=lambda: markdown.render(run),
            json=lambda: json_.render(run), html=lambda: html.render(run),
            folder=folder)
        return run.exit_code


class Matrix(base.Judging):
    """Compare reports of "magnum-capi driver test" side by side.

    Exit code: 0 every driver keeps all core promises, 1 some do not.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_files(parser)
        output.add(parser, 'comparison')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        found = [driver_reports.loads(_read(path), path)
                 for path in args.file]
        output.show(
            args, text=lambda page: forms.show(found),
            markdown=lambda: forms.to_markdown(found),
            json=lambda: json_.dumps(found),
            html=lambda: forms.to_html(found))
        return 0 if forms.good(found) else 1


class Validate(base.Judging):
    """Validate reports of "magnum-capi driver test".

    Exit code: 0 all reports are valid, 1 at least one is not.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_files(parser)
        return parser

    def act(self, args: argparse.Namespace) -> int:
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


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('file', nargs='+', type=pathlib.Path,
                        metavar='driver-report.json')


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('The file cannot be read', where=path,
                                last_seen=e) from e
