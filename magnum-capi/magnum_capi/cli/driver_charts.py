# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver charts``: clusters by their charts, and moves."""

import argparse
import collections
import collections.abc
import typing

from magnum_capi.cli import base
from magnum_capi.cli import clusters
from magnum_capi import errors
from magnum_capi import progress

if typing.TYPE_CHECKING:
    from magnum_capi.driver.moving import site as site_module


def _site(args: argparse.Namespace) -> 'site_module.Site':
    with clusters.magnum_here():
        from magnum_capi.driver.moving import by_hand
    return by_hand.opened(args.config_file)


class Charts(base.Lister):
    """List the clusters of the driver k8s_capi_v1 by chart and version.

    The column Target is the chart version that the cluster would be created
    with now. Behind says what differs from the configuration: the chart, the
    options (overlays, labels and volumes), or both. Run it where
    magnum-conductor runs. It reads Magnum's configuration, and changes
    nothing.

    Exit code: 0 success, 1 Magnum's database or the management cluster did not
    answer, 2 the configuration is invalid, 3 Magnum is not installed here.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        base.add_config_file(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        with base.quiet(self.app.options.debug):
            found = _site(args)
            from magnum_capi.driver.moving import site
            return site.table(found.standings())


class Move(clusters.Command):
    """Move clusters to the chart and options in the configuration.

    Without --apply it only shows, for each cluster, what Helm would change and
    which nodes Cluster API would replace because of it. Secrets are not shown.
    The Kubernetes version, images and networks of a cluster do not change.

    With --apply each cluster is shown and then upgraded by Helm, one after the
    other; nodes are replaced in the same order as by an upgrade.
    magnum-conductor completes a move that has begun, even if the command is
    interrupted. A cluster with another operation in progress is refused.

    Exit code: 0 all clusters were, or could be, moved; 1 at least one was
    refused or failed, while the others were still processed; 2 the command
    line or the configuration is invalid, 3 something is not installed here.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('cluster', nargs='*', metavar='UUID',
                            help='UUIDs of the clusters to move.')
        parser.add_argument('--all', action='store_true',
                            help='Select all clusters of the driver.')
        parser.add_argument(
            '--from', dest='present', metavar='VERSION',
            help='Only move clusters that have this version of the chart.')
        parser.add_argument(
            '--to', metavar='VERSION',
            help='Version of the chart to move to, chart_version or one of '
                 'allowed_chart_versions (default: the label '
                 'capi_helm_chart_version of the template, else '
                 'chart_version).')
        parser.add_argument(
            '--apply', action='store_true',
            help='Move the clusters; without it nothing is changed.')
        parser.add_argument(
            '--wait', type=float, metavar='MINUTES',
            help='With --apply, wait at most this many minutes for each move '
                 'to end before starting the next one.')
        self.add_format(parser)
        base.add_config_file(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        if bool(args.cluster) == args.all:
            raise errors.UsageError(
                'Name the clusters to move, or use --all',
                hint='"magnum-capi driver charts" lists them')
        if args.wait is not None and not args.apply:
            raise errors.UsageError('--wait needs --apply')
        with base.quiet(self.app.options.debug):
            return self._move(args)

    def _move(self, args: argparse.Namespace) -> int:
        found = _site(args)
        from magnum_capi.driver.moving import site
        found.check(args.to)
        rows = found.chosen(args.cluster, args.present)
        told = progress.Progress()
        kinds: collections.Counter[str] = collections.Counter()
        for number, row in enumerate(rows, 1):
            with told.step(f'{number}/{len(rows)} {row.name} {row.uuid}'):
                outcome = found.move(row, args.to, args.apply)
                if args.wait is not None:
                    outcome = found.wait(outcome, args.wait * 60)
            kinds[outcome.kind] += 1
            self.tell(args, outcome.facts, _lines(outcome.facts))
        self.sum_up(args, kinds, (site.WOULD,), 'move them')
        return int(any(kinds[kind] for kind in site.UNDONE))


def _lines(facts: collections.abc.Mapping[str, typing.Any]
           ) -> collections.abc.Iterator[str]:
    why = f': {facts["why"]}' if facts['why'] else ''
    yield (f'Cluster {facts["name"]} {facts["cluster"]}: '
           f'{facts["outcome"]}{why}')
    if 'nodes' not in facts:
        return
    yield f'  chart: {facts["from"]} -> {facts["to"]}'
    for one in facts['nodes']:
        reasons = '; '.join(one['reasons'])
        yield (f'  {one["part"]}: nodes '
               + ('are REPLACED' if one['replaced'] else 'stay')
               + (f' ({reasons})' if reasons else ''))
    yield facts['difference'] or '  (Helm renders the same)'
    yield ''
