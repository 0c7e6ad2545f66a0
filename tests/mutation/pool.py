# SPDX-License-Identifier: Apache-2.0


"""Processes that are forked, waited for, and leave nothing behind."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import os
import pathlib
import select
import shutil
import signal
import tempfile
import time
import traceback

from magnum_capi_tempest import runmarks
from tests.mutation import worker

#: Seconds for a whole process. Each of its tests has its own limit, which ends
#: it much earlier unless a test plays with alarms.
LIMIT = 1800

KILLED, IMPORT, TIMEOUT, DIED, SURVIVED = (
    'killed', 'import', 'timeout', 'died', 'survived')


@dataclasses.dataclass(frozen=True)
class End:
    """How a process ended.

    :param outcome: KILLED, IMPORT, TIMEOUT, DIED or SURVIVED.
    :param by: the test that it ended with, or what it said last.
    :param text: what it wrote.
    """

    outcome: str
    by: str
    seconds: float
    text: str = ''


def run(jobs: Iterable[tuple[object, Callable]], workers: int = 1,
        ) -> Iterator[tuple[object, End]]:
    """Fork a process for each job, and yield how it ended, as they end.

    :param jobs: what is handed back, and a function of a folder that is run
        in the process.
    """
    running = {}
    try:
        for name, function in jobs:
            while len(running) >= workers:
                yield from _ended(running)
            process = _Process(name, function)
            running[process.fd] = process
        while running:
            yield from _ended(running)
    finally:
        for process in running.values():
            process.end()


def _ended(running):
    """Wait for one of them; yields its end, or nothing when it took long."""
    now = time.monotonic()
    wait = max(0, min(p.began for p in running.values()) + LIMIT - now)
    ready, _, _ = select.select(list(running), [], [], wait)
    late = [fd for fd, p in running.items()
            if time.monotonic() - p.began > LIMIT]
    for fd in ready or late:
        process = running.pop(fd)
        yield process.name, process.end()


class _Process:

    def __init__(self, name, function):
        self.name = name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='mutant-'))
        self.began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            _child(self.folder, function)
        self.fd = os.pidfd_open(self.pid)

    def end(self) -> End:
        """End it and all that it has started; it may have ended already."""
        os.close(self.fd)
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if not pid:
                os.kill(self.pid, signal.SIGKILL)
                _pid, status = os.waitpid(self.pid, 0)
                status = signal.SIGALRM
            _sweep(self.pid, self.folder)
            return _read(self.folder, status, time.monotonic() - self.began)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def _child(folder, function):
    try:
        worker.settle(folder)
        # Programs that tests start inherit it.
        os.environ[runmarks.MARK] = str(folder)
        function(folder)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _sweep(pid, folder):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    runmarks.sweep(folder)


def _read(folder, status, seconds):
    outcome = folder / worker.OUTCOME
    if os.WIFEXITED(status) and outcome.exists():
        text = outcome.read_text(encoding='utf-8')
        word, _, by = text.partition(' ')
        return End(word if word in (KILLED, IMPORT, SURVIVED) else SURVIVED,
                   by if word in (KILLED, IMPORT) else '', seconds, text)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return End(TIMEOUT, _last(folder / worker.AT), seconds)
    return End(DIED, _last(folder / worker.AT) or _last(
        folder / worker.LOG), seconds)


def _last(path):
    """The last line of a file that may not be there."""
    try:
        lines = path.read_text(encoding='utf-8', errors='replace').split('\n')
    except FileNotFoundError:
        return ''
    return next((line for line in reversed(lines) if line.strip()), '')
