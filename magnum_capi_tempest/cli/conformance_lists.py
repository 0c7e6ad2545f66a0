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
    """Get the lists of required tests of Kubernetes releases.

    Made from the Go module k8s.io/kubernetes of each version, 30 MB to
    download, through the module proxy (GOPROXY). Says which tests a version
    added or dropped. A version that was looked at before must be the same
    still.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'version', metavar='VERSION', nargs='*',
            help='For example v1.36.5. Default: what the proxy lists and '
                 'nobody looked at; it may serve more than it lists.')
        parser.add_argument(
            '--folder', metavar='DIR', type=pathlib.Path,
            default=required.folder(),
            help='Where new lists are kept; conformance-lists in the folder '
                 'of the state by default, where all commands find them.')
        return parser

    def take_action(self, args):
        versions = args.version or lists.unseen()
        for version in versions:
            updated = lists.update(version, args.folder, progress.Progress())
            if not updated.found.vouched:
                print('magnum-capi: the checksum database of Go does not '
                      f'know {version}; its hash {updated.found.h1} is '
                      'pinned as it is.', file=sys.stderr)
            for line in _lines(updated):
                print(line, file=self.app.stdout)
        if not versions:
            newest = required.looked_at()[-1].version
            print('The module proxy lists no version that is not known; the '
                  f'newest known is {newest}', file=self.app.stdout)
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
        yield (f'{count}; other than in {updated.before}, '
               f'{len(renames)} renamed:')
        yield from (f'  + {name}' for name in sorted(new - set(renames)))
        yield from (f'  - {name}' for name in sorted(
            old - set(renames.values())))
