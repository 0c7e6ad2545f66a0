# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance submit``: the folder for CNCF, and its check."""

import argparse
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance.submission import ai
from magnum_capi_tempest.conformance.submission import build
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import rules


class Submit(base.Judging):
    """Create the folder to submit to CNCF, or check one.

    Writes README.md, PRODUCT.yaml, e2e.log and junit_01.xml, and nothing else,
    to DIR/v1.NN/PRODUCT. The log and the JUnit file are exact copies of those
    in the record. Refuses runs that did not pass, that skipped a required
    test, that did not use the certified mode, or that used stand-in images,
    and prints every reason.

    With --check, applies the rules of CNCF's bot to a folder. Each finding
    names the rule, the file and the line. The bot fails on errors; it accepts
    warnings, but a reviewer may not. Whether the pull request is a single
    commit (rule 15) is not checked. A folder of CNCF's AI conformance
    programme is recognized, and checked for its form.

    Exit code: 0 it can be submitted, 1 it cannot, 2 wrong usage, 3 the record
    or the folder cannot be read, or the folder cannot be written.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.add_argument('record', metavar='RECORD', nargs='?',
                            help=sources.HELP)
        parser.add_argument('--latest', metavar='v1.NN',
                            help='Latest release of Kubernetes (default: '
                                 f'{required.minors()[-1]}, the latest whose '
                                 'required tests are known here).')
        group = parser.add_argument_group('to create a folder')
        group.add_argument('--product', metavar='FILE', type=pathlib.Path,
                           help='PRODUCT.yaml to include unchanged.')
        group.add_argument('--output', metavar='DIR', type=pathlib.Path,
                           help='Folder in which to create v1.NN/PRODUCT, '
                                'for example a checkout of '
                                'cncf/k8s-conformance.')
        group.add_argument('--name', metavar='PRODUCT',
                           help='Name of the folder PRODUCT (default: the '
                                'name in PRODUCT.yaml, in lower case).')
        group.add_argument('--setup', metavar='FILE', type=pathlib.Path,
                           help='Markdown for the README.md: how anyone can '
                                'create such a cluster.')
        group = parser.add_argument_group('to check a folder')
        group.add_argument('--check', metavar='DIR', type=pathlib.Path,
                           help='Folder v1.NN/PRODUCT, or the one that '
                                'contains it.')
        group.add_argument('--title',
                           help='Title of the pull request (default: the one '
                                'that instructions.md asks for).')
        group.add_argument('--online', action='store_true',
                           help='Also check that the URLs in PRODUCT.yaml '
                                'can be reached (rule 9).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        creating = [args.record, args.product, args.output]
        if args.check:
            if any((*creating, args.name, args.setup)):
                raise errors.UsageError(
                    'Create a folder, or check one, not both',
                    hint='Use --check DIR alone')
            return self._check(args)
        if not all(creating):
            raise errors.UsageError(
                'Name the record of a run, --product and --output',
                hint='To check a folder, use --check DIR')
        if args.title or args.online:
            raise errors.UsageError('--title and --online need --check')
        return self._build(args)

    def _build(self, args: argparse.Namespace) -> int:
        try:
            made = build.build(
                args.record, args.product, args.output, name=args.name,
                setup_file=args.setup, latest=args.latest)
        except build.Refused as e:
            print(f'magnum-capi: {e}', file=sys.stderr)
            return 1
        for finding in made.warnings:
            print(finding, file=sys.stderr)
        print(f'{made.folder}\nTitle of the pull request: {made.title}',
              file=self.app.stdout)
        return 0

    def _check(self, args: argparse.Namespace) -> int:
        found = ai.check(args.check)
        if found is not None:
            return self._tell_ai(found)
        report = check.check(args.check, title=args.title,
                             latest=args.latest, online=args.online,
                             progress=progress.Progress())
        for finding in report.findings:
            print(finding, file=self.app.stdout)
        left_out = ', '.join(['15'] if report.online else ['9', '15'])
        print(f'{"It can be submitted" if report.ok else "Not yet"}; title: '
              f'{report.submission.title!r}; not checked: rules {left_out}; '
              f'latest release: {report.submission.latest}',
              file=self.app.stdout)
        return 0 if report.ok else 1

    def _tell_ai(self, found: tuple[rules.Finding, ...]) -> int:
        for finding in found:
            print(finding, file=self.app.stdout)
        ok = not any(one.level == rules.ERROR for one in found)
        print(f'This is a submission to {ai.NAME}, '
              f'{"in good form" if ok else "not in good form yet"}; not '
              'checked: whether it lists each requirement of its release, and '
              'whether its links lead anywhere', file=self.app.stdout)
        return 0 if ok else 1
