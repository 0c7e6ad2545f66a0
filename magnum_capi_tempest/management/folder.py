# SPDX-License-Identifier: Apache-2.0
"""The folder of a management cluster: its record, and who works on it."""

import contextlib
import fcntl
import json
import os
import pathlib

from magnum_capi import errors
from magnum_capi import folders
from magnum_capi import outfile

#: What was brought up, so that the other commands, and "up" after a crash,
#: need nothing but the folder.
RECORD = 'management.json'


def read(directory) -> dict | None:
    """What :func:`write` wrote, None when there is nothing to be read."""
    try:
        record = json.loads((pathlib.Path(directory) / RECORD).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def write(directory, record):
    """Remember what is brought up.

    :param record: JSON-compatible dict.
    """
    outfile.write_private(
        pathlib.Path(directory) / RECORD, json.dumps(record))


@contextlib.contextmanager
def alone(directory):
    """Let one command at a time work on a folder, and only on our own.

    The lock is on the folder itself: no file is needed, none stays.

    :raises UsageError: another command does, it holds something else, or
        other users can change it.
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
            directory.rmdir()   # only when nothing is in it
        os.close(descriptor)
