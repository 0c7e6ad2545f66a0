# SPDX-License-Identifier: Apache-2.0


"""Runs a program for a user who may end it, and ends all of it then.

Tempest starts stestr's workers through shells, and workers start programs of
their own, some in their own sessions. They are identified as descendants, and
by a variable that they inherit, as Ctrl-C may end parents before their
children are seen. Their sandbox or workspace may be deleted right afterwards,
so none of them may outlive this program.
"""

import collections.abc
import contextlib
import os
import pathlib
import secrets
import signal
import threading
import time
import typing

import psutil

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest import proc

#: What a signal raises.
_Raised: typing.TypeAlias = BaseException | type[BaseException]

#: Reads a binary stream to its end.
_Reader: typing.TypeAlias = collections.abc.Callable[
    [typing.IO[bytes]], object]

#: Environment variable that all descendants of a program inherit.
_MARK = 'MAGNUM_CAPI_FOREGROUND'

#: Seconds that a program gets to clean up after SIGTERM or SIGHUP, as it does
#: after Ctrl-C. Who sends SIGTERM mostly kills a while later: systemd after 90
#: seconds (DefaultTimeoutStopSec), our role for Zuul after 120.
CLEANUP = 60

#: Seconds in which a repeated SIGTERM or SIGHUP is the same one: timeout(1)
#: sends it to its program and to the whole group.
_TWICE = 2

#: Seconds that processes get to end after SIGTERM.
_PATIENCE = 10

#: Seconds that processes get to disappear after SIGKILL.
_GONE = 10

_PACE = waiting.Pace(0.02, 1.5, 0.5)


