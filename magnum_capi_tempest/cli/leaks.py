# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest snapshot|leaks``: what a run of tests left behind.

A snapshot before the run and a comparison after it: a job of Zuul does so in
its pre-run and post-run playbooks, a person in two lines.
"""

import pathlib

from magnum_capi.cli import base
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import model


class _OfCloud:

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', help='the snapshot from before the run')
        parser.add_argument(
            '--os-cloud', metavar='NAME',
            help='name in clouds.yaml of an administrator (default: '
                 'OS_CLOUD, and so on)')
        parser.add_argument(
            '--kubeconfig', type=pathlib.Path, metavar='FILE',
            help='kubeconfig of the management cluster, to look there, too')
        parser.add_argument(
            '--real-nodes', action='store_true',
            help='look for what nodes that are servers leave, too: '
                 f'{", ".join(f"{kind}s" for kind in model.REAL)}')
        return parser

    def look(self, args):
        return leaks.take(args.os_cloud, args.kubeconfig,
                          real_nodes=args.real_nodes)


class Snapshot(_OfCloud, base.Command):
    """Write down what there is in a cloud, before Tempest runs."""

    def take_action(self, args):
        files.write(args.file, self.look(args))


class Leaks(_OfCloud, base.Judging):
    """Say what is new since the snapshot, and which test left it.

    Exit code 1: something was left behind.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--artefacts', type=pathlib.Path, metavar='DIR',
            help='[magnum_capi] artifact_dir of the run: what it has nothing '
                 'to do with is shown, but does not count')
        parser.add_argument(
            '--strict', action='store_true',
            help='everything counts: nobody else works in this cloud')
        return parser

    def act(self, args):
        left = leaks.compare(files.read(args.file), self.look(args),
                             args.artefacts, args.strict)
        print(left, file=self.app.stdout)
        return 1 if left.leaks else 0
