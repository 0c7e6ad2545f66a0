# SPDX-License-Identifier: Apache-2.0

"""Requests to a Kubernetes API: bounded in time, retried when that helps.

Every request has time limits for the connection, for the response and for all
retries together, so a management cluster that is down or slow delays an
operation of Magnum for a known time, and never blocks a thread forever.

This uses urllib3, like the ``kubernetes`` package, with its own TLS context:
that way the key of a kubeconfig needs no file (see :mod:`access`), and
REQUESTS_CA_BUNDLE cannot add CA certificates. urllib3's Retry counts tries,
and ends before the body of a response is read; the loop here ends by the
clock, and tries again after a body that is cut or not JSON.
"""

import collections.abc
import dataclasses
import datetime
import email.utils
import json
import re
import time
import typing
from urllib import parse

import urllib3
from urllib3 import exceptions

from magnum_capi import errors
from magnum_capi.kube import access as access_module
from magnum_capi.kube import kinds
from magnum_capi import responses
from magnum_capi import waiting

#: Parameters of a URL; those that are None are left out.
Query: typing.TypeAlias = dict[str, str | int | None]
_Headers: typing.TypeAlias = collections.abc.Mapping[str, str]

#: Statuses after which to retry. 429 and 503 may say when.
_TEMPORARY = frozenset((429, 500, 502, 503, 504))

#: Seconds before the second try; it doubles, up to the last number.
_PAUSE = (0.2, 5.0)

#: Limit of connections for requests: Magnum polls the health of each cluster
#: in a thread of its own.
_CONNECTIONS = 16

#: Prefix of the paths of Leases.
_LEASES = '/apis/coordination.k8s.io/'


