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


def add_results(parser, text):
    """Add the option for the folder in which a run is kept.

    :param text: what is kept there, for ``--help``.
    """
    parser.add_argument('--results', type=pathlib.Path, metavar='DIR',
                        help=f'keep {text}')


def take_down_at_the_end():
    """Have SIGTERM end what goes on as an exception does.

    So that sandboxes are taken down, too, when CI has lost its patience.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
