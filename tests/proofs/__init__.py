# SPDX-License-Identifier: Apache-2.0


"""What the commands of proofs have in common: options, and how they end.

A proof runs programs for long, in a sandbox of its own or in one that is
there; keeps what it found, so that it can be shown again; and writes the
table of it for the documentation.
"""

import pathlib
import signal
import sys
import tempfile


def add_options(parser, port_base, *, results, shown, tables):
    """Add the options that all of them have.

    :param port_base: of their sandboxes; a developer's own may run meanwhile.
    :param results: what is kept in their folder, for ``--help``.
    :param shown: what ``--from-results`` does instead of a run.
    :param tables: what ``--write-docs`` writes.
    """
    add_results(parser, results)
    parser.add_argument('--from-results', action='store_true',
                        help=f'run nothing, {shown}')
    parser.add_argument('--write-docs', action='store_true',
                        help=f'write the {tables} of the documentation')
    parser.add_argument('--directory', type=pathlib.Path, metavar='DIR',
                        help='use the sandbox of this folder, and leave it '
                        'up (default: a new one, taken down at the end)')
    add_port_base(parser, port_base)


def add_results(parser, text):
    parser.add_argument('--results', type=pathlib.Path, metavar='DIR',
                        help=f'keep {text}')


def add_port_base(parser, port_base):
    parser.add_argument('--port-base', type=int, default=port_base)


def folder(args, stack, prefix) -> pathlib.Path:
    """The folder to work in, a new one unless another was asked for.

    :param stack: contextlib.ExitStack, at whose end a new one goes.
    """
    return args.directory or pathlib.Path(stack.enter_context(
        tempfile.TemporaryDirectory(prefix=prefix, dir='/tmp')))


def take_down_at_the_end():
    """Have SIGTERM end what goes on as an exception does.

    So that sandboxes are taken down, too, when CI has lost its patience.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
