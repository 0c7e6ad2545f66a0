# SPDX-License-Identifier: Apache-2.0

"""The doors between the library and the world, and faults at them.

Every request to Kubernetes or OpenStack, every start of helm and every access
to Magnum's tables passes :meth:`Doors.passing`. Faults wait there. HTTP is
answered below urllib3, which ``requests`` and so OpenStack's libraries use as
well; nothing goes over a network, and one request is served at a time.
"""

import contextlib
import dataclasses
import io
import threading
import typing
from unittest import mock

import urllib3
from urllib3 import connectionpool
from urllib3 import exceptions

from tests.lib import virtual_time

KUBE, CLOUD, HELM, ROWS = 'kube', 'cloud', 'helm', 'rows'
#: Requests of threads that only keep a cache up to date.
WATCH = 'watch'
DOORS = (KUBE, CLOUD, HELM, ROWS, WATCH)


class Crash(BaseException):
    """The process ends here; what it still does on its way has no effect."""


@dataclasses.dataclass
class Fault:
    """A fault at a door.

    :param kind: a key of KINDS.
    :param after: requests to let pass before.
    :param times: requests that meet it.
    :param act: for "meanwhile": what happens then.
    :param text: part of the text of the requests that count.
    :param then: for "meanwhile": the kind of fault that follows.
    """

    door: str
    kind: str
    after: int = 0
    times: int = 1
    act: typing.Callable[[], None] | None = None
    text: str = ''
    then: str = ''
    met: int = 0


@dataclasses.dataclass(frozen=True)
class Request:
    """A request by HTTP."""

    method: str
    host: str
    target: str
    headers: typing.Mapping[str, str]
    body: bytes | None


#: Answers: status, headers, body, which may be a file that is read slowly.
Answer: typing.TypeAlias = tuple[
    int, typing.Mapping[str, str], bytes | io.BufferedIOBase]
Serve: typing.TypeAlias = typing.Callable[[Request], Answer]
#: The door that a request passes.
Which: typing.TypeAlias = typing.Callable[[Request], str]

_STATUS = {'error': 500, 'busy': 503, 'many': 429, 'denied': 403}

#: "repeated": who is in between lost the answer and sends the request again.
KINDS = ('refused', 'slow', 'lost', 'error', 'busy', 'many', 'denied',
         'repeated', 'crash', 'crash-after', 'meanwhile')


class Doors:
    """All doors.

    :ivar faults: those to come, in order; of each door the first counts.
    :ivar passed: number of requests by door.
    """

    #: Seconds that a slow answer takes.
    SLOW = 40.0

    def __init__(self, clock: virtual_time.Clock) -> None:
        self._clock = clock
        self._hosts: dict[str, tuple[str | Which, Serve]] = {}
        self.faults: list[Fault] = []
        self.passed = dict.fromkeys(DOORS, 0)
        self._dead: set = set()
        self._callers: list = []
        #: (door, text) of each request, for stories.
        self.log: list[tuple[str, str]] = []

    def host(self, name: str, door: str | Which, serve: Serve) -> None:
        """Serve the host of a URL."""
        self._hosts[name] = door, serve

    @contextlib.contextmanager
    def called_by(self, process: typing.Any) -> typing.Iterator[None]:
        """Requests come from this process, until it crashes.

        :raises Crash: it did.
        """
        self._callers.append(process)
        try:
            yield
            if process in self._dead:
                raise Crash
        finally:
            self._callers.pop()
            self._dead.discard(process)

    @property
    def caller(self) -> typing.Any:
        thread = threading.current_thread()
        if isinstance(thread, virtual_time.Thread):
            return thread.program
        return self._callers[-1] if self._callers else None

    def passing(self, door: str, text: str,
                do: typing.Callable[[], typing.Any],
                fail: typing.Callable[[str], typing.Any]) -> typing.Any:
        """Do what was asked for, unless a fault keeps it from being done.

        :param fail: returns or raises what the caller sees of a fault.
        """
        if self.caller in self._dead:
            raise Crash
        self.passed[door] += 1
        self.log.append((door, text))
        fault = self._fault(door, text)
        if fault is None:
            return do()
        if fault.kind == 'meanwhile':
            fault.act()
            if self.caller in self._dead:
                raise Crash
            return fail(fault.then) if fault.then else do()
        if fault.kind == 'crash':
            self._die()
        if fault.kind == 'repeated':
            do()
            return do()
        if fault.kind in ('lost', 'crash-after'):
            do()
            if fault.kind == 'crash-after':
                self._die()
        if fault.kind == 'slow':
            self._clock.sleep(self.SLOW)
        return fail(fault.kind)

    def _die(self) -> None:
        self._dead.add(self.caller)
        raise Crash

    def _fault(self, door: str, text: str) -> Fault | None:
        for fault in self.faults:
            if fault.door != door or fault.text not in text:
                continue
            if fault.after:
                fault.after -= 1
                return None
            fault.met += 1
            if fault.met >= fault.times:
                self.faults.remove(fault)
            return fault
        return None

    def clear(self) -> None:
        self.faults.clear()

    @contextlib.contextmanager
    def open(self) -> typing.Iterator[None]:
        """Answer requests of urllib3."""
        doors, real = self, connectionpool.HTTPConnectionPool.urlopen

        def urlopen(pool, method, url, body=None, headers=None, *args,
                    **kwargs):
            if pool.host not in doors._hosts:
                return real(pool, method, url, body, headers, *args, **kwargs)
            return doors._http(pool, method, url, body, headers)

        with mock.patch.object(
                connectionpool.HTTPConnectionPool, 'urlopen', urlopen):
            yield

    def _http(self, pool, method, url, body, headers):
        door, serve = self._hosts[pool.host]
        data = body.encode() if isinstance(body, str) else body
        request = Request(method, pool.host, url, dict(headers or {}), data)

        def fail(kind):
            if kind in _STATUS:
                return _STATUS[kind], {}, b'{"message": "a fault"}'
            if kind == 'refused':
                raise exceptions.NewConnectionError(
                    pool, 'Failed to establish a new connection: '
                    '[Errno 111] Connection refused')
            if kind == 'slow':
                raise exceptions.ReadTimeoutError(
                    pool, url, 'Read timed out.')
            raise exceptions.ProtocolError(
                'Connection aborted.', ConnectionResetError(104, 'reset'))

        status, answered, content = self.passing(
            door if isinstance(door, str) else door(request),
            f'{method} {url}', lambda: serve(request), fail)
        return urllib3.HTTPResponse(
            io.BytesIO(content) if isinstance(content, bytes) else content,
            answered, status, preload_content=False, request_method=method)
