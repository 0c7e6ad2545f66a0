# SPDX-License-Identifier: Apache-2.0

"""Private temporary folders, and removal of those whose process died.

A process that is killed with SIGKILL removes nothing. The owner of a folder
holds a lock on it (flock(2)), which ends with the process in any case; a
folder without a lock is abandoned, and the next call removes it.
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

    :param lock: descriptor; a program that inherits it keeps the folder even
        if it outlives the owner.
    """

    path: pathlib.Path
    lock: int


@contextlib.contextmanager
def folder(prefix: str, root: pathlib.Path | None = None
           ) -> collections.abc.Iterator[Folder]:
    """A private folder that exists while the block runs.

    :param prefix: of its name, and of abandoned folders to remove.
    :param root: its parent; the folder for temporary files by default.
    :raises OSError: it cannot be made.
    """
    sweep(prefix, root)
    with contextlib.ExitStack() as stack:
        while True:
            path = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix=prefix, dir=root,
                                            ignore_cleanup_errors=True)))
            # Another process may sweep it before it is locked.
            with contextlib.suppress(FileNotFoundError):
                descriptor = stack.enter_context(_opened(path))
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if path.exists():
                    break
        yield Folder(path, descriptor)


def sweep(prefix: str, root: pathlib.Path | None = None) -> None:
    """Remove the folders of dead processes. Raises nothing."""
    try:
        with os.scandir(root or tempfile.gettempdir()) as entries:
            found = [entry.path for entry in entries
                     if entry.name.startswith(prefix)]
        for path in found:
            _remove_if_left(path)
    except OSError as e:
        LOG.warning('Cannot search for abandoned folders: %s', e)


def _remove_if_left(path: str) -> None:
    try:
        with _opened(path) as descriptor:
            if os.fstat(descriptor).st_uid != os.geteuid():
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        # In use, just removed by its owner, or not a folder.
        return


@contextlib.contextmanager
def _opened(path: str | pathlib.Path) -> collections.abc.Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
