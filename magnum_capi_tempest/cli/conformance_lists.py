# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi conformance lists update``: what a release requires."""

import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import progress
from magnum_capi_tempest.conformance import lists
from magnum_capi_tempest.conformance.reports import compare
from magnum_capi_tempest.conformance import required


class Update(base.Command):
    """Update the lists of tests that conformance requires.

    Each list is read from the Go module k8s.io/kubernetes of a Kubernetes
    release, a download of 30 MB through the module proxy (GOPROXY). Prints
    which tests a release added or dropped. Fails if a release differs from
    what was read before.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'version', metavar='VERSION', nargs='*',
            help='Kubernetes release, for example v1.36.5 (default: all new '
                 'ones that the proxy lists; it may serve more than it '
                 'lists).')
        parser.add_argument(
            '--folder', metavar='DIR', type=pathlib.Path,
            default=required.folder(),
            help='Folder for new lists (default: conformance-lists in the '
                 'state folder, where all commands find them).')
        return parser

    def take_action(self, args):
        versions = args.version or lists.unseen()
        for version in versions:
            updated = lists.update(version, args.folder, progress.Progress())
            if not updated.found.vouched:
                print(f'magnum-capi: {version} is not in the Go checksum '
                      f'database; its hash {updated.found.h1} is recorded '
                      'without verification.', file=sys.stderr)
            for line in _lines(updated):
                print(line, file=self.app.stdout)
        if not versions:
            newest = required.looked_at()[-1].version
            print('The module proxy lists no new version; the newest known is '
                  f'{newest}', file=self.app.stdout)
        return 0


def _lines(updated):
    found = updated.found
    count = f'{found.version}: {len(found.names)} required tests'
    if updated.before == found.version:
        yield f'{count}, as before'
    elif not updated.before:
        yield count
    elif not updated.added and not updated.dropped:
        yield f'{count}, the same as in {updated.before}'
    else:
        new, old = set(updated.added), set(updated.dropped)
        renames = compare.renames(old, new)
        yield (f'{count}; differs from {updated.before}, {len(renames)} '
               'renamed:')
        yield from (f'  + {name}' for name in sorted(new - set(renames)))
        yield from (f'  - {name}' for name in sorted(
            old - set(renames.values())))
