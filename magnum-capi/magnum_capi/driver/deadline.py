# SPDX-License-Identifier: Apache-2.0


"""An answer in time to somebody who waits, though the work may take longer.

Magnum's API waits for an upgrade, and after ``rpc_response_timeout`` answers
500 while the conductor works on. No sum of time limits of single requests is
a limit of all of them, so the work has a thread of its own, and the caller
leaves in time. Before anything was changed, that cancels the work: it stops
before it changes something. Later, the caller has been told that it goes on.
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
    """Nobody waits any more, and nothing was changed yet."""


class Answer:
    """The answer to one request.

    :param seconds: how long the one who asked waits.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._committed = self._kept = self._left = False

    def of(self, work: collections.abc.Callable[[], None]) -> bool:
        """Run something, and wait for its end as long as there is time.

        :param work: calls :meth:`commit` before it changes anything. Its
            errors are raised here, unless it goes on.
        :returns: whether it ended; if not, it goes on.
        :raises TooLate: it took too long before it changed anything.
        """
        result: futures.Future[None] = futures.Future()
        asked = time.monotonic()
        current = context.get_current()

        def run() -> None:
            if current is not None:
                # For the request's id in the log.
                current.update_store()
            try:
                work()
                result.set_result(None)
            except BaseException as e:
                result.set_exception(e)
                if self._left:
                    LOG.info('Behind the answer to a request: %s', e)

        threading.Thread(target=run, name='magnum-capi-upgrade',
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
        """Say that something will be changed now.

        :raises TooLate: nobody waits any more.
        """
        with self._lock:
            if self._left:
                raise self._too_late(self._seconds)
            self._committed = True

    def keep(self) -> bool:
        """Have the one who asked wait for the end, which is near.

        :returns: False when nobody waits any more.
        """
        with self._lock:
            self._kept = not self._left
            return self._kept

    def _wait_for(self, result: futures.Future[None]) -> None:
        futures.wait((result,), self._seconds)

    def _too_late(self, elapsed: float) -> TooLate:
        return TooLate('It took too long', elapsed=elapsed)
