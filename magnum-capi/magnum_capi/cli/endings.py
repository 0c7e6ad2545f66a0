# SPDX-License-Identifier: Apache-2.0
"""How a command ends: its exit code and its last message.

Also that of scripts and modules that are no commands of ``magnum-capi``.

cliff's application exits with code 1 for every exception; the errors of this
project have their own codes.
"""

import collections.abc
import contextlib
import os
import signal
import sys
import threading
import types

from magnum_capi import errors
from magnum_capi import progress

#: Exit code of a judging command for bugs, and for errors whose code is 1.
BROKEN = 3

_Call = collections.abc.Callable[[], int]


def program(call: _Call) -> int:
    """Call what a script does, which ends as a command does.

    :returns: its exit code.
    """
    def act() -> int:
        code = explained(call)
        if sys.stdout:
            # Here a reader that has gone is no error, but at exit it is.
            sys.stdout.flush()
        return code

    return cleaned(act)


def cleaned(call: _Call) -> int:
    """Call a function that cleans up when a signal ends this program.

    :returns: its exit code, or 141 when the reader of our output has gone.
    """
    try:
        with _signals_as_exceptions():
            return call()
    except BrokenPipeError:
        # As in "magnum-capi ... | head".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


@contextlib.contextmanager
def _signals_as_exceptions() -> collections.abc.Iterator[None]:
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


def explained(call: _Call, debug: bool = False) -> int:
    """Call a command; an error is printed as one line, without a traceback.

    :param debug: raise the error instead.
    :returns: its exit code.
    """
    try:
        return call()
    except errors.MagnumCapiError as e:
        if debug:
            raise
        print(f'magnum-capi: {e}', file=sys.stderr)
        return e.exit_code
    except KeyboardInterrupt:
        print('magnum-capi: interrupted', file=sys.stderr)
        return 130


def judged(call: _Call, debug: bool = False) -> int:
    """Call a command whose exit code 1 is a verdict; errors use others."""
    verdicts: list[int] = []

    def act() -> int:
        verdicts.append(call())
        return verdicts[0]

    try:
        code = explained(act, debug)
    except BrokenPipeError:
        raise
    except Exception:
        # cliff would exit with 1. Imported only here, to save time.
        import traceback
        traceback.print_exc()
        return BROKEN
    return BROKEN if code == 1 and not verdicts else code
