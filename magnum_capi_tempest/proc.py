# SPDX-License-Identifier: Apache-2.0

"""What one process was started with, and whether it has ended."""

import psutil


def variable(process: psutil.Process, name: str) -> str | None:
    """The value of a variable with which a process was started.

    :returns: None if it had none, has ended, or belongs to another user. A
        program that changes its title overwrites its environment.
    """
    try:
        found: str | None = process.environ().get(name)
    except (psutil.Error, OSError):
        return None
    return found


def ended(pid: int | str) -> bool:
    """Whether a process has released everything, including its ports.

    Its exit code may not have been collected yet. The first thread of a
    process may be a zombie while other threads still hold its files.
    """
    try:
        process = psutil.Process(int(pid))
        return (process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
                and process.num_threads() < 2)
    except psutil.NoSuchProcess:
        return True
