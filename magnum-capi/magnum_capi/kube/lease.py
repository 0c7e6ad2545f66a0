# SPDX-License-Identifier: Apache-2.0

"""A lock shared by all conductors: one operation on a cluster at a time.

Magnum locks nothing: requests for a cluster and its periodic status run in
several processes on several machines. The lock is a Lease in the management
cluster (https://kubernetes.io/docs/concepts/architecture/leases/), created and
deleted for every operation, so it costs two requests and leaves nothing.

Clocks of two machines are never compared. A contender counts the seconds for
which it saw the Lease unchanged, with its own clock, like client-go
(tools/leaderelection/leaderelection.go: observedTime); the holder counts from
before it requested its last renewal. So the holder knows that it lost the lock
before another process can take it, whatever the clocks show.
"""

import collections.abc
import contextlib
import datetime
import math
import os
import socket
import threading
import time
import typing
import uuid

from oslo_log import log as logging

from magnum_capi import errors
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

#: Renewals per duration of the lock.
_RENEWALS = 3

#: How often to check a lock that is taken.
_PACE = waiting.Pace(0.2, 1.5, 2.0)

#: By uid of a Lease: its resourceVersion, and since when that was seen, in
#: seconds of the observer's clock.
Sightings: typing.TypeAlias = dict[str, tuple[str, float]]

#: Limit of remembered Leases.
_SIGHTINGS = 10000


class LockBusy(errors.MagnumCapiError):
    """Another process held the lock during the whole wait.

    :param holder: its identity: host, process, one-time number.
    """

    def __init__(self, what: str, *, holder: str,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, last_seen=f'held by {holder}', **kwargs)
        self.holder = holder


class LockLost(errors.MagnumCapiError):
    """The lock was lost; stop changing things."""


