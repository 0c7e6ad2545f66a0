# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest snapshot|leaks``: what a run of tests left behind.

A snapshot before the run and a comparison after it: a job of Zuul does so in
its pre-run and post-run playbooks, a person in two lines.
"""

import dataclasses
import json
import pathlib

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import cloud
from magnum_capi_tempest.evidence import leaks as reads
from magnum_capi_tempest.tests.common import leaks
from magnum_capi_tempest.tests.common import ledger


@dataclasses.dataclass(frozen=True)
class Left:
    """What a run left.

    :param leaks: list of leaks.Leak that count.
    :param others: those that no test of the run wrote down; somebody else
        may work in this cloud.
    :param unknown: sentences about what could not be compared.
    """

    leaks: tuple
    others: tuple
    unknown: tuple


def take(name=None, kubeconfig=None, *, clouds=None, real_nodes=False):
    """Look at a cloud and its management cluster: reads.Snapshot.

    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    seen = cloud.Cloud(name, clouds)
    found = reads.of_cloud(seen.get, (seen.user,), real_nodes=real_nodes)
    if kubeconfig:
        found = found.and_also(reads.of_management(
            capi.ManagementCluster(str(kubeconfig))))
    return found


def compare(before, after, artefacts=None, strict=False):
    """Return what is new, a Left.

    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    :param strict: everything counts; so it does without a list of what the
        tests made.
    """
    made = ledger.read(artefacts) if artefacts else []
    found = leaks.leaked(before, after, made)
    counts = [leak for leak in found if strict or not made or leak.test]
    return Left(tuple(counts), tuple(x for x in found if x not in counts),
                tuple(leaks.not_compared(before, after)))


def show(left, stream):
    """Print a Left."""
    for what, items in (('left behind', left.leaks),
                        ('new, but of no test of this run', left.others),
                        ('not compared', left.unknown)):
        if items:
            print(f'{len(items)} {what}:', file=stream)
            for item in items:
                print(f'  {item}', file=stream)
    if not left.leaks:
        print('Leaks: none', file=stream)


def write(path, snapshot):
    """Write a snapshot as JSON.

    :raises EnvironmentProblem: it cannot be written.
    """
    try:
        pathlib.Path(path).write_text(json.dumps({
            'kinds': sorted(snapshot.kinds), 'unread': dict(snapshot.unread),
            'things': [dataclasses.asdict(t)
                       for t in sorted(snapshot.things)]}, indent=1))
    except OSError as e:
        raise errors.EnvironmentProblem(
            'The snapshot cannot be written', where=path,
            last_seen=e) from e


def read(path):
    """Read a snapshot.

    :raises UsageError: there is none.
    """
    try:
        found = json.loads(pathlib.Path(path).read_text())
        return reads.Snapshot(
            frozenset(reads.Thing(**t) for t in found['things']),
            frozenset(found['kinds']), found['unread'])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise errors.UsageError(
            'This is no snapshot', where=path, last_seen=type(e).__name__,
            hint='Make it with "magnum-capi tempest snapshot"') from e


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
            help='of the management cluster, to look there, too')
        parser.add_argument(
            '--real-nodes', action='store_true',
            help='look for ports, volumes and load balancers, too')
        return parser

    def look(self, args):
        return take(args.os_cloud, args.kubeconfig,
                    real_nodes=args.real_nodes)


class Snapshot(_OfCloud, base.Command):
    """Write down what there is in a cloud, before Tempest runs."""

    def take_action(self, args):
        write(args.file, self.look(args))


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
        left = compare(read(args.file), self.look(args), args.artefacts,
                       args.strict)
        show(left, self.app.stdout)
        return 1 if left.leaks else 0
