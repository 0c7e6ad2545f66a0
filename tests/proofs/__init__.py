# SPDX-License-Identifier: Apache-2.0

"""Long-running proofs that tests and drivers do what we claim.

``python -m tests.proofs NAME`` runs one. Each has a folder with a module of
tests, whose scenarios are its cases; stestr runs and records them. Shared are
the command, which starts the sandbox and takes it down (``__main__``), the
base of the tests (:mod:`.case`), and that of the sandboxes (:mod:`.boxes`).
"""

import contextlib
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


def take_down_at_the_end():
    """Make SIGTERM raise an exception.

    So sandboxes are taken down even when CI stops the job.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@contextlib.contextmanager
def printing_to(descriptor: int):
    """Redirect standard output, also of programs that are started."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(descriptor, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
