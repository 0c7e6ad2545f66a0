# SPDX-License-Identifier: Apache-2.0
"""Observes programs from outside: memory, CPU time, the end of a log."""

import contextlib
import os
import pathlib

import psutil


def usage(pid: int, children: bool = True) -> tuple[int, float]:
    """Bytes of memory and CPU seconds of a process and its children.

    Memory is the proportional set size: shared memory counts once in the sum
    over all processes.
    """
    memory, cpu = 0, 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for p in [top, *(top.children(recursive=True) if children else ())]:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory += p.memory_full_info().pss
                cpu += sum(p.cpu_times()[:2])
    return memory, cpu


def tail(path: pathlib.Path, lines: int = 15) -> str:
    """The last lines of a text file, empty when there is none."""
    try:
        with open(path, 'rb') as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 20000))
            text = f.read().decode(errors='replace')
    except FileNotFoundError:
        return ''
    return '\n'.join(text.splitlines()[-lines:])
