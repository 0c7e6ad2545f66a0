# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi discovery move``: from one driver to the next."""

import argparse
import sys

from magnum_capi.cli import base
from magnum_capi.cli import discovery
from magnum_capi import errors


class Move(base.Lister):
    """Move new clusters to another driver, and show what remains.

    Translates each public template of the old driver for the new one, and
    hides it if it has no clusters. Existing clusters stay with the old driver,
    which resizes and upgrades them until they are deleted. Without --apply
    nothing is changed. Needs an administrator, and Magnum 23 or later. Exit
    code: 0, even if something remains; 2 the command line is invalid, 3 the
    cloud cannot be read or refuses a change.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        discovery.add_cloud(parser)
        parser.add_argument(
            '--from', dest='old', required=True, metavar='DRIVER',
            help='Driver that new clusters should no longer use.')
        parser.add_argument(
            '--to', dest='new', required=True, choices=discovery.TRANSLATED,
            help='Driver that new clusters should use.')
        parser.add_argument(
            '--apply', action='store_true',
            help='Make the changes, and show what remains.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import cloud
        from magnum_capi.discovery import move
        if args.old == args.new:
            raise errors.UsageError('The old and the new driver are the same')
        if not args.os_cloud:
            raise errors.UsageError('No cloud is named',
                                    hint='Use --os-cloud or OS_CLOUD')

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
            print(f'Nothing uses {args.old} any more', file=sys.stderr)
        return (('What', 'Name', 'Uuid', 'Next', 'Lost'), [
            *(('template', step.old['name'], step.old['uuid'], step.text,
               step.lost) for step in found.steps),
            *(('cluster', name, uuid, f'of {template}: resized and upgraded '
               f'by {args.old}, until it is deleted', '')
              for uuid, name, template in found.clusters)])
