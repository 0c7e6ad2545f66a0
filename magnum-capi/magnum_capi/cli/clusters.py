# SPDX-License-Identifier: Apache-2.0

"""Shared by commands that change clusters where magnum-conductor runs."""

import argparse
import collections
import collections.abc
import contextlib
import json
import typing

from magnum_capi.cli import base
from magnum_capi import errors


@contextlib.contextmanager
def magnum_here() -> collections.abc.Iterator[None]:
    """Wraps imports that need Magnum.

    :raises EnvironmentProblem: Magnum or a library of the driver is missing.
    """
    try:
        yield
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'Magnum and the libraries of the driver are not installed here',
            last_seen=e,
            hint='Run this command where magnum-conductor runs') from None


class Command(base.Command):
    """Reports the outcome of each cluster, then a summary."""

    @staticmethod
    def add_format(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '-f', '--format', choices=('text', 'json'), default='text',
            help='Output format; json prints one object per line, for each '
                 'cluster (default: text).')

    def tell(self, args: argparse.Namespace, facts: dict[str, typing.Any],
             lines: collections.abc.Iterable[str]) -> None:
        """Report one cluster.

        :param facts: JSON-compatible.
        :param lines: the same as text.
        """
        self._print(json.dumps(facts) if args.format == 'json'
                    else '\n'.join(lines))

    def sum_up(self, args: argparse.Namespace,
               kinds: collections.Counter[str],
               would: collections.abc.Collection[str], does: str) -> None:
        """Print the summary, in text only.

        :param kinds: numbers of clusters by outcome.
        :param would: outcomes that mean that nothing was changed.
        :param does: what --apply does: "make the changes".
        """
        if args.format == 'json':
            return
        if not kinds:
            self._print('No cluster was selected')
            return
        text = ', '.join(f'{count} {kind}' for kind, count in kinds.items())
        self._print(text + (f'. Nothing was changed; use --apply to {does}'
                            if any(kinds[kind] for kind in would) else ''))

    def _print(self, text: str) -> None:
        print(text, file=self.app.stdout, flush=True)
