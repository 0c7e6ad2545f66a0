# SPDX-License-Identifier: Apache-2.0

"""Is there room? Asked before a download or a build, not found out after."""

import pathlib
import shutil

from magnum_capi import errors


def free(path: pathlib.Path) -> int:
    """Free bytes for this user where ``path`` is or would be."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def require(need, paths, what, *, free=free):
    """Refuse to start what cannot end well.

    :param need: bytes.
    :param paths: the folders that will grow; each must have the room.
    :param what: what needs it, "a build of etcd".
    :param free: function of a path, its free bytes.
    :raises EnvironmentProblem: one of them has less.
    """
    for path in paths:
        there = free(path)
        if there < need:
            raise errors.EnvironmentProblem(
                f'No disk space for {what}', where=path,
                last_seen=f'{text(there)} free, {text(need)} needed',
                hint='Free some space, or use another disk with '
                     'MAGNUM_CAPI_CACHE, GOCACHE and GOMODCACHE')


def text(size) -> str:
    """Bytes for a person: "1.5 GiB"."""
    for unit, power in (('GiB', 30), ('MiB', 20), ('KiB', 10)):
        if size >= 2**power:
            return f'{size / 2**power:.1f} {unit}'
    return f'{size} B'
