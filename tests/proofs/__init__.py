# SPDX-License-Identifier: Apache-2.0

"""Long-running proofs that tests and drivers do what we claim.

``python -m tests.proofs NAME`` runs one. Each has a folder with a module of
tests, whose scenarios are its cases; stestr runs and records them. Shared are
the command, which takes everything down at the end (``__main__``), the base of
the tests (:mod:`.case`), and their sandboxes (:mod:`.boxes`).
"""

import os
import pathlib
import signal
import sys

#: Prefix of the environment variables of proofs.
PREFIX = 'MAGNUM_CAPI_PROOF_'


def setting(name: str, default: str = '') -> str:
    """The value of an environment variable, without its prefix."""
    return os.environ.get(f'{PREFIX}{name}', default)


def folder() -> pathlib.Path:
    """The folder for sandboxes and programs, which goes at the end."""
    return pathlib.Path(os.environ[f'{PREFIX}FOLDER'])


def results() -> pathlib.Path:
    """The folder for what stays."""
    return pathlib.Path(os.environ[f'{PREFIX}RESULTS'])


def mark() -> pathlib.Path:
    """Value of runmarks.MARK for programs that end with the run."""
    return folder() / 'programs'


def take_down_at_the_end():
    """Make SIGTERM raise an exception.

    So sandboxes are taken down even when CI stops the job.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
