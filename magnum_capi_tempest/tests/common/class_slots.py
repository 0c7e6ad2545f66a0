# SPDX-License-Identifier: Apache-2.0

"""Classes that must be alone get their turn.

A class that is decorated with tempest's ``serial`` takes the write side of a
lock of which every other class takes the read side (tempest/test.py,
setUpClass). The lock is not fair: where several workers run, there is nearly
always a reader. A worker was seen to wait 280 s of 619, until the other one
had no more classes to run.

Here is a turnstile in front of that lock: all classes go through it, and a
serial one keeps it closed until it has the lock. It waits for the classes
that run, and for no others then.
"""

from oslo_concurrency import lockutils
from tempest import config
import testtools

CONF = config.CONF

#: Of the file beside tempest's own, "tempest-serial-rw-lock".
NAME = 'magnum-capi-turnstile'

#: What this process keeps closed.
_closed = []


class FairTest(testtools.TestCase):
    """A base of test classes, to be named after tempest.test.BaseTestCase.

    That calls the setUpClass of what comes after it before it takes the lock,
    and skip_checks once it has it, which must then call :func:`reopen`.
    """

    @classmethod
    def setUpClass(cls):  # noqa: MC102
        super().setUpClass()
        if cls.is_serial_execution_requested():
            # A skipped class need not wait.
            cls.skip_checks()
            close()
        else:
            pass_through()


def pass_through():
    """Wait while another process keeps the turnstile closed."""
    close()
    reopen()


def close():
    """Keep all others away, once they do not do so themselves."""
    reopen()
    lock = lockutils.external_lock(
        NAME, lock_path=lockutils.get_lock_path(CONF))
    lock.acquire()
    _closed.append(lock)


def reopen():
    """Let others through again, if this process keeps them away."""
    while _closed:
        _closed.pop().release()
