# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance submission build`` and ``conformance publish``.

Exit codes of ``build``: 0 it can be submitted, 1 it breaks a rule, 2 the
command line is invalid.
"""

import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi_tempest.cli import conformance_check
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance.submission import bundle
from magnum_capi_tempest.conformance.submission import publish

_ARCHIVE = ('Sonobuoy archive, or folder with the e2e.log and junit_01.xml of '
            'Hydrophone')


class Build(base.Command):
    """Create the folder to submit to CNCF.

    Writes README.md, PRODUCT.yaml, e2e.log and junit_01.xml, and nothing else,
    to OUT/v1.NN/PRODUCT. The log and the JUnit file are exact copies of those
    in the archive. Refuses runs that did not pass, that skipped a required
    test, that did not use the certified mode, or that used stand-in images,
    and prints every reason. Exit code: 0 created, 1 refused.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('archive', metavar='ARCHIVE',
                            help=_ARCHIVE)
        parser.add_argument('--product', metavar='FILE', required=True,
                            type=pathlib.Path,
                            help='PRODUCT.yaml to include unchanged')
        parser.add_argument('--out', metavar='DIR', required=True,
                            type=pathlib.Path,
                            help='folder in which to create v1.NN/PRODUCT, '
                                 'for example a checkout of '
                                 'cncf/k8s-conformance')
        parser.add_argument('--name', metavar='PRODUCT',
                            help='name of the folder PRODUCT (default: the '
                                 'name in PRODUCT.yaml, in lower case)')
        parser.add_argument('--setup', metavar='FILE', type=pathlib.Path,
                            help='Markdown for the README.md: how anyone can '
                                 'create such a cluster')
        parser.add_argument('--kubernetes-version', metavar='VERSION',
                            default='',
                            help='version of the cluster, for files of '
                                 'Hydrophone, which do not have it (default: '
                                 'that in the record of the run, if it was '
                                 'run on this machine)')
        conformance_check.add_latest(parser)
        return parser

    def take_action(self, args):
        made = bundle.build(
            reading.local(args.archive), args.product, args.out,
            name=args.name, setup_file=args.setup, latest=args.latest,
            kubernetes=args.kubernetes_version)
        for finding in made.warnings:
            print(finding, file=sys.stderr)
        print(f'{made.folder}\nTitle of the pull request: {made.title}',
              file=self.app.stdout)
        return 0


class Publish(base.Command):
    """Write copies of a run's results that can be published.

    Writes e2e.log, junit_01.xml, report.json and report.html without secrets,
    and redacted.json, which counts what was redacted. For a submission to CNCF
    use "conformance submission build".
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument('archive', metavar='ARCHIVE',
                            help=_ARCHIVE)
        parser.add_argument('--folder', metavar='DIR', required=True,
                            type=pathlib.Path, help='folder to write to')
        parser.add_argument('--full', action='store_true',
                            help='also copy the archive, which contains the '
                                 'objects and logs of the cluster')
        return parser

    def take_action(self, args):
        if args.full:
            print(f'magnum-capi: {publish.FULL_WARNING}.', file=sys.stderr)
        done = publish.publish(reading.local(args.archive), args.folder,
                               full=args.full)
        for path in done.files:
            print(path, file=self.app.stdout)
        print(f'{done.total} secrets were redacted, see {publish.COUNTS}',
              file=self.app.stdout)
        return 0
