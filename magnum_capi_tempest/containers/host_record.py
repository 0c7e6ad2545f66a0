# SPDX-License-Identifier: Apache-2.0

"""One record for a host: which engines run, and what the kernel was set to.

The kernel's settings belong to no namespace, cache or folder of ours, so
neither does the record. An engine is a file with a shared lock on it: of the
command that starts the engine, then of flock(1), from which dockerd and all
that it starts inherit it. However an engine ends, its lock ends with it, and
who has no lock is not counted. The first engine writes down what the settings
were, and the last one that ends puts it back: with its own end, or, when it
was killed, with the next command of any engine. A restart of the machine takes
the record with the settings.
"""

import contextlib
import fcntl
import json
import os
import pathlib

from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import waiting
from magnum_capi_tempest.containers import kernel

#: For root only: containers run for nobody else.
FOLDER = pathlib.Path('/run/magnum-capi/kernel')

_BEFORE = 'before.json'
_SUFFIX = '.engine'

#: Seconds to wait for another command, which reads and writes a few files.
_PATIENCE = 30


def entry(key: str) -> pathlib.Path:
    """The file that stands for an engine while somebody has a lock on it.

    :param key: as of :class:`..layout.Layout`.
    """
    return FOLDER / f'{key}{_SUFFIX}'


@contextlib.contextmanager
def joined(key: str):
    """Count an engine that is started in the block.

    At the end of the block its processes have to have the lock.

    :raises UsageError: other users can change the record's folder.
    :raises EnvironmentProblem: it cannot be made.
    """
    folders.make(FOLDER)
    with _alone():
        if not _living():
            # Of engines that were all killed.
            _put_back()
        before = FOLDER / _BEFORE
        if not before.exists():
            outfile.write_private(before, json.dumps(kernel.read()))
        held = _open(entry(key))
        fcntl.flock(held, fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(held)


def leave(key: str):
    """Count an engine no longer; the last one puts the settings back.

    Fine when it was never counted.
    """
    if not os.access(FOLDER, os.W_OK):
        # There was never an engine, or it is for root to say.
        return
    folders.check(FOLDER)
    with _alone():
        # Some of its processes may still be on their way out.
        entry(key).unlink(missing_ok=True)
        if not _living():
            _put_back()


def _living() -> bool:
    """Whether an engine lives; entries of those that do not are removed."""
    living = False
    for path in FOLDER.glob(f'*{_SUFFIX}'):
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        except BlockingIOError:
            living = True
        finally:
            os.close(descriptor)
    return living


def _put_back():
    before = FOLDER / _BEFORE
    with contextlib.suppress(OSError, ValueError, TypeError):
        kernel.put_back(dict(json.loads(before.read_text())))
    before.unlink(missing_ok=True)


@contextlib.contextmanager
def _alone():
    """One command at a time."""
    descriptor = _open(FOLDER / 'lock')
    try:
        waiting.wait_for(
            lambda: _taken(descriptor), done=bool, timeout=_PATIENCE,
            what='another command to be done with the record of the engines',
            hint=f'It has a lock on {FOLDER / "lock"}')
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor):
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path):
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
