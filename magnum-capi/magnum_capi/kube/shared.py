# SPDX-License-Identifier: Apache-2.0

"""The clients of the management cluster for a whole process.

Magnum makes a driver object for every cluster and every check of it, so
connections and the kinds of the server are kept here.
"""

import dataclasses
import os
import pathlib
import threading

from magnum_capi.kube import access
from magnum_capi.kube import cache
from magnum_capi.kube import client
from magnum_capi.kube import lease
from magnum_capi.kube import rest

#: See lease.Lock.
sightings: lease.Sightings = {}

_made: 'Clients | None' = None
_made_lock = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Clients:
    """Two clients of one server.

    :param kube: asks the server.
    :param cached: answers from memory, for checks.
    """

    kube: client.Kube
    cached: cache.CachedKube


def clients(kubeconfig: str, limits: rest.Limits, secrets: str) -> Clients:
    """Return this process's clients of the configured management cluster.

    Its kubeconfig is read again when one of its files has changed, so renewed
    certificates do not require a restart of Magnum.

    :param kubeconfig: path; '' to search where other programs do.
    :param secrets: see cache.CachedKube.
    :raises UsageError: the kubeconfig is unusable.
    """
    global _made
    path = access.find(kubeconfig)
    with _made_lock:
        if _made is None or not _fits(_made.kube.rest, path, limits):
            kube = client.Kube(rest.Rest(access.load(path), limits))
            if _made is not None:
                _made.cached.stop()
            _made = Clients(kube, cache.CachedKube(kube, secrets))
        return _made


def _fits(connection: rest.Rest, path: pathlib.Path | None,
          limits: rest.Limits) -> bool:
    found = connection.access
    return (found.kubeconfig == (path and path.absolute())
            and connection.limits == limits and found.is_current())


def _after_fork() -> None:
    """Forget connections: a child must not write to its parent's."""
    global _made, _made_lock
    _made, _made_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
