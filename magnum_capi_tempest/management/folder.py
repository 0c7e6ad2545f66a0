# SPDX-License-Identifier: Apache-2.0
"""The folder of a management cluster: its record and its lock."""

import collections.abc
import contextlib
import fcntl
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile
from magnum_capi_tempest import json_types

#: Record of what was brought up, so that the other commands, and "up" after a
#: crash, need only the folder.
RECORD = 'management.json'


def read(directory: pathlib.Path) -> json_types.Object | None:
    """What :func:`write` wrote, None if there is no readable record."""
    try:
        record = json.loads((pathlib.Path(directory) / RECORD).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def write(directory: pathlib.Path, record: json_types.Object) -> None:
    """Record what is brought up.

    :param record: JSON-compatible dict.
    """
    outfile.write_private(
        pathlib.Path(directory) / RECORD, json.dumps(record))


@contextlib.contextmanager
def alone(directory: pathlib.Path) -> collections.abc.Iterator[None]:
    """Let one command at a time work on a folder, and only on one of ours.

    The lock is on the folder itself, so that no lock file is left over.

    :raises UsageError: another command works on the folder, it holds
        something else, or other users can change it.
    """
    directory = folders.make(directory)
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot use this folder: {e.strerror}', where=directory) from e
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise errors.UsageError(
                'Another command is working on this management cluster',
                where=directory, hint='Wait until it has finished') from None
        if os.listdir(directory) and not (directory / RECORD).exists():
            raise errors.UsageError(
                'The folder contains something other than a management '
                'cluster', where=directory,
                hint='Name an empty or new folder')
        yield
    finally:
        with contextlib.suppress(OSError):
            directory.rmdir()   # fails unless it is empty
        os.close(descriptor)
