# SPDX-License-Identifier: Apache-2.0
"""Shows the logs of a sandbox."""

import collections
import collections.abc
import contextlib
import os
import pathlib
import time
import typing

from magnum_capi import errors
from magnum_capi_tempest import supervision


def show(supervisor: supervision.Supervisor,
         names: collections.abc.Sequence[str], lines: int, follow: bool,
         stream: typing.TextIO) -> None:
    """Print the last lines of logs, each with its program's name.

    :param supervisor: of the sandbox.
    :param names: programs; empty for all.
    :param follow: go on until interrupted.
    :raises UsageError: there is no such program.
    """
    folder = supervisor.directory / 'log'
    known = sorted(path.stem for path in folder.glob('*.log'))
    for name in names:
        if name not in known:
            raise errors.UsageError(
                f'There is no log of {name!r}',
                hint=f'Known: {", ".join(known)}')
    chosen = list(names) or known
    width = max(map(len, chosen))
    files = {n: open(supervisor.log(n), errors='replace')
             for n in chosen}
    try:
        for name, file in files.items():
            for line in collections.deque(file, lines):
                print(f'{name:{width}} | {line.rstrip()}', file=stream)
        while follow:
            for name, file in files.items():
                # Asked first: nothing is added to it after that.
                replaced = _is_replaced(file, supervisor.log(name))
                for line in file:
                    print(f'{name:{width}} | {line.rstrip()}', file=stream,
                          flush=True)
                if replaced:
                    file.close()
                    files[name] = open(supervisor.log(name),
                                       errors='replace')
            time.sleep(0.3)    # noqa: MC103  ends with Ctrl-C
    finally:
        for file in files.values():
            file.close()


def _is_replaced(file: typing.TextIO, path: pathlib.Path) -> bool:
    """Whether supervisord has begun a new file, because the log was large."""
    with contextlib.suppress(FileNotFoundError):
        return not os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    return False
