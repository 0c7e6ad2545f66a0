# SPDX-License-Identifier: Apache-2.0

"""Ends processes and removes files that a killed process left behind.

A build runs in its own process group. If only its parent is killed (kill -9,
the out-of-memory killer), it continues for minutes on all cores and recreates
its folder. It is found by the folder's random name on its command line.
"""

import contextlib
import os
import pathlib
import shutil
import signal

from magnum_capi import errors
from magnum_capi import waiting

#: Seconds for killed processes to disappear.
_PATIENCE = 5


def end(folder: pathlib.Path):
    """Kill this user's process groups that work in a leftover folder."""
    mark = os.fsencode(f'{folder}/')
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        pid = int(entry.name)
        with contextlib.suppress(OSError):
            arguments = (entry / 'cmdline').read_bytes().split(b'\0')
            if (any(a.startswith(mark) for a in arguments)
                    and entry.stat().st_uid == os.getuid()
                    and os.getpgid(pid) == pid):
                os.killpg(pid, signal.SIGKILL)
                with contextlib.suppress(errors.WaitTimeout):
                    waiting.wait_for(
                        lambda: _alive(pid), done=lambda alive: not alive,
                        timeout=_PATIENCE, what=f'process {pid} to end')


def remove(folder: pathlib.Path):
    """Remove a folder into which a dying process may still write."""
    def gone():
        shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    # Files that remain are left to the next run.
    with contextlib.suppress(errors.WaitTimeout):
        waiting.wait_for(gone, done=bool, timeout=_PATIENCE,
                         what=f'{folder} to be removed')


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
