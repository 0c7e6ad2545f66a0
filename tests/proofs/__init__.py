# SPDX-License-Identifier: Apache-2.0

"""Proofs that tests and drivers do what is said of them, at length.

``python -m tests.proofs --list`` names them, ``python -m tests.proofs NAME``
runs one. Each has a folder with its cases and a module ``proof``, which says
how one case is run and judged (:mod:`tests.proofs.proof`). All else is here,
once: ``__main__`` (options, selection, exit codes), ``runner`` (time-outs and
clean-up), ``records`` (what was seen when, on which commit) and ``tables``
(what terminals and the documentation show).
"""

import pathlib
import signal
import sys


def add_results(parser, kept, judged):
    """Add the options for a run that is kept, and for one that was.

    :param kept: what is in the folder, for ``--help``.
    :param judged: what becomes of it without a run, for ``--help``.
    """
    parser.add_argument('--results', type=pathlib.Path, metavar='DIR',
                        help=f'keep {kept}')
    parser.add_argument('--from-results', action='store_true',
                        help=f'run nothing, {judged}')


def parse(parser, words, reads):
    """Parse a command line with the options of :func:`add_results`.

    :param reads: another option that needs ``--results``.
    """
    args = parser.parse_args(words)
    if (args.from_results or getattr(args, reads)) and not args.results:
        parser.error(f'--from-results and --{reads} need --results')
    return args


def take_down_at_the_end():
    """Have SIGTERM end what goes on as an exception does.

    So that sandboxes are taken down, too, when CI has lost its patience.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
