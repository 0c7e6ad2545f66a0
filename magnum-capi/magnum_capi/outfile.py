# SPDX-License-Identifier: Apache-2.0

"""Writes files atomically, with the right mode from the start.

A reader never sees half a file; what Ctrl-C or a full disk leaves behind is
removed.
"""

import collections.abc
import contextlib
import os
import pathlib
import secrets
import typing

from magnum_capi import errors
from magnum_capi import folders

#: For the owner only.
PRIVATE = 0o600
#: For everybody that the umask allows.
PUBLIC = 0o666


@contextlib.contextmanager
def whole(path: str | pathlib.Path, mode: int = PUBLIC
          ) -> collections.abc.Iterator[typing.BinaryIO]:
    """Open a binary file for writing; it gets its name at the end.

    :param path: missing parents are made, with mode 0700 for a PRIVATE file.
        A device or a pipe is written to and not replaced.
    :param mode: PRIVATE or PUBLIC.
    :raises EnvironmentProblem: it cannot be written.
    """
    path = pathlib.Path(path)
    draft = None
    try:
        if _stays(path):
            with open(path, 'wb') as stream:
                yield stream
            return
        if mode == PRIVATE:
            folders.private(path.parent)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
        name = path.with_name(f'.{path.name}.{secrets.token_hex(4)}')
        # Not mkstemp, whose files only their owner can read: to ask for the
        # umask is to change it, for other threads as well.
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        draft = name
        with open(handle, 'wb') as stream:
            yield stream
        os.replace(draft, path)
        draft = None
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot write the file: {e.strerror}', where=path,
            hint='Check its permissions and the room on its disk, or choose '
                 'another folder') from e
    finally:
        if draft:
            draft.unlink(missing_ok=True)


def _stays(path: pathlib.Path) -> bool:
    """Whether a path is a device or a pipe, or a link to one.

    Also the links in /dev, such as stdout, that lead to a regular file.
    Replaced by root, they would be gone for all programs.
    """
    if path.is_symlink() and path.absolute().is_relative_to('/dev'):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def write_private(path: str | pathlib.Path, content: str | bytes) -> None:
    """Write a file that only its owner can ever read.

    :param path: see :func:`whole`.
    :raises EnvironmentProblem: it cannot be written.
    """
    if isinstance(content, str):
        content = content.encode()
    with whole(path, PRIVATE) as stream:
        stream.write(content)


@contextlib.contextmanager
def for_owner_only() -> collections.abc.Iterator[None]:
    """Make files of this program and its child processes private."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
