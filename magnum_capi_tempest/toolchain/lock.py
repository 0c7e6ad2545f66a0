# SPDX-License-Identifier: Apache-2.0

"""A file lock whose waiters can see the holder.

``flock`` disappears with its process, however that ends, so no stale lock is
left. The file holds the process id of the holder and what it does, for the
message of a waiting process.
"""

import collections.abc
import contextlib
import fcntl
import os
import pathlib

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting

#: Seconds to wait for another process: more than a cold build of everything
#: on a slow machine.
PATIENCE = 2 * 3600


@contextlib.contextmanager
def hold(path: pathlib.Path, doing: str, progress: progress.Progress, *,
         timeout: float = PATIENCE) -> collections.abc.Iterator[int]:
    """Hold the lock for the duration of a ``with`` block.

    Yields its descriptor: a program that inherits it holds the lock, too, even
    if this process is killed.

    :param doing: what the block does, "builds etcd 3.6.16"; shown to others.
    :param progress: gets a message about a wait (:class:`progress.Progress`).
    :param timeout: seconds to wait for the current holder.
    :raises WaitTimeout: the other process did not finish.
    :raises EnvironmentProblem: the cache folder cannot be used.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = _try(path)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot use the cache folder: {e.strerror}', where=path,
            hint='Make it writable, with room, or set MAGNUM_CAPI_CACHE to '
                 'another one') from e
    if fd is None:
        with progress.step(
                f'waiting for another process that {holder(path)}'):
            fd = waiting.wait_for(
                lambda: _try(path), done=lambda got: got is not None,
                timeout=timeout, what=f'the lock {path}',
                pace=waiting.Pace(first=0.05, most=1.0),
                describe=lambda _: f'held by a process that {holder(path)}',
                hint='Check that process; the lock is released when it ends')
    assert fd is not None
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, f'{doing} (pid {os.getpid()})\n'.encode(), 0)
        yield fd
    finally:
        # Closing unlocks. Child processes have no copy of the descriptor,
        # unless they are given one: it is not inherited across exec (PEP 446).
        os.close(fd)


def holder(path: pathlib.Path) -> str:
    """What the holder does, and its process id."""
    try:
        return path.read_text(encoding='utf-8').strip() or 'just started'
    except OSError:
        return 'just ended'


def _try(path: pathlib.Path) -> int | None:
    """A descriptor that holds the lock, or None while another has it."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The file may have been removed between open and lock; a lock on
            # a removed file protects nothing.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(path)):
                    return fd
        except BlockingIOError:
            os.close(fd)
            return None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
