# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance submission build`` and ``conformance publish``.

Exit codes of ``build``: 0 it can be submitted, 1 it breaks a rule, 2 the
command line makes no sense.
"""

import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi_tempest.cli import conformance_check
from magnum_capi_tempest.conformance.submission import bundle
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
        conformance_check.add_latest(parser)
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
