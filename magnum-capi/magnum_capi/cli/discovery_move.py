# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi discovery move``: from one driver to the next."""

import argparse
import sys

from magnum_capi.cli import base
from magnum_capi.cli import discovery
from magnum_capi import errors


class Move(base.Lister):
    """Give new clusters to another driver; show what is left of the old one.

    Each public template of the old driver gets a translation for the new one,
    and is hidden when it has no clusters. Clusters stay with the old driver,
    which resizes and upgrades them until they are deleted. Without --apply
    nothing is changed. As an administrator, of Magnum 23 or later. Exit code:
    0, also when something is left; 2 wrong usage, 3 the cloud cannot be read
    or refuses.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        discovery.add_cloud(parser)
        parser.add_argument(
            '--from', dest='old', required=True, metavar='DRIVER',
            help='The driver that gets no new clusters any more.')
        parser.add_argument(
            '--to', dest='new', required=True, choices=discovery.TRANSLATED,
            help='The driver that gets them.')
        parser.add_argument(
            '--apply', action='store_true',
            help='Do it, and show what is left then.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import cloud
        from magnum_capi.discovery import move
        if args.old == args.new:
            raise errors.UsageError('Both are the same driver')
        if not args.os_cloud:
            raise errors.UsageError('Which cloud?', hint='Give --os-cloud')

        def look() -> move.Plan:
            return move.plan(
                *move.read(magnum), args.old, args.new,
                discovery.judge_of(args.new), args.new == discovery.OWN)
        with base.quiet(self.app.options.debug), cloud.explained(
                args.os_cloud):
            magnum = move.connect(args.os_cloud)
            found = look()
            if args.apply:
                for step in found.steps:
                    move.carry_out(magnum, step)
                found = look()
        if not (found.steps or found.clusters):
            print(f'Nothing is left of {args.old}', file=sys.stderr)
        return (('What', 'Name', 'Uuid', 'Next', 'Lost'), [
            *(('template', step.old['name'], step.old['uuid'], step.text,
               step.lost) for step in found.steps),
            *(('cluster', name, uuid, f'of {template}: resized and upgraded '
               f'by {args.old}, until it is deleted', '')
              for uuid, name, template in found.clusters)])
