# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest snapshot|leaks``: leftovers of a test run.

A snapshot before the run is compared with the state after it. A Zuul job does
so in its pre-run and post-run playbooks, a person with two commands.
"""

import contextlib
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi.cli import endings
from magnum_capi import errors
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.workspace import conf
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs


class _OfCloud:

    #: How many snapshots the command line must have, as for argparse.
    snapshots = None

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', nargs=self.snapshots,
            help='snapshot taken before the run')
        parser.add_argument(
            '--os-cloud', metavar='NAME',
            help='cloud of an administrator in clouds.yaml (default: '
                 'OS_CLOUD, or the other OpenStack variables)')
        parser.add_argument(
            '--kubeconfig', type=pathlib.Path, metavar='FILE',
            help='kubeconfig of the management cluster, to include its '
                 'objects')
        parser.add_argument(
            '--real-nodes', action='store_true',
            help='also include what clusters with servers as nodes may leave: '
                 f'{", ".join(f"{kind}s" for kind in model.REAL)}')
        return parser

    def look(self, args):
        return leaks.take(args.os_cloud, args.kubeconfig,
                          real_nodes=args.real_nodes)


class Snapshot(_OfCloud, base.Command):
    """Record what exists in a cloud before Tempest runs."""

    def take_action(self, args):
        files.write(args.file, self.look(args))


class Leaks(_OfCloud, base.Judging):
    """Show what is new since the snapshot, and which test left it.

    With --workspace, show what the tests of that workspace created and did not
    delete, for example because their run was killed; no snapshot is needed.

    Exit code: 0 nothing was left behind, 1 something was, 2 another user took
    the snapshot, 3 it is unknown, because something could be listed before the
    run but not now.
    """

    snapshots = '?'

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--workspace', type=pathlib.Path, metavar='DIR',
            help='workspace of "magnum-capi tempest init"; its users are '
                 'asked, and the other options are not used')
        parser.add_argument(
            '--artefacts', type=pathlib.Path, metavar='DIR',
            help='[magnum_capi] artifact_dir of the run; what these tests did '
                 'not create is shown, but does not count as a leak')
        parser.add_argument(
            '--strict', action='store_true',
            help='count everything as a leak, for a cloud that nobody else '
                 'uses')
        return parser

    def act(self, args):
        if bool(args.file) == bool(args.workspace):
            raise errors.UsageError(
                'Exactly one of these is required: a snapshot, or --workspace')
        if args.workspace:
            left = self._of_workspace(args)
        else:
            left = leaks.compare(files.read(args.file), self.look(args),
                                 args.artefacts, args.strict)
        print(left, file=self.app.stdout)
        if left.leaks:
            return 1
        return 0 if left.clean else endings.BROKEN

    @staticmethod
    def _of_workspace(args):
        who = conf.read(args.workspace / folder.ETC)
        if not (who.users and who.artifact_dir):
            raise errors.UsageError(
                'Its tempest.conf names no users, or no [magnum_capi] '
                'artifact_dir', where=args.workspace)
        return leaks.left_by(who.users, pathlib.Path(who.artifact_dir),
                             admin=who.admin)


@contextlib.contextmanager
def telling(etc, stream):
    """Print what a run that ends early leaves in the cloud.

    :param etc: folder of its tempest.conf.
    :param stream: file for its recorded stream.
    """
    try:
        yield
    except (runs.RunCutOff, KeyboardInterrupt, SystemExit):
        _tell(conf.read(etc), runs.artefacts(etc, stream))
        raise


def _tell(who, artefacts):
    if not who.users:
        return
    try:
        print(leaks.left_by(who.users, artefacts, admin=who.admin),
              flush=True)
    except errors.MagnumCapiError as e:
        print('It is unknown what is left; what the tests created is in '
              f'{artefacts / files.MADE}: {e}', file=sys.stderr)
