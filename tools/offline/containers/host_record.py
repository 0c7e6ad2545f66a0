# SPDX-License-Identifier: Apache-2.0

"""One record per host: the running engines, and the kernel's old settings.

The kernel's settings belong to no namespace, cache or folder of ours, so
neither does the record. Each engine has a file with a shared lock on it, held
by the command that starts the engine, then by flock(1), from which dockerd and
its children inherit it. However an engine ends, its lock ends with it, and
files without a lock do not count. The first engine records the settings, and
the last one that ends restores them: when it ends, or, if it was killed, with
the next command of any engine. A reboot resets both the settings and the
record.
"""

import contextlib
import fcntl
import json
import os
import pathlib

from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi import waiting
from tools.offline.containers import kernel

#: For root only: nobody else can run containers.
FOLDER = pathlib.Path('/run/magnum-capi/kernel')

_BEFORE = 'before.json'
_SUFFIX = '.engine'

#: Seconds to wait for another command, which accesses a few files.
_PATIENCE = 30


def entry(key: str) -> pathlib.Path:
    """The file that stands for an engine while it is locked.

    :param key: see :class:`..layout.Layout`.
    """
    return FOLDER / f'{key}{_SUFFIX}'


@contextlib.contextmanager
def joined(key: str):
    """Count an engine that is started in the block.

    At the end of the block its processes must hold the lock.

    :raises UsageError: other users can change the record's folder.
    :raises EnvironmentProblem: the folder cannot be made.
    """
    folders.make(FOLDER)
    with _alone():
        if not _living():
            # Left by engines that were all killed.
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
    """Stop counting an engine; the last one restores the settings.

    It may never have been counted.
    """
    if not os.access(FOLDER, os.W_OK):
        # There was never an engine, or only root may change the record.
        return
    folders.check(FOLDER)
    with _alone():
        # Some of its processes may still be ending.
        entry(key).unlink(missing_ok=True)
        if not _living():
            _put_back()


def _living() -> bool:
    """Whether any engine runs; removes the entries of dead ones."""
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
    """Allow one command at a time."""
    descriptor = _open(FOLDER / 'lock')
    try:
        waiting.wait_for(
            lambda: _taken(descriptor), done=bool, timeout=_PATIENCE,
            what='another command to release the record of the engines',
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
