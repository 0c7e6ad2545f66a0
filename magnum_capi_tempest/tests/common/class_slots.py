# SPDX-License-Identifier: Apache-2.0

"""Gives test classes that must run alone their turn.

A class with tempest's decorator ``serial`` takes the write side of a lock of
which every other class takes the read side (tempest/test.py, setUpClass). The
lock is not fair: with several workers there is nearly always a reader. In one
run, a worker waited 280 s of 619, until the other one had no more classes to
run.

This module puts a turnstile in front of that lock. All classes pass through
it, and a serial one keeps it closed until it has the lock: it only waits for
the classes that are already running.
"""

from oslo_concurrency import lockutils
from tempest import config
from tempest import test

CONF = config.CONF

#: Name of the lock file beside tempest's own, "tempest-serial-rw-lock".
NAME = 'magnum-capi-turnstile'

#: The lock with which this process keeps the turnstile closed, if it does.
_closed: list[lockutils.InterProcessLock] = []


def enter(case: type[test.BaseTestCase]) -> None:
    """Wait for the turn of a class; for its setUpClass, before tempest's.

    Tempest then takes its lock and calls skip_checks, which must call
    :func:`reopen`.
    """
    if case.is_serial_execution_requested():
        # A class that is skipped need not wait.
        case.skip_checks()
        close()
    else:
        pass_through()


def pass_through() -> None:
    """Wait while another process keeps the turnstile closed."""
    close()
    reopen()


def close() -> None:
    """Keep all others out, once no other process does."""
    reopen()
    lock = lockutils.external_lock(
        NAME, lock_path=lockutils.get_lock_path(CONF))
    lock.acquire()
    _closed.append(lock)


def reopen() -> None:
    """Let others in again, if this process keeps them out."""
    while _closed:
        _closed.pop().release()
