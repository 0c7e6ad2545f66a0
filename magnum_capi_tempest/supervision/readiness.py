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
    if _missing(program, pid):
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
    elsewhere = _missing(program, pid) if pid else {*program.listens}
    return next((f'{found.address}:{found.port} is taken by {found.holder}'
                 for found in (listeners.listening() if elsewhere else ())
                 if (found.address, found.port) in elsewhere), '')


def _missing(program: model.Program, pid: int) -> set[tuple[str, int]]:
    """Where a program should listen and neither it nor a child of it does."""
    missing = {*program.listens}
    if missing:
        missing -= _addresses([pid])
    if missing:
        missing -= _addresses(_children(pid))
    return missing


def _addresses(pids: collections.abc.Iterable[int]) -> set[tuple[str, int]]:
    return {(found.address, found.port)
            for found in listeners.of_processes(pids)}


def _children(pid: int) -> list[int]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [p.pid for p in psutil.Process(pid).children(recursive=True)]
    return []
