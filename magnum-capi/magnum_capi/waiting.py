# SPDX-License-Identifier: Apache-2.0

"""The one loop that waits.

Everything that waits in this project does it here, so that every wait is
bounded, stops at once on a state from which it cannot succeed, and reports
what it last saw. The clock is a parameter: tests do not sleep.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import time
import typing

from magnum_capi import errors


State = typing.TypeVar('State')


class Clock(typing.Protocol):
    """What :func:`wait_for` needs of :mod:`time`."""

    def monotonic(self) -> float:
        ...

    def sleep(self, seconds: float) -> None:
        ...


@dataclasses.dataclass(frozen=True)
class Pace:
    """How often to poll, in seconds: first, growth factor, at most."""

    first: float = 0.1
    factor: float = 1.5
    most: float = 5.0


def wait_for(poll: collections.abc.Callable[[], State], *,
             done: collections.abc.Callable[[State], typing.Any],
             timeout: float, what: str,
             failed: collections.abc.Callable[
                 [State], str | None] | None = None,
             describe: collections.abc.Callable[[State], str] = repr,
             pace: Pace = Pace(), clock: Clock = time,
             hint: str | None = None) -> State:
    """Call ``poll`` until ``done`` accepts what it returned.

    :param poll: returns the observed state. Its exceptions are not caught
        here: a poll that may see transient errors returns them as a state.
    :param done: true when the wait is over.
    :param timeout: seconds.
    :param what: the goal, for messages: "cluster c1 to be ready".
    :param failed: the reason why ``done`` can no longer happen, or None.
    :param describe: a short text of the state, for messages.
    :returns: the state that ``done`` accepted.
    :raises WaitAborted: ``failed`` gave a reason.
    :raises WaitTimeout: ``timeout`` seconds passed. Both carry the last
        state as ``state``.
    """
    start = clock.monotonic()
    pause = pace.first
    while True:
        state = poll()
        elapsed = clock.monotonic() - start
        if done(state):
            return state
        reason = failed(state) if failed else None
        if reason:
            raise errors.WaitAborted(
                f'Gave up waiting for {what}: {reason}', elapsed=elapsed,
                last_seen=describe(state), hint=hint, state=state)
        if elapsed >= timeout:
            raise errors.WaitTimeout(
                f'Timed out waiting for {what}', elapsed=elapsed,
                last_seen=describe(state), hint=hint, state=state)
        clock.sleep(min(pause, max(timeout - elapsed, 0.001)))
        pause = min(pause * pace.factor, pace.most)
