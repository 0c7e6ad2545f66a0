# SPDX-License-Identifier: Apache-2.0


"""Private folders for helm, and the end of those whose Magnum died.

A process that is killed with SIGKILL removes nothing. Who uses a folder holds
a lock on it (flock(2)), which ends with the process whatever ends that; so a
folder without a lock is nobody's.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

PREFIX = 'magnum-helm-'

#: Seconds. A younger folder may not have its lock yet.
_YOUNG = 10


@contextlib.contextmanager
def folder():
    """A private folder for as long as it lasts; the dead's are removed."""
    sweep()
    with tempfile.TemporaryDirectory(
            prefix=PREFIX, ignore_cleanup_errors=True) as path:
        with _opened(path) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield path


def sweep():
    """Remove the folders of processes that are dead. Raises nothing."""
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            found = [entry.path for entry in entries
                     if entry.name.startswith(PREFIX)]
        for path in found:
            _remove_if_left(path)
    except OSError as e:
        LOG.warning('Cannot look for folders that helm left: %s', e)


def _remove_if_left(path):
    try:
        with _opened(path) as descriptor:
            status = os.fstat(descriptor)
            if (status.st_uid != os.geteuid()
                    or time.time() - status.st_mtime < _YOUNG):
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        # In use, removed by its owner meanwhile, or not a folder.
        return


@contextlib.contextmanager
def _opened(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
