# SPDX-License-Identifier: Apache-2.0

"""Options of the commands that show results, and what follows from them."""

import argparse
import collections.abc
import contextlib
import pathlib
import sys


def add(parser: argparse.ArgumentParser, what: str, forms: str = '') -> None:
    """Options for what to print and which files to write.

    :param forms: of the files in a folder, for readers; empty: no folder can
        be asked for.
    """
    parser.add_argument(
        '-f', '--format', choices=('text', 'markdown', 'json', 'html'),
        default='text', help='Output format (default: text).')
    parser.set_defaults(output=None)
    if forms:
        parser.add_argument(
            '--output', type=pathlib.Path, metavar='DIR',
            help=f'Also write the {what} in every format ({forms}) to this '
                 'folder.')


@contextlib.contextmanager
def new_folders_named(*folders: pathlib.Path | None
                      ) -> collections.abc.Iterator[None]:
    """Name the folders that the block has made: each may be a typing error.

    :param folders: that are written to; None for one that is not asked for.
    """
    missing = [folder for folder in folders
               if folder and not folder.exists()]
    yield
    for folder in missing:
        print(f'magnum-capi: made the folder {folder.absolute()}',
              file=sys.stderr)


def show(
        args: argparse.Namespace,
        *,
        text: collections.abc.Callable[[pathlib.Path | None], object],
        markdown: collections.abc.Callable[[], str],
        json: collections.abc.Callable[[], str],
        html: collections.abc.Callable[[], str],
        folder: collections.abc.Callable[
            [pathlib.Path], pathlib.Path] | None = None) -> None:
    """Write a result as the options ask for it, and print it.

    :param text: function that prints it, of the path of its page; None
        without a page.
    :param markdown: function that returns it; ``json`` and ``html`` likewise.
    :param folder: function that writes it to a folder in every format, and
        returns the path of the page there.
    """
    page = folder(args.output) if args.output and folder else None
    if args.format == 'text':
        text(page)
    else:
        render = {'markdown': markdown, 'json': json, 'html': html}
        print(render[args.format](), end='')
