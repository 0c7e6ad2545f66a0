# SPDX-License-Identifier: Apache-2.0

"""Finds out which kinds a management cluster serves.

A kind may be missing in the server's answer although its objects exist: while
a server starts, during an upgrade of a provider, or in a stale response. So
the server is asked again before a kind counts as missing, and only optional
kinds can be missing.
"""

import math
import threading

from magnum_capi.kube import kinds
from magnum_capi.kube import rest

#: Seconds for which an answer counts: for the kinds in it, for those that are
#: missing, and after a path turned out to be unknown.
_KINDS_AGE, _MISSING_AGE, _UNKNOWN_AGE = 600, 30, 2

#: Seconds after which the provider of a kind that the server had counts as
#: removed.
_REMOVED = 600

#: v2 since Kubernetes 1.30, v2beta1 since 1.27; older servers only read the
#: last one.
_ACCEPT = ', '.join((
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    'application/json;g=apidiscovery.k8s.io;v=v2beta1;'
    'as=APIGroupDiscoveryList',
    'application/json'))


class Served:
    """The kinds of a server, cached; for several threads."""

    def __init__(self, connection: rest.Rest) -> None:
        self._rest = connection
        self._kinds: dict[str, kinds.Kind] = {}
        #: Since when kinds that the server had are missing.
        self._missed: dict[str, float] = {}
        self._asked = -math.inf
        self._lock = threading.Lock()

    def kind(self, name: str, unknown: bool = False) -> kinds.Kind | None:
        """Return the Kind of that name.

        :param unknown: whether its path turned out to be unknown, so that the
            server is asked again, unless it was a moment ago.
        :returns: None when the server does not have it and need not.
        :raises rest.NotServed: the server does not have it now.
        """
        if name in kinds.BUILT_IN:
            return kinds.BUILT_IN[name]
        with self._lock:
            self._ask_after(_UNKNOWN_AGE if unknown else _KINDS_AGE
                            if name in self._kinds else _MISSING_AGE)
            found = self._kinds.get(name)
            since = self._missed.get(name, -math.inf)
            if found is None and (
                    self._asked - since < _REMOVED
                    or not kinds.is_optional(name, self._kinds)):
                raise self.missing(name)
            return found

    def missing(self, name: str) -> rest.NotServed:
        """The error for a kind that is not served."""
        return rest.NotServed(
            f'The management cluster does not serve {name} now',
            where=self._rest.access.server,
            hint='Install Cluster API and its providers there, or wait until '
                 'its API server has started')

    def _ask_after(self, age: float) -> None:
        now = self._rest.clock.monotonic()
        if now < self._asked + age:
            return
        answer = self._rest.request('GET', '/apis',
                                    headers={'Accept': _ACCEPT})
        if answer.get('kind') != 'APIGroupDiscoveryList':
            raise rest.NotServed(
                'The management cluster does not list its kinds in one answer',
                where=f'{self._rest.access.server}/apis',
                last_seen=answer.get('kind'),
                hint='Its API server must be Kubernetes 1.27 or newer')
        found = kinds.discovered(answer)
        self._missed = {
            name: self._missed.get(name, now)
            for name in (self._kinds.keys() | self._missed) - found.keys()}
        self._kinds, self._asked = found, now
