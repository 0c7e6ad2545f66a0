# SPDX-License-Identifier: Apache-2.0

"""Private folders for a while, and the end of those whose owner died.

A process that is killed with SIGKILL removes nothing. The owner of a folder
holds a lock on it (flock(2)), which ends with the process however that ends;
a folder without a lock is nobody's, and goes with the next call.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import fcntl
import logging
import os
import pathlib
import shutil
import tempfile

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Folder:
    """A private folder in use.

    :param lock: descriptor; a program that inherits it keeps the folder, also
        when it outlives its owner.
    """

    path: pathlib.Path
    lock: int


@contextlib.contextmanager
def folder(prefix: str, root: pathlib.Path | None = None
           ) -> collections.abc.Iterator[Folder]:
    """A private folder for as long as the block lasts.

    :param prefix: of its name, and of those that may be removed.
    :param root: the folder above; that of temporary files by default.
    :raises OSError: it cannot be made.
    """
    sweep(prefix, root)
    with contextlib.ExitStack() as stack:
        while True:
            path = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix=prefix, dir=root,
                                            ignore_cleanup_errors=True)))
            # Somebody may sweep it before it has its lock.
            with contextlib.suppress(FileNotFoundError):
                descriptor = stack.enter_context(_opened(path))
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if path.exists():
                    break
        yield Folder(path, descriptor)


def sweep(prefix: str, root: pathlib.Path | None = None) -> None:
    """Remove the folders of processes that are dead. Raises nothing."""
    try:
        with os.scandir(root or tempfile.gettempdir()) as entries:
            found = [entry.path for entry in entries
                     if entry.name.startswith(prefix)]
        for path in found:
            _remove_if_left(path)
    except OSError as e:
        LOG.warning('Cannot look for folders that were left: %s', e)


def _remove_if_left(path: str) -> None:
    try:
        with _opened(path) as descriptor:
            if os.fstat(descriptor).st_uid != os.geteuid():
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        # In use, removed by its owner meanwhile, or not a folder.
        return


@contextlib.contextmanager
def _opened(path: str | pathlib.Path) -> collections.abc.Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
