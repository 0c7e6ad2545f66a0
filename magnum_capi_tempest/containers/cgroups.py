# SPDX-License-Identifier: Apache-2.0

"""Control groups of an engine: the one thing that outlives its processes.

All containers are in one group. Next to it, every process of the host that
is in no group counts like a whole group: with the kernel's default, all nodes
together would get as much of the processors as one compiler does. On a busy
machine kubeadm gave up then (112 s instead of 11 s).
"""

import contextlib
import os
import pathlib
import signal

from magnum_capi import waiting
from magnum_capi_tempest.containers import host

#: Twenty times the default, of either version: file -> value. See cpu.shares
#: of sched-design-CFS.rst and cpu.weight of cgroup-v2.rst in Linux.
_SHARE = {'cpu.shares': '20480', 'cpu.weight': '2000'}

#: Seconds for processes that were killed to be gone.
_PATIENCE = 20


def make(name):
    """Make the group, where it is about processors, with its share."""
    text = pathlib.Path('/proc/mounts').read_text()
    for folder, kind, options in host.mounts(text):
        if kind == 'cgroup' and 'cpu' not in options:
            continue
        group = pathlib.Path(folder, name)
        group.mkdir(exist_ok=True)
        for file, value in _SHARE.items():
            if (group / file).exists():
                (group / file).write_text(value)


def find(name) -> list[pathlib.Path]:
    """The folders of a control group, one for each hierarchy that has it.

    :param name: of a group at the top.
    """
    text = pathlib.Path('/proc/mounts').read_text()
    folders = (pathlib.Path(folder) / name
               for folder, _, _ in host.mounts(text))
    return [f for f in folders if f.is_dir()]


def remove(name):
    """Kill what is in a control group, and remove it.

    :raises WaitTimeout: a process in it does not end.
    """
    waiting.wait_for(
        lambda: [f for f in find(name) if not _gone(f)],
        done=lambda left: not left, timeout=_PATIENCE,
        what=f'the control group {name} to be empty',
        describe=lambda left: ', '.join(map(str, left)),
        pace=waiting.Pace(0.02, 1.5, 0.5))


def _gone(folder) -> bool:
    """Remove a group from the leaves up; False when one is not empty."""
    gone = True
    for path, _, _ in os.walk(folder, topdown=False):
        try:
            os.rmdir(path)
        except FileNotFoundError:
            pass
        except OSError:
            _kill(pathlib.Path(path))
            gone = False
    return gone


def _kill(folder):
    with contextlib.suppress(OSError):
        for pid in (folder / 'cgroup.procs').read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
