# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance submission`` and ``conformance publish``.

Exit codes of ``check`` and ``build``: 0 it can be submitted, 1 it breaks a
rule, 2 the command line makes no sense.
"""

import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest.conformance.submission import bundle
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import publish

_ARCHIVE = ('archive of Sonobuoy, or folder with the e2e.log and '
            'junit_01.xml of Hydrophone')


class Build(base.Command):
    """Make the folder that is submitted to CNCF.

    Writes README.md, PRODUCT.yaml, e2e.log and junit_01.xml, and nothing
    else, into OUT/v1.NN/PRODUCT. Log and JUnit file are those of the
    archive, byte by byte. Refused, with every reason: runs that did not
    pass, that left out a required test, that were not certified runs, and
    runs with stand-in images. Exit code: 0 made, 1 refused.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('archive', metavar='ARCHIVE', type=pathlib.Path,
                            help=_ARCHIVE)
        parser.add_argument('--product', metavar='FILE', required=True,
                            type=pathlib.Path,
                            help='the PRODUCT.yaml, taken as it is')
        parser.add_argument('--out', metavar='DIR', required=True,
                            type=pathlib.Path,
                            help='folder that gets v1.NN/PRODUCT, for '
                                 'example a checkout of cncf/k8s-conformance')
        parser.add_argument('--name', metavar='PRODUCT',
                            help='name of the folder (default: the name in '
                                 'PRODUCT.yaml, in lower case)')
        parser.add_argument('--setup', metavar='FILE', type=pathlib.Path,
                            help='Markdown for the README.md: how anybody '
                                 'gets such a cluster')
        _add_latest(parser)
        return parser

    def take_action(self, args):
        made = bundle.build(args.archive, args.product, args.out,
                            name=args.name, setup_file=args.setup,
                            latest=args.latest)
        for finding in made.warnings:
            print(finding, file=sys.stderr)
        print(f'{made.folder}\nTitle of the pull request: {made.title}',
              file=self.app.stdout)
        return 0


class Check(base.Command):
    """Check a submission by the rules of CNCF's bot.

    Each finding names rule, file and line. Errors are what the bot fails;
    warnings are what it lets pass and a reviewer may not. Not looked at:
    that the pull request is one commit (rule 15). Exit code: 0 no errors,
    1 errors, 2 there is nothing to check.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('folder', metavar='FOLDER', type=pathlib.Path,
                            help='v1.NN/PRODUCT, or the folder that holds it')
        parser.add_argument('--title',
                            help='title of the pull request (default: the '
                                 'one that instructions.md wants)')
        _add_latest(parser)
        parser.add_argument('--online', action='store_true',
                            help='ask the addresses in PRODUCT.yaml, too '
                                 '(rule 9)')
        return parser

    def take_action(self, args):
        report = check.check(args.folder, title=args.title,
                             latest=args.latest, online=args.online,
                             progress=progress.Progress())
        for finding in report.findings:
            print(finding, file=self.app.stdout)
        left_out = ', '.join(['15'] if report.online else ['9', '15'])
        print(f'{"It can be submitted" if report.ok else "Not yet"}; '
              f'title: {report.submission.title!r}; not looked at: '
              f'rules {left_out}', file=self.app.stdout)
        return 0 if report.ok else 1


class Publish(base.Command):
    """Write copies of a run's results that everybody may see.

    e2e.log, junit_01.xml, report.json and report.html without secrets, and
    redacted.json, which counts what was taken out. For a submission to CNCF
    use "conformance submission build".
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('archive', metavar='ARCHIVE', type=pathlib.Path,
                            help=_ARCHIVE)
        parser.add_argument('--folder', metavar='DIR', required=True,
                            type=pathlib.Path, help='where to write')
        parser.add_argument('--full', action='store_true',
                            help='the archive as well, which holds what the '
                                 'cluster holds')
        return parser

    def take_action(self, args):
        if args.full:
            print(f'magnum-capi: {publish.FULL_WARNING}.', file=sys.stderr)
        done = publish.publish(args.archive, args.folder, full=args.full)
        for path in done.files:
            print(path, file=self.app.stdout)
        print(f'{done.total} secrets were taken out, see {publish.COUNTS}',
              file=self.app.stdout)
        return 0


def _add_latest(parser):
    parser.add_argument('--latest', metavar='v1.NN',
                        help='latest release of Kubernetes (default: the '
                             'latest whose tests are known here)')
