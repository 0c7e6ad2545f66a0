# SPDX-License-Identifier: Apache-2.0

"""A clock that only moves when somebody sleeps, for whole programs.

Programs get modules ``time``, ``datetime`` and ``threading`` that know only
this clock (see :mod:`copies`). Their threads run one at a time, until they
wait or end: one that is started when the clock moves next, since whoever has
started it may hold a lock that it needs, and one that waits for a time when
the clock comes to it.
"""

import datetime as real_datetime
import heapq
import itertools
import threading as real_threading
import time as real_time
import types

#: Seconds of real time for which one waits for a thread to wait or end.
_PATIENCE = 60


class Ended(SystemExit):
    """Ends the threads of a program that has ended."""


class Clock:
    """Seconds since 1970.

    :ivar now: float.
    """

    #: monotonic() at the beginning.
    _BOOTED = 1000.0
    #: Threads that run in time during one sleep.
    _MOST = 20

    def __init__(self, now: float) -> None:
        self.now = self._began = now
        self._order = itertools.count()
        #: (time, number, _Waiter) of threads that wait, a heap.
        self._waiting: list = []

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now - self._began + self._BOOTED

    def datetime(self) -> real_datetime.datetime:
        return real_datetime.datetime.fromtimestamp(
            self.now, real_datetime.timezone.utc)

    def sleep(self, seconds: float) -> None:
        """Move the clock; threads whose time comes run in their order.

        After some that ran, the others oversleep: nobody waits for what a
        thread would do every few minutes of a month.
        """
        end, ran = self.now + max(seconds, 0), 0
        while self._waiting and self._waiting[0][0] <= end:
            when, _number, waiter = heapq.heappop(self._waiting)
            if not waiter.over:
                ran += 1
                self.now = max(self.now, when if ran <= self._MOST else end)
                waiter.run()
        self.now = max(self.now, end)

    def wait(self, waiter: '_Waiter', seconds: float) -> None:
        heapq.heappush(self._waiting, (
            self.now + seconds, next(self._order), waiter))


class _Waiter:
    """A thread that waits for an Event or a time."""

    def __init__(self, thread: 'Thread') -> None:
        self.over = False
        self._thread = thread
        self._go = real_threading.Event()

    def run(self) -> None:
        """Let the thread run until it waits again or ends."""
        if not self.over:
            self.over = True
            self._thread.idle.clear()
            self._go.set()
            self._thread.until_idle()

    def park(self) -> None:
        self._thread.idle.set()
        self._go.wait()


class Thread(real_threading.Thread):
    """A thread of a program, which may be ended with it.

    :ivar program: Program that has started it.
    """

    def __init__(self, program: 'Program', *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.daemon = True
        self.program = program
        self.waiter: _Waiter | None = None
        self.begun = False
        #: Set while the thread waits, or has ended.
        self.idle = real_threading.Event()

    def start(self) -> None:
        self.program.threads.append(self)
        super().start()
        self.until_idle()

    def run(self) -> None:
        try:
            self.waiter = _Waiter(self)
            self.program.clock.wait(self.waiter, 0)
            self.waiter.park()
            self.begun = True
            if self.ended:
                raise Ended
            super().run()
        except Ended:
            pass
        finally:
            self.idle.set()

    def join(self, timeout: float | None = None) -> None:
        if not self.begun:
            self.waiter.run()
        super().join(timeout)

    def until_idle(self) -> None:
        if not self.idle.wait(_PATIENCE):
            raise AssertionError(f'the thread {self.name} does not end')


class Event:
    """threading.Event by the clock."""

    def __init__(self, program: 'Program') -> None:
        self._program = program
        self._is_set = False
        self._waiters: list[_Waiter] = []

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.run()

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        thread = real_threading.current_thread()
        if self._is_set:
            return True
        if not isinstance(thread, Thread):
            if timeout is None:
                raise AssertionError('nobody could ever set this event')
            self._program.clock.sleep(timeout)
            return self._is_set
        thread.waiter = waiter = _Waiter(thread)
        self._waiters.append(waiter)
        if timeout is not None:
            self._program.clock.wait(waiter, timeout)
        waiter.park()
        if thread.program is not self._program or thread.ended:
            raise Ended
        return self._is_set

    isSet = is_set


class Program:
    """What threads belong to; it ends without asking them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.threads: list[Thread] = []

    def end(self) -> None:
        """End all threads, where they wait."""
        for thread in self.threads:
            thread.ended = True
            if thread.is_alive() and thread.waiter is not None:
                thread.waiter.run()
        self.threads.clear()

    def modules(self) -> dict[str, types.ModuleType]:
        """``time``, ``datetime`` and ``threading`` by this clock."""
        clock, program = self.clock, self
        time = _like(real_time)
        time.time, time.monotonic = clock.time, clock.monotonic
        time.sleep = clock.sleep
        time.time_ns = lambda: int(clock.time() * 10 ** 9)
        time.monotonic_ns = lambda: int(clock.monotonic() * 10 ** 9)

        class Datetime(real_datetime.datetime):

            @classmethod
            def now(cls, tz=None):
                return cls.fromtimestamp(clock.now, tz)

            @classmethod
            def utcnow(cls):
                return clock.datetime().replace(tzinfo=None)

        datetime = _like(real_datetime)
        datetime.datetime = Datetime

        class OwnThread(Thread):
            ended = False

            def __init__(self, *args, **kwargs):
                super().__init__(program, *args, **kwargs)

        class OwnEvent(Event):

            def __init__(self):
                super().__init__(program)

        threading = _like(real_threading)
        threading.Thread, threading.Event = OwnThread, OwnEvent
        return {'time': time, 'datetime': datetime, 'threading': threading}


def _like(module: types.ModuleType) -> types.ModuleType:
    made = types.ModuleType(module.__name__)
    made.__dict__.update(module.__dict__)
    return made
