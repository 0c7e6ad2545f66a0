# SPDX-License-Identifier: Apache-2.0
"""Finds every process of a run, even after the starting program was killed.

There are two marks. Processes inherit the variable ``MAGNUM_CAPI_RUN`` with
the folder of their run. And they belong to the session of the run's
supervisord, which is recorded: a program that changes its title (setproctitle,
Neutron) overwrites its environment, so that /proc no longer shows the
variable.
"""

import contextlib
import os
import pathlib
import signal

import psutil

from magnum_capi import waiting
from magnum_capi_tempest import proc

#: Environment variable that identifies the processes of a run.
MARK = 'MAGNUM_CAPI_RUN'

_SESSION = 'session'


def remember(directory: pathlib.Path, pid: int) -> None:
    """Record the session of a run's supervisord."""
    (directory / _SESSION).write_text(str(os.getsid(pid)))


def marked(directory: pathlib.Path) -> list[int]:
    """Process ids of the run in ``directory``."""
    try:
        session = int((directory / _SESSION).read_text())
    except (OSError, ValueError):
        session = None
    return [process.pid for process in psutil.process_iter()
            if _belongs(process, directory, session)]


def runs() -> set[str]:
    """Folders of all runs of which a process is left."""
    return {folder for process in psutil.process_iter()
            if (folder := proc.variable(process, MARK))}


def _belongs(process: psutil.Process, directory: pathlib.Path,
             session: int | None) -> bool:
    if proc.variable(process, MARK) == str(directory):
        return True
    # The session number may have been reused since; the processes of such a
    # session do not work in our folder.
    with contextlib.suppress(psutil.Error, OSError):
        return session is not None and os.getsid(process.pid) == session \
            and pathlib.Path(process.cwd()).is_relative_to(directory)
    # It has ended meanwhile, or belongs to another user.
    return False


def sweep(directory: pathlib.Path, spare: int | None = None) -> list[int]:
    """Kill every process of the run in ``directory``.

    A dying process loses its memory, and with it its mark, before its files:
    its ports are only free once this returns.

    :param spare: a process id to leave alone.
    :returns: process ids that were killed.
    :raises WaitTimeout: some of them do not end.
    """
    killed = set()

    def kill() -> list[int]:
        left = [p for p in marked(directory)
                if p not in (os.getpid(), spare)]
        # Lowest first: supervisord would restart some programs.
        for pid in sorted(left):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        return left or [p for p in killed if not proc.ended(p)]

    waiting.wait_for(kill, done=lambda left: not left, timeout=30,
                     what=f'the processes of {directory} to end',
                     pace=waiting.Pace(0.02, 1.5, 0.5))
    return sorted(killed)
