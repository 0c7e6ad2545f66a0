# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest leaks``: leftovers of a test run."""

import argparse
import collections.abc
import contextlib
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record
from magnum_capi_tempest.workspace import conf
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs


class Leaks(base.Judging):
    """List what the tests of a workspace created and did not delete.

    It is known from what the tests recorded, and listed as the users of
    tempest.conf see it, each with its test and the command that removes it.
    Exit code: 0 nothing is left, 1 something is, 2 there is no record, 3 it is
    unknown, because something that the tests created cannot be listed.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'folder', metavar='DIR', type=pathlib.Path,
            help='Workspace of Tempest, with etc/tempest.conf.')
        parser.add_argument(
            '--artefacts', type=pathlib.Path, metavar='DIR',
            help='[magnum_capi] artifact_dir of the run (default: that of '
                 'tempest.conf).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        found = conf.read(folder.etc_of(args.folder))
        artefacts = args.artefacts or found.artifact_dir
        if not artefacts or not found.users:
            raise errors.UsageError(
                'tempest.conf has no artifact_dir' if found.users
                else 'tempest.conf names no users', where=args.folder,
                hint='Name the folder with --artefacts' if found.users
                else 'Create the workspace with: magnum-capi tempest init')
        if not record.read(artefacts):
            raise errors.UsageError(
                'There is no record of what tests created', where=artefacts,
                hint='Name the artifact_dir of a run with --artefacts')
        left = _left(found, artefacts)
        print(left, file=self.app.stdout)
        return left.exit_code


@contextlib.contextmanager
def reported(etc: pathlib.Path, stream: pathlib.Path
             ) -> collections.abc.Iterator[None]:
    """Print what a run that ends early leaves in the cloud.

    :param etc: folder of its tempest.conf.
    :param stream: file for its recorded stream.
    """
    try:
        yield
    except (runs.RunCutOff, KeyboardInterrupt, SystemExit):
        _report(conf.read(etc), runs.artefacts(etc, stream))
        raise


def _report(found: conf.Conf, artefacts: str | pathlib.Path) -> None:
    if not found.users:
        return
    try:
        print(_left(found, artefacts), flush=True)
    except errors.MagnumCapiError as e:
        print('It is unknown what is left; what the tests created is in '
              f'{pathlib.Path(artefacts, record.FILE)}: {e}', file=sys.stderr)


def _left(found: conf.Conf, artefacts: str | pathlib.Path) -> model.Left:
    return leaks.left_by(
        found.users, artefacts, admin=found.admin,
        kubeconfig=found.management_kubeconfig, real_nodes=found.real_nodes)
