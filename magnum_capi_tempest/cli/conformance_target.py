# SPDX-License-Identifier: Apache-2.0

"""The cluster of a command: a Magnum cluster, or that of a kubeconfig."""

import argparse
import os
import pathlib

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import runs


def add(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the arguments.

    :param default: what happens without them.
    """
    group = parser.add_argument_group('cluster', default)
    which = group.add_mutually_exclusive_group()
    which.add_argument('--cluster', metavar='NAME',
                       help='name or UUID of a Magnum cluster; its kubeconfig '
                            'is obtained from Magnum and not kept')
    which.add_argument('--kubeconfig', type=pathlib.Path, metavar='FILE',
                       help='kubeconfig of any cluster (default: the files '
                            'of $KUBECONFIG)')
    group.add_argument('--context', metavar='NAME',
                       help='context of the kubeconfig (default: the '
                            'current one)')
    group.add_argument('--cloud', metavar='CLOUD',
                       help='cloud in clouds.yaml, for --cluster (default: '
                            'OS_CLOUD, or the other OpenStack variables)')


def named(args: argparse.Namespace) -> runs.Target | None:
    """The cluster that the arguments name; None if they name none.

    :raises UsageError: they contradict each other.
    """
    if args.cloud and not args.cluster:
        raise errors.UsageError('--cloud needs --cluster')
    if args.cluster:
        if args.context:
            raise errors.UsageError('--context cannot be used with --cluster',
                                    hint='Use --kubeconfig with --context')
        return runs.Target(args.cluster, args.cloud or os.environ.get(
            'OS_CLOUD', ''))
    if args.kubeconfig:
        return runs.Target(kubeconfig=str(args.kubeconfig.absolute()),
                           context=args.context or '')
    return _of_environment(args) if args.context else None


def of(args: argparse.Namespace) -> runs.Target:
    """The cluster that the arguments or ``$KUBECONFIG`` name.

    :raises UsageError: there is none, or they contradict each other.
    """
    return named(args) or _of_environment(args)


def _of_environment(args: argparse.Namespace) -> runs.Target:
    files = [os.path.abspath(part) for part in os.environ.get(
        'KUBECONFIG', '').split(os.pathsep) if part]
    if not files:
        raise errors.UsageError(
            'No cluster is named',
            hint='Use --cluster or --kubeconfig, or set KUBECONFIG')
    return runs.Target(kubeconfig=os.pathsep.join(files),
                       context=args.context or '')
