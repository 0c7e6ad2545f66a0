# SPDX-License-Identifier: Apache-2.0

"""Finds out which kinds a management cluster serves.

The server is asked from time to time; :mod:`kinds` reads the response. A kind
may be missing there although its objects exist: while a server starts, during
an upgrade of a provider, or in a stale response. So the server is asked again
before a kind counts as missing, and only optional kinds can be missing.
"""

import math
import threading

from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from magnum_capi import waiting

#: Seconds for which the kinds of a server are cached.
_KINDS_AGE = 600

#: Seconds after which the provider of a kind that the server had counts as
#: removed.
_MISSED = 600

#: Seconds for which a missing kind is cached before it is looked up again.
_MISSING_AGE = 30

#: Minimum seconds between two refreshes because a path was unknown.
_REFRESH_PAUSE = 2

_DISCOVERY = ', '.join((
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    'application/json;g=apidiscovery.k8s.io;v=v2beta1;'
    'as=APIGroupDiscoveryList',
    'application/json'))


class Served:
    """The kinds of a server, cached; for several threads."""

    def __init__(self, connection: rest.Rest, clock: waiting.Clock) -> None:
        self._rest = connection
        self._clock = clock
        self._kinds: dict[str, kinds.Kind] = {}
        #: Since when kinds that the server had are missing.
        self._missed: dict[str, float] = {}
        self._asked = -math.inf
        self._lock = threading.Lock()

    def kind(self, name: str) -> kinds.Kind | None:
        """Return the Kind of that name.

        :returns: None when the server does not have it and need not.
        :raises rest.NotServed: the server does not have it now.
        """
        if name in kinds.BUILT_IN:
            return kinds.BUILT_IN[name]
        with self._lock:
            self._ask_after(_KINDS_AGE)
            if name not in self._kinds:
                self._ask_after(_MISSING_AGE)
            return self._known(name)

    def instead_of(self, kind: kinds.Kind) -> kinds.Kind | None:
        """Return the Kind that is served now instead of an unknown path's.

        :returns: see :meth:`kind`; the same Kind when the server still names
            it, or was asked a moment ago.
        """
        if kind.name in kinds.BUILT_IN:
            return kind
        with self._lock:
            self._ask_after(_REFRESH_PAUSE)
            return self._known(kind.name)

    def _ask_after(self, age: float) -> None:
        now = self._clock.monotonic()
        if now < self._asked + age:
            return
        found = self._discover()
        self._missed = {
            name: self._missed.get(name, now)
            for name in (self._kinds.keys() | self._missed) - found.keys()}
        self._kinds, self._asked = found, now

    def _known(self, name: str) -> kinds.Kind | None:
        found = self._kinds.get(name)
        if found is None:
            since = self._missed.get(name)
            lately = since is not None and self._asked - since < _MISSED
            if lately or not kinds.is_dispensable(name, self._kinds):
                raise missing(name, self._rest.access.server)
        return found

    def _discover(self) -> dict[str, kinds.Kind]:
        answer = self._rest.request(
            'GET', '/apis', headers={'Accept': _DISCOVERY})
        if answer.get('kind') == 'APIGroupDiscoveryList':
            return kinds.aggregated(answer)
        return kinds.listed([
            (group, version,
             self._rest.request('GET', f'/apis/{group}/{version}'))
            for group, version in kinds.preferences(answer)])


def missing(name: str, server: str) -> rest.NotServed:
    """The error for a kind that is not served.

    :param server: URL.
    """
    return rest.NotServed(
        f'The management cluster does not serve {name} now', where=server,
        hint='Install Cluster API and its providers there, or wait until '
             'its API server has started')
