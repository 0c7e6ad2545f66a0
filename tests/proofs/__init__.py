# SPDX-License-Identifier: Apache-2.0

"""Long-running proofs that tests and drivers do what we claim.

``python -m tests.proofs --list`` lists them, ``python -m tests.proofs NAME``
runs one. Each has a folder with its cases and a module ``proof``, which runs
and judges a case (:mod:`tests.proofs.proof`). Everything else is shared:
``__main__`` (options, selection, exit codes), ``runner`` (timeouts and
cleanup), ``records`` (observations with their time and commit) and ``tables``
(output on terminals and in the documentation).
"""

import pathlib
import signal
import sys


def add_results(parser, kept, judged):
    """Add the options to keep the results of a run, and to read kept ones.

    :param kept: the content of the folder, for ``--help``.
    :param judged: what is done with it instead of a run, for ``--help``.
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
    """Make SIGTERM raise an exception.

    So sandboxes are taken down even when CI stops the job.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
