# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest plan``: which tests does a tempest.conf run?"""

import argparse
import collections
import re

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import tempest_run
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.workspace import folder


class Plan(base.Command):
    """Show which tests a workspace runs, and why it skips others.

    No cloud is contacted. What only the cloud can tell, such as its
    microversions and users, may skip more tests.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        tempest_run.add_tests(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        try:
            wanted = re.compile(args.regex)
        except re.error as e:
            raise errors.UsageError(
                'The regular expression cannot be used', where=args.regex,
                last_seen=e) from e
        found: dict[str, list[str]] = collections.defaultdict(list)
        for test in suite.tests(str(folder.etc_of(args.folder))):
            if wanted.search(f'{suite.PACKAGE}.{test.id}'):
                found[test.skipped].append(test.id)
        run = found.pop('', [])
        for ident in run:
            self._say(ident)
        for reason, skipped in sorted(found.items()):
            self._say(f'\n{reason}:')
            for ident in skipped:
                self._say(f'    {ident}')
        self._say(f'\n{len(run)} tests run, '
                  f'{sum(map(len, found.values()))} are skipped.')

    def _say(self, line: str) -> None:
        self.app.stdout.write(f'{line}\n')
