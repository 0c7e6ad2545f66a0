# SPDX-License-Identifier: Apache-2.0
"""Whether a program is ready: it listens where it should, and says so.

An answer alone is not enough. Any user of the machine may bind an unprivileged
port first, answer in the program's place, and receive the passwords of its
users.
"""

import collections.abc
import contextlib

import psutil

from magnum_capi_tempest import listeners
from magnum_capi_tempest.supervision import model


def ready(program: model.Program, pid: int) -> bool:
    """Check once. The probe is not called before the program listens.

    :param pid: of its first process; sockets of its children count, too.
    """
    found = _listeners(program)
    if {(f.address, f.port) for f in found} != set(program.listens) \
            or not _own(pid, found):
        return False
    if program.ready is None:
        return True
    try:
        return bool(program.ready())
    except OSError:
        return False


def obstacle(program: model.Program, pid: int | None) -> str:
    """A phrase on another listener on a program's port, empty if none.

    :param pid: None when it does not run.
    """
    for found in _listeners(program):
        if pid is None or not _own(pid, [found]):
            return (f'{found.address}:{found.port} is taken by '
                    f'{listeners.holder(found)}')
    return ''


def _listeners(program: model.Program) -> list[listeners.Listener]:
    if not program.listens:
        return []
    return [found for found in listeners.listening()
            if (found.address, found.port) in program.listens]


def _own(
        pid: int, found: collections.abc.Sequence[listeners.Listener]) -> bool:
    """Whether a process or its children own all these sockets."""
    inodes = {f.inode for f in found}
    left = inodes - listeners.sockets(pid)
    if left:
        left -= set().union(*map(listeners.sockets, _children(pid)))
    return not left


def _children(pid: int) -> list[int]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [p.pid for p in psutil.Process(pid).children(recursive=True)]
    return []
