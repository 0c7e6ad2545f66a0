# SPDX-License-Identifier: Apache-2.0

"""What /proc says of one process: what it is, and whether it has ended."""

import os
import pathlib


def inherits(pid: int, variable: str,
             value: str | os.PathLike[str]) -> bool:
    """Whether a process was started with this value of a variable.

    A program that changes its title overwrites its environment.

    :raises OSError: it has ended, or belongs to another user.
    """
    return variable_of(pid, variable) == os.fspath(value)


def variable_of(pid: int, name: str) -> str | None:
    """The value of a variable with which a process was started.

    :raises OSError: it has ended, or belongs to another user.
    """
    mark = os.fsencode(f'{name}=')
    with open(f'/proc/{pid}/environ', 'rb') as f:
        for word in f.read().split(b'\0'):
            if word.startswith(mark):
                return os.fsdecode(word[len(mark):])
    return None


def stat(pid: int | str) -> tuple[str, int, int]:
    """State, parent and start time (in ticks) of a process; see proc(5).

    :raises OSError: it has ended.
    """
    text = pathlib.Path(f'/proc/{pid}/stat').read_text(errors='replace')
    fields = text.rpartition(')')[2].split()
    return fields[0], int(fields[1]), int(fields[19])


def ended(pid: int) -> bool:
    """Whether a process has released everything, including its ports.

    Its exit code may not have been collected yet. The first thread of a
    process may be a zombie while other threads still hold its files.
    """
    try:
        return (stat(pid)[0] in 'ZX'
                and len(os.listdir(f'/proc/{pid}/task')) < 2)
    except (FileNotFoundError, ProcessLookupError):
        return True