class _Terminated(BaseException):
    """A signal of this number asked this program to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def run(argv: collections.abc.Iterable[object], *,
        env: collections.abc.Mapping[str, str] | None = None,
        cwd: pathlib.Path | None = None, read: _Reader | None = None,
        cleanup: float = CLEANUP) -> int:
    """Run a program until it ends by itself, or a signal ends it.

    It gets a process group of its own, so that a signal to the caller's group
    (Ctrl-C, a closed terminal, timeout(1)) reaches it through this function
    only: as SIGINT to its whole group, for which it cleans up. After a first
    SIGINT the caller waits until it has done so; after SIGTERM or SIGHUP for
    ``cleanup`` seconds. Whatever then runs is ended, with SIGKILL if
    necessary, and so it is at once after a second signal.

    :param read: function that reads its standard output, a binary file, to
        the end; None: the output goes where the caller's goes.
    :param cleanup: seconds.
    :returns: its exit code.
    :raises EnvironmentProblem: there is no such program.
    :raises KeyboardInterrupt: Ctrl-C; none of its processes is left.
    :raises SystemExit: SIGTERM or SIGHUP, with 128 plus its number, as in
        shells; none of its processes is left.
    """
    with _listening() as listen:
        mark = secrets.token_hex(8)
        process = processes.start(
            [str(a) for a in argv], cwd=cwd, env={
                **(os.environ if env is None else env), _MARK: mark},
            # It would be stopped if it read from the terminal.
            stdin=processes.NOTHING, process_group=0,
            stdout=None if read is None else processes.PIPE,
            preexec_fn=_restore_sigint)
        tree = _Tree(process, mark)
        with _reading(process, read):
            try:
                return _end_of(process, tree, listen, cleanup)
            except BaseException as e:
                with _ignoring_signals():
                    tree.end()
                if isinstance(e, _Terminated):
                    raise SystemExit(128 + e.number) from None
                raise


def _restore_sigint() -> None:
    # nohup and the background jobs of scripts ignore it; only we send it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def _reading(process: processes.Running, read: _Reader | None
             ) -> collections.abc.Iterator[None]:
    """Read the output of a process meanwhile, and its rest afterwards."""
    if read is None:
        yield
        return
    thread = threading.Thread(target=read, args=(process.stdout,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        # A daemon that it has started may have its output open.
        thread.join(processes.REST)
        if process.stdout and not thread.is_alive():
            process.stdout.close()


def _end_of(process: processes.Running, tree: '_Tree',
            listen: collections.abc.Callable[[], None], cleanup: float) -> int:
    try:
        listen()
        return process.wait()
    except (KeyboardInterrupt, _Terminated) as e:
        # Once their parents have ended, its descendants cannot be found.
        tree.alive()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        terminated = isinstance(e, _Terminated)
        progress.Progress().info(
            'Interrupted: what runs may clean up'
            + (f' for {cleanup:g} s' if terminated else '')
            + '; a second signal ends it at once')
        if not terminated:
            process.wait()
        with contextlib.suppress(errors.WaitTimeout):
            waiting.wait_for(
                process.poll, done=lambda code: code is not None,
                timeout=cleanup, what='the cleanup', pace=_PACE)
        raise


@contextlib.contextmanager
def _listening() -> collections.abc.Iterator[
        collections.abc.Callable[[], None]]:
    """Have signals raise once the function that this yields was called.

    SIGTERM and SIGHUP raise _Terminated, SIGINT KeyboardInterrupt as usual.
    Earlier, a program could be left running that nothing knows of.
    """
    received: list[_Raised] = []
    listens: list[bool] = []
    last: dict[int, float] = {}
    raised: dict[int, _Raised] = {
        signal.SIGTERM: _Terminated(signal.SIGTERM)}
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        raised[signal.SIGHUP] = _Terminated(signal.SIGHUP)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        raised[signal.SIGINT] = KeyboardInterrupt

    def handle(number: int, _frame: object) -> None:
        now = time.monotonic()
        if number == signal.SIGHUP:
            progress.leave_terminal()
        if number != signal.SIGINT and now - last.get(number, -_TWICE) < (
                _TWICE):
            return
        last[number] = now
        received.append(raised[number])
        if listens:
            raise raised[number]

    def listen() -> None:
        listens.append(True)
        if received:
            raise received[0]

    if threading.current_thread() is not threading.main_thread():
        # Only the main thread gets signals.
        yield lambda: None
        return
    before = {number: signal.signal(number, handle) for number in raised}
    try:
        yield listen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _ignoring_signals() -> collections.abc.Iterator[None]:
    """Ignore signals during a step that only takes seconds."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN)
              for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Tree:
    """A process and all of its descendants.

    A process that was seen once is remembered: once its parent has ended,
    its origin can no longer be found.
    """

    def __init__(self, process: processes.Running, mark: str) -> None:
        self._mark = mark
        self._seen = {psutil.Process(process.pid)}

    def alive(self) -> set[psutil.Process]:
        """Those that are still alive."""
        self._seen.update(process for process in psutil.process_iter()
                          if proc.variable(process, _MARK) == self._mark)
        for process in [*filter(_lives, self._seen)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                self._seen.update(process.children(recursive=True))
        return {*filter(_lives, self._seen)}

    def send(self, number: int) -> None:
        for process in self.alive():
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)

    def end(self) -> None:
        """End all of it, after some time to end by itself."""
        self.send(signal.SIGTERM)
        with contextlib.suppress(errors.WaitTimeout):
            self._wait(self.alive, _PATIENCE)
            return
        self._wait(self._killed, _GONE)

    def _killed(self) -> set[psutil.Process]:
        """Those that are still alive after SIGKILL."""
        self.send(signal.SIGKILL)
        return self.alive()

    def _wait(self, poll: collections.abc.Callable[[], set[psutil.Process]],
              timeout: float) -> None:
        waiting.wait_for(
            poll, done=lambda alive: not alive, timeout=timeout,
            what='all processes to end', pace=_PACE)


def _lives(process: psutil.Process) -> bool:
    # psutil knows a process by its id and its start, because ids are reused.
    try:
        return process.is_running() and process.status() not in (
            psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False
