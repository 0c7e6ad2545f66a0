# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver adopt``: clusters of magnum-capi-helm, and undo."""

import argparse
import collections
import collections.abc
import json
import typing

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import progress

if typing.TYPE_CHECKING:
    from magnum_capi.driver.adoption import adopt as adopt_module


def _adoption(args: argparse.Namespace) -> 'adopt_module.Adoption':
    try:
        from magnum_capi.driver.adoption import by_hand
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'Magnum and the libraries of the driver are not installed here',
            last_seen=e,
            hint='Run this command where magnum-conductor runs') from None
    return by_hand.opened(args.config_file, args.config_dir)


class Adopt(base.Judging):
    """Adopt clusters that magnum-capi-helm created.

    Without --apply it only shows, for each cluster, what this driver would
    record about it. A cluster keeps its chart and values until it is upgraded;
    one whose nodes another change would replace is refused.

    With --apply the driver of their template is changed to k8s_capi_v1, for
    all of its clusters at once, and what the driver must know about each is
    written to a Secret. Helm is not run, and no object of a cluster is
    changed. --undo returns the clusters, as long as none of them has been
    changed.

    Run it where magnum-conductor runs. It reads Magnum's configuration, and
    writes to Magnum's database.

    Exit code: 0 all clusters were, or could be, adopted or returned; 1 at
    least one was refused or failed, while those of other templates were still
    processed; 2 the command line or the configuration is invalid, 3 something
    is not installed here, or Magnum's database cannot be read.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('cluster', nargs='*', metavar='UUID',
                            help='UUIDs of the clusters; name all clusters of '
                                 'a template.')
        parser.add_argument('--all', action='store_true',
                            help='Select all clusters that can be adopted or, '
                                 'with --undo, returned.')
        parser.add_argument(
            '--undo', action='store_true',
            help='Return the clusters to the driver that created them.')
        parser.add_argument(
            '--apply', action='store_true',
            help='Make the changes; without it nothing is changed.')
        parser.add_argument(
            '-f', '--format', choices=('text', 'json'), default='text',
            help='Output format; json prints one object per line, for each '
                 'cluster (default: text).')
        parser.add_argument(
            '--config-file', action='append', default=[], metavar='FILE',
            help="Magnum's configuration file with the group k8s_capi; may be "
                 'repeated (default: the files that Magnum reads, such as '
                 '/etc/magnum/magnum.conf).')
        parser.add_argument(
            '--config-dir', action='append', default=[], metavar='DIR',
            help="Folder with Magnum's configuration files; may be repeated.")
        return parser

    def act(self, args: argparse.Namespace) -> int:
        if bool(args.cluster) == args.all:
            raise errors.UsageError('Name the clusters, or use --all')
        with base.quiet(self.app.options.debug):
            return self._act(args)

    def _act(self, args: argparse.Namespace) -> int:
        found = _adoption(args)
        from magnum_capi.driver.adoption import adopt
        meter = progress.Progress()
        kinds: collections.Counter[str] = collections.Counter()
        templates = found.chosen(args.cluster, args.undo)
        for number, rows in enumerate(templates, 1):
            with meter.step(f'{number}/{len(templates)} template '
                            f'{rows[0].cluster_template_id}, clusters: '
                            f'{len(rows)}'):
                if not args.apply:
                    outcomes = found.show(rows, args.undo)
                elif args.undo:
                    outcomes = found.undo(rows)
                else:
                    outcomes = found.adopt(rows)
            for outcome in outcomes:
                kinds[outcome.kind] += 1
                self._print(json.dumps(outcome.facts)
                            if args.format == 'json'
                            else '\n'.join(_lines(outcome.facts)))
        if args.format != 'json':
            self._sum_up(kinds, (adopt.WOULD, adopt.WOULD_RETURN))
        return int(any(kinds[kind] for kind in adopt.UNDONE))

    def _sum_up(self, kinds: collections.Counter[str],
                would: collections.abc.Collection[str]) -> None:
        """Print the summary.

        :param kinds: numbers of clusters by outcome.
        :param would: outcomes that mean that nothing was changed.
        """
        if not kinds:
            self._print('No cluster was selected')
            return
        text = ', '.join(f'{count} {kind}' for kind, count in kinds.items())
        self._print(text + ('. Nothing was changed; use --apply to make the '
                            'changes'
                            if any(kinds[kind] for kind in would) else ''))

    def _print(self, text: str) -> None:
        print(text, file=self.app.stdout, flush=True)


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
    yield ''