class Lock:
    """A lock by name. For one thread, and one use at a time.

    :param namespace: must exist.
    :param name: of the Lease.
    :param duration: seconds after which it is free if it is not renewed.
    :param labels: of the Lease.
    :param background: renew it in a thread; otherwise call :meth:`renew`.
    :param sightings: shared by several locks, for callers that try repeatedly
        without waiting: each continues the observation of the previous one.

    >>> with Lock(kube, namespace, 'c1', duration=30).hold(60) as lock:
    ...     lock.check()
    """

    def __init__(self, kube: client.Kube, namespace: str, name: str, *,
                 duration: int, labels: dict[str, str] | None = None,
                 clock: waiting.Clock = time, background: bool = True,
                 sightings: Sightings | None = None) -> None:
        self.identity = f'{socket.gethostname()}-{os.getpid()}-{uuid.uuid4()}'
        self._kube = kube
        self._namespace = namespace
        self._name = name
        self._labels = labels or {}
        self._duration = duration
        self._clock = clock
        self._background = background
        self._lease: kinds.Object | None = None
        self._renewed = -math.inf
        self._lost: str | None = None
        self._sightings = {} if sightings is None else sightings
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> bool:
        """Whether no other process can hold it at this moment."""
        return (self._lease is not None and self._lost is None
                and self._clock.monotonic() < self._renewed + self._duration)

    def check(self) -> None:
        """Call this before every change.

        :raises LockLost: the lock is no longer held.
        """
        if not self.held:
            raise LockLost(
                f'The lock {self._name} was lost',
                last_seen=self._lost or 'it could not be renewed in time',
                hint='The next status check resumes the operation')

    @contextlib.contextmanager
    def hold(self, timeout: float) -> collections.abc.Iterator['Lock']:
        """Take the lock; use it in a ``with`` statement, which releases it.

        :param timeout: seconds to wait for it.
        :raises LockBusy: it was not free in that time.
        :raises rest.KubeError: the management cluster refused or is down.
        """
        self.acquire(timeout)
        try:
            yield self
        finally:
            self.release()

    def acquire(self, timeout: float) -> None:
        """Like :meth:`hold`; :meth:`release` must follow."""
        self._lost = None
        try:
            waiting.wait_for(
                self._try, done=lambda holder: holder is None,
                timeout=timeout, what=f'the lock {self._name}',
                pace=_PACE, clock=self._clock)
        except errors.WaitTimeout as e:
            raise LockBusy(
                f'Another operation on {self._name} has not ended',
                holder=e.state, elapsed=e.elapsed, hint='Try again') from None
        if self._background:
            self._stop.clear()
            self._thread = threading.Thread(
                target=self._renew_until_stopped,
                name=f'lock-{self._name}', daemon=True)
            self._thread.start()

    def renew(self) -> None:
        """Renew the lock once; a failure shows in :attr:`held` in time."""
        left = self._renewed + self._duration - self._clock.monotonic()
        if self._lease is None or left <= 0:
            self._lost = 'it could not be renewed in time'
            return
        try:
            try:
                self._write(self._lease, min(
                    left, self._duration / _RENEWALS))
            except (rest.Conflict, rest.NotFound):
                self._reread()
        except errors.MagnumCapiError as e:
            LOG.warning('Cannot renew the lock %s yet: %s', self._name, e)

    def release(self) -> None:
        """Release the lock. Does not raise, because it would expire anyway."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        lease, self._lease = self._lease, None
        if lease is None:
            return
        metadata = lease['metadata']
        try:
            self._kube.delete(
                'Lease', self._namespace, self._name, uid=metadata['uid'],
                version=metadata['resourceVersion'],
                total=self._duration / _RENEWALS)
        except errors.MagnumCapiError as e:
            # With a conflict, another process has rightly taken it.
            LOG.warning('Cannot give back the lock %s, it ends in %s s: %s',
                        self._name, self._duration, e)

    def _renew_until_stopped(self) -> None:
        while not self._stop.wait(self._duration / _RENEWALS):
            try:
                self.renew()
            except Exception:
                # A bug, or a process at its end: the lock expires.
                LOG.exception('Cannot renew the lock %s', self._name)
            if self._lost:
                LOG.error('The lock %s was lost: %s', self._name, self._lost)
                return

    def _try(self) -> str | None:
        """Try to take it: None, or the identity of its holder."""
        start = self._clock.monotonic()
        try:
            self._lease = self._kube.create({
                'kind': 'Lease', 'spec': self._spec(),
                'metadata': {'name': self._name, 'labels': self._labels,
                             'namespace': self._namespace}})
            self._renewed = start
            return None
        except rest.Conflict:
            found = self._kube.get('Lease', self._namespace, self._name)
        if found is None:
            return 'a process that has just released it'
        spec = found.get('spec') or {}
        holder: str = spec.get('holderIdentity') or ''
        lasts = spec.get('leaseDurationSeconds') or self._duration
        # It is our own if the response to an earlier try was lost. That was
        # some time ago, so it is written again.
        if holder not in ('', self.identity) and (
                self._unchanged(found['metadata']) < lasts):
            return holder
        try:
            self._write(found)
        except (rest.Conflict, rest.NotFound):
            return holder or 'another process that was faster'
        if holder not in ('', self.identity):
            LOG.warning('Took over the lock %s, which %s left behind',
                        self._name, holder)
        return None

    def _unchanged(self, metadata: kinds.Object) -> float:
        """Seconds for which a Lease was seen unchanged."""
        uid, version = metadata['uid'], metadata['resourceVersion']
        now = self._clock.monotonic()
        known, since = self._sightings.get(uid, (None, now))
        if known != version:
            since = now
            if len(self._sightings) >= _SIGHTINGS:
                self._sightings.clear()
            self._sightings[uid] = version, since
        return now - since

    def _write(self, lease: kinds.Object, total: float | None = None) -> None:
        """Write a Lease as ours, if it is the server's.

        :param total: seconds, as in rest.Rest.request.
        """
        start = self._clock.monotonic()
        self._lease = self._kube.replace(
            {**lease, 'kind': 'Lease', 'spec': self._spec()}, total=total)
        self._renewed = start

    def _spec(self) -> kinds.Object:
        # The time is for people; nothing is computed from it.
        now = datetime.datetime.now(datetime.timezone.utc)
        return {'holderIdentity': self.identity,
                'leaseDurationSeconds': self._duration,
                'renewTime': now.strftime('%Y-%m-%dT%H:%M:%S.%fZ')}

    def _reread(self) -> None:
        """After a conflict: a repeated request of ours, or a new holder."""
        found = self._kube.get('Lease', self._namespace, self._name)
        holder = ((found or {}).get('spec') or {}).get('holderIdentity')
        if holder == self.identity:
            # Not since when: an earlier request may have been written late.
            self._lease = found
        else:
            self._lost = f'it is held by {holder}' if found else 'it is gone'
