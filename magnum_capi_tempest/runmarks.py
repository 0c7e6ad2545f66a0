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

from magnum_capi import waiting
from magnum_capi_tempest import proc

#: Environment variable that identifies the processes of a run.
MARK = 'MAGNUM_CAPI_RUN'

_SESSION = 'session'


def remember(directory, pid):
    """Record the session of a run's supervisord."""
    (directory / _SESSION).write_text(str(os.getsid(pid)))


def marked(directory: pathlib.Path) -> list[int]:
    """Process ids of the run in ``directory``."""
    try:
        session = int((directory / _SESSION).read_text())
    except (OSError, ValueError):
        session = None
    found = []
    for entry in os.scandir('/proc'):
        if entry.name.isdigit():
            # It may have ended meanwhile, or belong to another user.
            with contextlib.suppress(OSError):
                if _belongs(int(entry.name), directory, session):
                    found.append(int(entry.name))
    return found


def runs() -> set[str]:
    """Folders of all runs of which a process is left."""
    found = set()
    for entry in os.scandir('/proc'):
        if entry.name.isdigit():
            # It may have ended meanwhile, or belong to another user.
            with contextlib.suppress(OSError):
                if value := proc.variable_of(int(entry.name), MARK):
                    found.add(value)
    return found


def _belongs(pid, directory, session):
    if proc.inherits(pid, MARK, directory):
        return True
    # The session number may have been reused since; the processes of such a
    # session do not work in our folder.
    return session is not None and os.getsid(pid) == session and \
        pathlib.Path(os.readlink(f'/proc/{pid}/cwd')).is_relative_to(
            directory)


def sweep(directory: pathlib.Path, spare=None) -> list[int]:
    """Kill every process of the run in ``directory``.

    A dying process loses its memory, and with it its mark, before its files:
    its ports are only free once this returns.

    :param spare: a process id to leave alone.
    :returns: process ids that were killed.
    :raises WaitTimeout: some of them do not end.
    """
    killed = set()

    def kill():
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
