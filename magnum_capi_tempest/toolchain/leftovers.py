# SPDX-License-Identifier: Apache-2.0

"""Ends processes and removes files that a killed process left behind.

A build runs in its own process group. If only its parent is killed (kill -9,
the out-of-memory killer), it continues for minutes on all cores and recreates
its folder. It is found by a variable that it inherits: what else works with
a file in that folder is somebody else's.
"""

import collections.abc
import contextlib
import os
import pathlib
import shutil
import signal

import psutil

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import proc

#: Environment variable with the folder that a program works in.
MARK = 'MAGNUM_CAPI_WORK_FOLDER'

#: Seconds for killed processes to disappear.
_PATIENCE = 5


def marked(folder: pathlib.Path,
           env: collections.abc.Mapping[str, str] | None = None
           ) -> dict[str, str]:
    """The environment for a program that :func:`end` can find.

    :param folder: that it works in, or one in that.
    :param env: the rest of the environment, the caller's own by default.
    """
    return {**(os.environ if env is None else env),
            MARK: os.path.abspath(folder)}


def end(folder: pathlib.Path) -> None:
    """Kill the process groups that were started to work in a folder."""
    for process in psutil.process_iter():
        works = proc.variable(process, MARK)
        if not works or not pathlib.Path(works).is_relative_to(
                os.path.abspath(folder)):
            continue
        group = process.pid
        with contextlib.suppress(OSError):
            if os.getpgid(group) == group:
                os.killpg(group, signal.SIGKILL)
                with contextlib.suppress(errors.WaitTimeout):
                    waiting.wait_for(
                        lambda: _alive(group), done=lambda alive: not alive,
                        timeout=_PATIENCE, what=f'process {group} to end')


def remove(folder: pathlib.Path) -> None:
    """Remove a folder into which a dying process may still write."""
    def gone() -> bool:
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    # Files that remain are left to the next run.
    with contextlib.suppress(errors.WaitTimeout):
        waiting.wait_for(gone, done=bool, timeout=_PATIENCE,
                         what=f'{folder} to be removed')


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
