# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest plan``: what does a run need from a cloud?"""

from magnum_capi.cli import base
from magnum_capi_tempest.scorecard import plan


class Plan(base.Command):
    """Estimate what the whole suite needs: clusters, nodes, hours.

    No cloud is contacted. The numbers are counted from the tests, with all
    options set and all promises tested.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--minutes', type=float, default=15.0, metavar='N',
            help='Minutes that a cluster takes to be created (default: 15).')
        parser.add_argument(
            '-c', '--concurrency', type=int, default=2, metavar='N',
            help='Number of parallel workers (default: 2).')
        parser.add_argument(
            '--masters', type=int, default=1, metavar='N',
            help='Value of [magnum_capi] master_count (default: 1).')
        parser.add_argument(
            '--nodes', type=int, default=1, metavar='N',
            help='Value of [magnum_capi] node_count (default: 1).')
        return parser

    def take_action(self, args):
        found = plan.plan(
            plan.costs(), workers=args.concurrency, minutes=args.minutes,
            masters=args.masters, nodes=args.nodes)
        for line in plan.lines(found):
            self.app.stdout.write(f'{line}\n')
