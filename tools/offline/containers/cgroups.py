# SPDX-License-Identifier: Apache-2.0

"""Control groups of an engine, which outlive its processes.

All containers are in one group. Every process of the host outside of groups
competes with it like a whole group: with the kernel's default, all nodes
together would get as much CPU time as one compiler. On a busy machine kubeadm
then gave up (112 s instead of 11 s).
"""

import contextlib
import os
import pathlib
import signal

from magnum_capi import waiting
from tools.offline.containers import host

#: Twenty times the default, for both versions of control groups: file ->
#: value. See cpu.shares in sched-design-CFS.rst and cpu.weight in
#: cgroup-v2.rst of Linux.
_SHARE = {'cpu.shares': '20480', 'cpu.weight': '2000'}

#: Seconds for killed processes to disappear.
_PATIENCE = 20


def make(name):
    """Make the group in the hierarchy for CPU time, with its share."""
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

    :param name: of a top-level group.
    """
    text = pathlib.Path('/proc/mounts').read_text()
    folders = (pathlib.Path(folder) / name
               for folder, _, _ in host.mounts(text))
    return [f for f in folders if f.is_dir()]


def remove(name):
    """Kill all processes in a control group, and remove it.

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