class KubeError(errors.MagnumCapiError):
    """A management cluster refused a request.

    :param status: HTTP status, None when there was no answer.
    :param reason: Kubernetes' own term: "Invalid", "Forbidden".
    :param retry_after: seconds after which the request may be repeated; None:
        that does not help.
    """

    def __init__(self, what: str, *, status: int | None = None,
                 reason: str | None = None, retry_after: float | None = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class Conflict(KubeError):
    """Another client changed or created the object first (409)."""


class Forbidden(KubeError):
    """The user of the kubeconfig may not do this (403)."""


class Unreachable(KubeError):
    """No response, or only transient errors, for the whole time allowed.

    The request may or may not have taken effect.
    """


class Unauthorized(Unreachable):
    """The server does not know the user of the kubeconfig now (401).

    Its token was rotated or has expired, or the server cannot ask who checks
    tokens. Requests go on when the operator has repaired that.
    """


class NotFound(KubeError):
    """The server has the kind, but no object of this name (404).

    :param object_: plural and name, from the response. It may be another
        object than the requested one: its namespace.
    """

    def __init__(self, what: str, *, object_: tuple[str, str],
                 **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.object = object_


class NotServed(Unreachable):
    """The server does not have the kind, version or path now.

    This says nothing about objects: an API server that has just started, or a
    load balancer in front of it, may know fewer paths for a while.
    """


#: The right that is missing, in the words of an API server (apiserver,
#: pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage).
_MISSING_RIGHT = re.compile(
    'cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"')

#: Errors of statuses, what they say, and how to go on.
_REFUSALS: dict[int, tuple[type[KubeError], str, str | None]] = {
    401: (Unauthorized, 'does not know the user of the kubeconfig', None),
    403: (Forbidden, 'does not allow this',
          'Give the user of the kubeconfig this right'),
    404: (NotServed, 'does not know this path: 404', None),
    409: (Conflict, 'has another state of this object', None),
    **{status: (Unreachable, f'is temporarily unavailable: {status}', None)
       for status in _TEMPORARY}}


@dataclasses.dataclass(frozen=True)
class Limits:
    """Seconds: to connect, for one response, and for all tries together."""

    connect: float = 5.0
    read: float = 30.0
    total: float = 30.0


class Rest:
    """A bounded pool of connections to one server. Any thread may use it.

    If all connections are in use, a request waits for one, as long as for a
    response. Renewals of locks never wait behind other requests, and watches,
    which keep a connection, do not use up any of them.
    """

    def __init__(self, access: access_module.Access,
                 limits: Limits = Limits(),
                 clock: waiting.Clock = time) -> None:
        self.access = access
        self.limits = limits
        self.clock = clock
        self._pool = access.pool(_CONNECTIONS, block=True)
        self._unbounded = access.pool(_CONNECTIONS)
        #: Requests sent, tries included; for benchmarks.
        self.requests = 0
        # The server's time, seconds since 1970, and ours at that moment.
        self._answered: tuple[float, float] | None = None

    def now(self) -> datetime.datetime:
        """The server's clock, to the second: aware, in UTC.

        All ages are measured with it, because the clocks of Magnum's machines
        need not agree. Makes a request if there was no response yet.

        :raises Unreachable: it does not answer.
        """
        if self._answered is None:
            try:
                self.find('GET', '/version')
            except KubeError:
                if self._answered is None:
                    raise
        # If a proxy removes the Date header, use our own clock.
        said, ours = self._answered or (time.time(), self.clock.monotonic())
        return datetime.datetime.fromtimestamp(
            said + self.clock.monotonic() - ours, datetime.timezone.utc)

    def request(self, method: str, path: str, *,
                body: kinds.Object | None = None, query: Query | None = None,
                headers: _Headers | None = None,
                content_type: str = 'application/json',
                again: collections.abc.Collection[int] = (),
                total: float | None = None) -> kinds.Object:
        """Send a request and return the decoded response.

        Retries after transient errors: no connection, no response, 429, 500,
        502, 503, 504. So ``method`` must be idempotent.

        :param path: from the root of the server.
        :param again: other statuses to retry: 409 for a patch.
        :param total: seconds for all tries, the configured limit by default.
        :returns: the JSON.
        :raises Conflict, Forbidden, NotFound, NotServed, Unauthorized,
            Unreachable, KubeError: by status.
        """
        data = None
        sent = {'Accept': 'application/json', **(headers or {})}
        if body is not None:
            data = json.dumps(body).encode()
            sent['Content-Type'] = content_type
        total = self.limits.total if total is None else total
        start = self.clock.monotonic()
        pause, longest = _PAUSE
        while True:
            left = start + total - self.clock.monotonic()
            try:
                return self._once(method, _target(path, query), data, sent,
                                  left)
            except KubeError as e:
                if e.retry_after is None and e.status not in again:
                    raise
                wait = max(pause, e.retry_after or 0.0)
                waited = self.clock.monotonic() - start
                if waited + wait >= total:
                    e.elapsed = waited
                    raise
            self.clock.sleep(wait)
            pause = min(2 * pause, longest)

    def find(self, method: str, path: str,
             **kwargs: typing.Any) -> kinds.Object | None:
        """Like :meth:`request`; None when there is no such object.

        Only a 404 that names this very object counts. A 404 without an object
        is about the path, and says nothing about the object.

        :param path: of one object.
        """
        try:
            return self.request(method, path, **kwargs)
        except NotFound as e:
            if e.object == tuple(path.split('/')[-2:]):
                return None
            raise

    def events(self, path: str, query: Query, headers: _Headers,
               seconds: float, opened: collections.abc.Callable[[], None]
               ) -> collections.abc.Iterator[kinds.Object]:
        """The events of a watch as they arrive, until the server ends it.

        :param path: of a collection.
        :param query: of the watch.
        :param seconds: after which the server ends it. A connection that is
            silent for somewhat longer counts as lost.
        :param opened: called when the server has accepted the watch.
        :raises KubeError: the server refuses it, or the connection is lost;
            there are no retries.
        """
        where = self._where('GET', path)
        target = _target(path, {
            'watch': 'true', 'timeoutSeconds': int(seconds), **query})
        answer = None
        try:
            answer = self._sent(self._unbounded, 'GET', target, None, headers,
                                seconds + self.limits.connect)
            if answer.status >= 400:
                raise _refused(answer, answer.data, where)
            opened()
            for line in responses.lines(answer):
                yield json.loads(line)
        except (exceptions.HTTPError, OSError) as e:
            raise _no_answer(e, where) from None
        except ValueError:
            raise Unreachable(
                'A watch of the management cluster sent something that is '
                'not JSON', where=where) from None
        finally:
            if answer is not None:
                answer.close()

    def _once(self, method: str, target: str, data: bytes | None,
              headers: _Headers, left: float) -> kinds.Object:
        where = self._where(method, target)
        read = min(self.limits.read, max(left, 0.1))
        end = self.clock.monotonic() + read
        pool = self._unbounded if target.startswith(_LEASES) else self._pool
        try:
            answer = self._sent(pool, method, target, data, headers, read)
            content = responses.read(answer, end, self.clock)
        except (exceptions.HTTPError, OSError) as e:
            raise _no_answer(e, where) from None
        if answer.status >= 400:
            raise _refused(answer, content, where)
        try:
            found: kinds.Object = json.loads(content)
            return found
        except ValueError:
            raise Unreachable(
                'The response of the management cluster is not JSON',
                status=answer.status, where=where, retry_after=0.0,
                last_seen=repr(content[:100])) from None

    def _sent(self, pool: urllib3.PoolManager, method: str, target: str,
              data: bytes | None, headers: _Headers, read: float
              ) -> urllib3.HTTPResponse:
        self.requests += 1
        # The stubs return a base class for the sake of browsers.
        answer = typing.cast(urllib3.HTTPResponse, pool.request(
            method, self.access.server + target, body=data,
            headers={**headers, **self.access.headers()},
            timeout=urllib3.Timeout(
                connect=min(self.limits.connect, read), read=read),
            pool_timeout=read, retries=False, redirect=False,
            preload_content=False))
        try:
            said = email.utils.parsedate_to_datetime(
                answer.headers.get('Date', ''))
            self._answered = said.timestamp(), self.clock.monotonic()
        except ValueError:
            pass
        return answer

    def _where(self, method: str, target: str) -> str:
        return f'{method} {self.access.server}{target.partition("?")[0]}'


def _target(path: str, query: Query | None) -> str:
    given = {k: v for k, v in (query or {}).items() if v is not None}
    return f'{path}?{parse.urlencode(given)}' if given else path


def _no_answer(error: Exception, where: str) -> Unreachable:
    """The error for a request without a response."""
    if isinstance(error, exceptions.EmptyPoolError):
        return Unreachable(
            f'All {_CONNECTIONS} connections to the management cluster are '
            'in use', where=where, retry_after=0.0,
            hint='Its API server is slow')
    reason = getattr(error, 'reason', None) or error
    text = str(reason)
    if 'CERTIFICATE_VERIFY_FAILED' in text or 'match' in text and (
            isinstance(reason, exceptions.SSLError)):
        return Unreachable(
            'The certificate of the management cluster is not trusted',
            where=where, last_seen=text,
            hint='Check certificate-authority-data in the kubeconfig')
    return Unreachable(
        'The management cluster did not answer', where=where, retry_after=0.0,
        last_seen=f'{type(reason).__name__}: {text}')


def _refused(answer: urllib3.HTTPResponse, content: bytes,
             where: str) -> KubeError:
    """The error for a response of 400 and above, mostly a Status object."""
    status = answer.status
    try:
        said = json.loads(content)
        details = said.get('details') or {}
        object_ = details.get('kind', ''), details.get('name', '')
    except (ValueError, AttributeError):
        # Not of an API server, but of a proxy or load balancer in front of it.
        said = {'message': content[:200].decode(errors='replace')}
        object_ = '', ''
    reason = said.get('reason')
    kind, what, hint = _REFUSALS.get(
        status, (KubeError, f'refused: {status}', None))
    common: dict[str, typing.Any] = {
        'status': status, 'reason': reason, 'where': where,
        'last_seen': said.get('message'), 'hint': hint}
    if status == 404 and reason == 'NotFound' and all(object_):
        # ``details.kind`` is a plural (apimachinery, pkg/api/errors,
        # NewNotFound).
        return NotFound('The management cluster does not have it: 404',
                        object_=object_, **common)
    missing = _MISSING_RIGHT.search(said.get('message') or '')
    if status == 403 and missing:
        # As "kubectl auth can-i" takes it. The rest names the user.
        verb, resource, group = missing.groups()
        what += f': {verb} {resource}' + (group and f'.{group}')
    if status in _TEMPORARY:
        common['retry_after'] = _retry_after(answer.headers)
    return kind(f'The management cluster {what}', **common)


def _retry_after(headers: _Headers) -> float:
    """Seconds of a Retry-After header; dates are ignored."""
    try:
        return float(headers.get('Retry-After', 0))
    except ValueError:
        return 0.0
