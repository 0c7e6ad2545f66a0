# SPDX-License-Identifier: Apache-2.0
"""Finds every process of a run, also after who started it was killed.

Two marks. Processes inherit the variable ``MAGNUM_CAPI_RUN`` with the folder
of their run. And they belong to the session of the run's supervisord, which
is written down: a program that changes its title (setproctitle, Neutron)
writes over its environment, and leaves no variable to be read in /proc.
"""

import contextlib
import os
import pathlib
import signal

from magnum_capi import waiting
from magnum_capi_tempest import proc

#: Environment variable by which every process of a run is known.
MARK = 'MAGNUM_CAPI_RUN'

_SESSION = 'session'


def remember(directory, pid):
    """Write down the session of a run's supervisord."""
    (directory / _SESSION).write_text(str(os.getsid(pid)))


def marked(directory: pathlib.Path) -> list[int]:
    """Process ids of the run of ``directory``."""
    try:
        session = int((directory / _SESSION).read_text())
    except (OSError, ValueError):
        session = None
    found = []
    for entry in os.scandir('/proc'):
        if entry.name.isdigit():
            # It may have ended meanwhile, or belong to somebody else.
            with contextlib.suppress(OSError):
                if _belongs(int(entry.name), directory, session):
                    found.append(int(entry.name))
    return found


def _belongs(pid, directory, session):
    if proc.inherits(pid, MARK, directory):
        return True
    # The number of a session may have been given to another one since; its
    # processes do not work in our folder.
    return session is not None and os.getsid(pid) == session and \
        pathlib.Path(os.readlink(f'/proc/{pid}/cwd')).is_relative_to(
            directory)


def sweep(directory: pathlib.Path, spare=None) -> list[int]:
    """Kill every process of the run of ``directory``.

    A dying process loses its memory, and with it its mark, before its files:
    its ports are free only when this returns.

    :param spare: a process id to leave alone.
    :returns: process ids that were killed.
    :raises WaitTimeout: some of them do not end.
    """
    killed = set()

    def kill():
        left = [p for p in marked(directory)
                if p not in (os.getpid(), spare)]
        # The lowest first: supervisord would start some programs again.
        for pid in sorted(left):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        return left or [p for p in killed if not proc.ended(p)]

    waiting.wait_for(kill, done=lambda left: not left, timeout=30,
                     what=f'the processes of {directory} to end',
                     pace=waiting.Pace(0.02, 1.5, 0.5))
    return sorted(killed)
