# SPDX-License-Identifier: Apache-2.0

"""Ends what a killed process left running, and removes what it left lying.

A build runs in a process group of its own. When only its parent is killed
(kill -9, the out-of-memory killer) it goes on, for minutes, with all cores,
and makes its folder again. The folder's name is random and on its command
line: that is how it is found.
"""

import contextlib
import os
import pathlib
import shutil
import signal

from magnum_capi import errors
from magnum_capi import waiting

#: Seconds for killed processes to go.
_PATIENCE = 5


def end(folder: pathlib.Path, proc=pathlib.Path('/proc')):
    """Kill this user's process groups that work in a dead one's folder."""
    mark = os.fsencode(f'{folder}/')
    for entry in proc.glob('[0-9]*'):
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

    # What stays after that is a leftover for the next run.
    with contextlib.suppress(errors.WaitTimeout):
        waiting.wait_for(gone, done=bool, timeout=_PATIENCE,
                         what=f'{folder} to be removed')


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
