# SPDX-License-Identifier: Apache-2.0


"""Answers a caller in time, although the work may take longer.

Magnum's API waits for an upgrade, and after ``rpc_response_timeout`` answers
500 while the conductor continues. Time limits of single requests do not limit
their total, so the work gets its own thread, and the caller returns in time.
If nothing was changed by then, this cancels the work before its first change.
Otherwise the caller is told that the work continues.
"""

import collections.abc
from concurrent import futures
import threading
import time

from oslo_context import context
from oslo_log import log as logging

from magnum_capi import errors

LOG = logging.getLogger(__name__)


class TooLate(errors.MagnumCapiError):
    """The caller no longer waits, and nothing was changed yet."""


class Deadline:
    """The deadline for the answer to one request.

    :param seconds: how long the caller waits.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._committed = self._kept = self._left = False

    def run(self, work: collections.abc.Callable[[], None]) -> bool:
        """Run some work, and wait for its end as long as there is time.

        :param work: calls :meth:`commit` before it changes anything. Its
            errors are raised here if it ends in time.
        :returns: whether it ended; if not, it continues.
        :raises TooLate: it took too long before it changed anything.
        """
        result: futures.Future[None] = futures.Future()
        asked = time.monotonic()
        current = context.get_current()

        def worker() -> None:
            if current is not None:
                # For the request id in the log.
                current.update_store()
            try:
                work()
                result.set_result(None)
            except BaseException as e:
                result.set_exception(e)
                if self._left:
                    LOG.info('Failed after the caller was answered: %s', e)

        threading.Thread(target=worker, name='magnum-capi-upgrade',
                         daemon=True).start()
        self._wait_for(result)
        with self._lock:
            goes_on = not (result.done() or self._kept)
            self._left = goes_on
            too_late = goes_on and not self._committed
        if too_late:
            raise self._too_late(time.monotonic() - asked)
        if goes_on:
            return False
        result.result()
        return True

    def commit(self) -> None:
        """Announce the first change.

        :raises TooLate: the caller no longer waits.
        """
        with self._lock:
            if self._left:
                raise self._too_late(self._seconds)
            self._committed = True

    def keep(self) -> bool:
        """Make the caller wait for the end, which is near.

        :returns: False when the caller no longer waits.
        """
        with self._lock:
            self._kept = not self._left
            return self._kept

    def _wait_for(self, result: futures.Future[None]) -> None:
        futures.wait((result,), self._seconds)

    def _too_late(self, elapsed: float) -> TooLate:
        return TooLate('It took too long', elapsed=elapsed)
