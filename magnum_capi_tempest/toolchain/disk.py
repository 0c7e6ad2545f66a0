# SPDX-License-Identifier: Apache-2.0

"""Disk space: checked before it is filled, and what need not stay."""

import collections.abc
import pathlib
import shutil
import time

from magnum_capi import errors


#: Seconds after which what nobody has used is removed from the cache.
KEPT = 30 * 24 * 3600


def unused(stamp: pathlib.Path) -> bool:
    """Whether a part of the cache has not been used for long.

    :param stamp: a file of it, whose time of change is that of its last use.
    """
    try:
        return time.time() - stamp.stat().st_mtime > KEPT
    except FileNotFoundError:
        # Another process is removing it.
        return False


def free(path: pathlib.Path) -> int:
    """Free bytes for this user where ``path`` is or would be created."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def require(
        need: int, paths: collections.abc.Iterable[pathlib.Path],
        what: str, moved_by: str, *,
        free: collections.abc.Callable[[pathlib.Path], int] = free) -> None:
    """Fail early if there is not enough disk space.

    :param need: bytes.
    :param paths: the folders that will grow; each must have the space.
    :param what: what needs it, "a build of etcd".
    :param moved_by: options or variables that name other folders, for the
        hint.
    :param free: function of a path, its free bytes.
    :raises EnvironmentProblem: one of them has less.
    """
    for path in paths:
        there = free(path)
        if there < need:
            raise errors.EnvironmentProblem(
                f'No disk space for {what}', where=path,
                last_seen=f'{text(there)} free, {text(need)} needed',
                hint=f'Free some space, or use another disk with {moved_by}')


def text(size: int) -> str:
    """A readable size: "1.5 GiB"."""
    for unit, power in (('GiB', 30), ('MiB', 20), ('KiB', 10)):
        if size >= 2**power:
            return f'{size / 2**power:.1f} {unit}'
    return f'{size} B'
