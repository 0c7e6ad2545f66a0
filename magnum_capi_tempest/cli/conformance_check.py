# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance submission check``.

In a module apart from the commands that write: their imports take longer than
a check. Exit codes: 0 it can be submitted, 1 it breaks a rule, 2 the command
line is invalid.
"""

import pathlib

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest.conformance.submission import check


class Check(base.Command):
    """Check a submission against the rules of CNCF's bot.

    Each finding names the rule, the file and the line. The bot fails on
    errors; it accepts warnings, but a reviewer may not. Whether the pull
    request is a single commit (rule 15) is not checked. Exit code: 0 no
    errors, 1 errors, 2 wrong usage: the folder is not one to check.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('folder', metavar='FOLDER', type=pathlib.Path,
                            help='folder v1.NN/PRODUCT, or the one that '
                                 'contains it')
        parser.add_argument('--title',
                            help='title of the pull request (default: the one '
                                 'that instructions.md asks for)')
        add_latest(parser)
        parser.add_argument('--online', action='store_true',
                            help='also check that the URLs in PRODUCT.yaml '
                                 'can be reached (rule 9)')
        return parser

    def take_action(self, args):
        report = check.check(args.folder, title=args.title,
                             latest=args.latest, online=args.online,
                             progress=progress.Progress())
        for finding in report.findings:
            print(finding, file=self.app.stdout)
        left_out = ', '.join(['15'] if report.online else ['9', '15'])
        print(f'{"It can be submitted" if report.ok else "Not yet"}; title: '
              f'{report.submission.title!r}; not checked: rules {left_out}',
              file=self.app.stdout)
        return 0 if report.ok else 1


def add_latest(parser):
    """Add the option that names the latest release of Kubernetes."""
    parser.add_argument('--latest', metavar='v1.NN',
                        help='latest release of Kubernetes (default: the '
                             'latest whose required tests are known)')
