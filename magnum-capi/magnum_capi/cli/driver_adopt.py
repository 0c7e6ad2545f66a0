# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver adopt``: clusters of magnum-capi-helm, and back."""

import argparse
import collections
import collections.abc
import typing

from magnum_capi.cli import base
from magnum_capi.cli import clusters
from magnum_capi import errors
from magnum_capi import progress

if typing.TYPE_CHECKING:
    from magnum_capi.driver.adoption import adopt as adopt_module


def _adoption(args: argparse.Namespace) -> 'adopt_module.Adoption':
    with clusters.magnum_here():
        from magnum_capi.driver.adoption import by_hand
    return by_hand.opened(args.config_file)


class Adopt(clusters.Command):
    """Take over clusters that magnum-capi-helm has made.

    Without --apply it only shows, for each cluster, what this driver would
    know of it, and what its next change would bring with it: clusters whose
    nodes that would replace are refused.

    With --apply the driver of their template is changed to k8s_capi_v1, for
    all its clusters at once, and what the driver has to know of each is
    written to a Secret. Helm is not run, and no object of a cluster is
    changed. --undo gives them back, until somebody has changed one.

    It runs where magnum-conductor does, with Magnum's configuration, and
    writes to Magnum's database.

    Exit code: 0 all of them are, or could be, as asked for; 1 at least one
    was refused or failed, those of other templates went on; 2 the command or
    the configuration is wrong, 3 something is not installed here.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('cluster', nargs='*', metavar='UUID',
                            help='Clusters, all of a template.')
        parser.add_argument('--all', action='store_true',
                            help='All clusters that can be.')
        parser.add_argument(
            '--undo', action='store_true',
            help='Give them back to the driver that made them.')
        parser.add_argument(
            '--apply', action='store_true',
            help='Do it. Without it nothing is changed.')
        self.add_format(parser)
        base.add_config_file(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        if bool(args.cluster) == args.all:
            raise errors.UsageError('Name the clusters, or say --all')
        with base.quiet(self.app.options.debug):
            return self._act(args)

    def _act(self, args: argparse.Namespace) -> int:
        found = _adoption(args)
        from magnum_capi.driver.adoption import adopt
        told = progress.Progress()
        kinds: collections.Counter[str] = collections.Counter()
        templates = found.chosen(args.cluster, args.undo)
        for number, rows in enumerate(templates, 1):
            with told.step(f'{number}/{len(templates)} template '
                           f'{rows[0].cluster_template_id}, '
                           f'{len(rows)} clusters'):
                if not args.apply:
                    outcomes = found.show(rows, args.undo)
                elif args.undo:
                    outcomes = found.undo(rows)
                else:
                    outcomes = found.adopt(rows)
            for outcome in outcomes:
                kinds[outcome.kind] += 1
                self.tell(args, outcome.facts, _lines(outcome.facts))
        self.sum_up(args, kinds, (adopt.WOULD, adopt.WOULD_GIVE), 'does it')
        return int(any(kinds[kind] for kind in adopt.UNDONE))


def _lines(facts: collections.abc.Mapping[str, typing.Any]
           ) -> collections.abc.Iterator[str]:
    yield (f'Cluster {facts["name"]} {facts["cluster"]}: '
           f'{facts["outcome"]}')
    for why in facts['why']:
        yield f'  {why}'
    if 'release' not in facts:
        return
    yield f'  release: {facts["release"]}, revision {facts["revision"]}'
    yield f'  chart: {facts["chart"]} {facts["version"] or ""}'.rstrip()
    yield f'  credential: {", ".join(facts["credential"])}'
    for uuid, name in facts['node_groups'].items():
        yield f'  node group {uuid}: {name}'
    for change in facts['changes']:
        yield f'  change: {change}'
    if 'difference' in facts:
        yield '  machines: none is replaced, now or by the next resize'
        yield facts['difference'] or '  (Helm renders the same)'
    yield ''
