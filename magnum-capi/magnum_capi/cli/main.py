# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi GROUP VERB``: where the command line begins."""

import atexit
import collections.abc
import contextlib
import gc
import os
import signal
import sys
import threading
import types

from magnum_capi.cli import app
from magnum_capi import progress


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    # At exit Python searches all remaining objects for cycles several times,
    # which takes a tenth of the time of a short command.
    atexit.register(gc.freeze)
    try:
        with _told_to_end():
            return app.MagnumCapi().run(argv)
    except BrokenPipeError:
        # The reader of our output is gone: "magnum-capi ... | head".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


@contextlib.contextmanager
def _told_to_end() -> collections.abc.Iterator[None]:
    """Turn signals into exceptions, so that a command cleans up.

    SIGHUP comes when the terminal is closed; nohup makes us ignore it.
    """
    mine: list[int] = []
    if threading.current_thread() is threading.main_thread():
        mine = [number for number in (signal.SIGTERM, signal.SIGHUP)
                if signal.getsignal(number) is signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: types.FrameType | None) -> None:
    if number == signal.SIGHUP:
        progress.leave_terminal()
    raise SystemExit(128 + number)


if __name__ == '__main__':
    sys.exit(main())
