# SPDX-License-Identifier: Apache-2.0

"""Shows progress on standard error.

Long work wraps each part in :meth:`Progress.step`, which prints a line when
the part ends, and signs of life if it takes long, so that the log of a CI job
is readable without a terminal.
"""

from __future__ import annotations

import collections.abc
import contextlib
import os
import signal
import stat
import sys
import threading
import time
import typing


class Progress:
    """Prints timed lines to a stream.

    :param stream: standard error by default.
    :param patience: seconds after which a running step says that it still
        runs; again after twice as long, and so on.
    """

    def __init__(self, stream: typing.TextIO | None = None,
                 patience: float = 2.0) -> None:
        self._stream = stream
        self._patience = patience
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def info(self, text: str) -> None:
        """Print one line, with the seconds since this object was made."""
        with self._lock:
            stream = self._stream or sys.stderr
            elapsed = time.monotonic() - self._start
            print(f'[{elapsed:6.1f}s] {text}', file=stream, flush=True)

    @contextlib.contextmanager
    def step(self, what: str) -> collections.abc.Iterator[
            collections.abc.Callable[[str], None]]:
        """Time a part of the work and say how it ended.

        Yields a function ``note(text)`` for what the step is busy with.
        """
        begin = time.monotonic()
        over = threading.Event()
        busy = [what]

        def life() -> None:
            pause = self._patience
            while not over.wait(pause):
                self.info(f'{busy[0]} ... {time.monotonic() - begin:.0f} s')
                pause = min(pause * 2, 60)

        thread = threading.Thread(target=life, daemon=True)
        thread.start()
        try:
            yield lambda text: busy.__setitem__(0, f'{what}: {text}')
        except Exception:
            self.info(f'{what} FAILED after {time.monotonic() - begin:.1f} s')
            raise
        except BaseException:
            self.info(f'{what}: interrupted after '
                      f'{time.monotonic() - begin:.1f} s')
            raise
        else:
            self.info(f'{what}: {time.monotonic() - begin:.1f} s')
        finally:
            over.set()
            thread.join()


class Silent(Progress):
    """Prints nothing: for tests, and callers with their own progress."""

    def info(self, text: str) -> None:
        pass


def leave_terminal() -> None:
    """Detach from a closed terminal, in a handler of SIGHUP.

    Otherwise cleanup would fail when it prints something, or on a second
    SIGHUP, which the leader of a session gets.
    """
    signal.signal(signal.SIGHUP, lambda *_: None)
    with open(os.devnull, 'wb') as nobody:
        for descriptor in (1, 2):
            with contextlib.suppress(OSError):
                if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                    os.dup2(nobody.fileno(), descriptor)
