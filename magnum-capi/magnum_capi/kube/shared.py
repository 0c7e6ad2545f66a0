# SPDX-License-Identifier: Apache-2.0

"""One client of the management cluster for a whole process.

Magnum makes a driver object for every cluster and every check of it, so
connections and the kinds of the server are kept here.
"""

import dataclasses
import os
import pathlib
import threading
import typing

from magnum_capi.kube import access
from magnum_capi.kube import cached_kube
from magnum_capi.kube import kube as kube_module
from magnum_capi.kube import lock
from magnum_capi.kube import rest

#: See lock.Lock.
sightings: lock.Sightings = {}


@dataclasses.dataclass
class _Made:
    """Clients, the files that they were made from, and their stamp."""

    connection: rest.Rest
    kube: kube_module.Kube
    files: tuple[pathlib.Path, ...]
    stamp: access.Stamp
    looks: cached_kube.CachedKube | None = None


_shared: dict[tuple[pathlib.Path | None, rest.Limits], _Made] = {}
_shared_lock = threading.Lock()


class Settings(typing.Protocol):
    """The management cluster, and time limits in seconds."""

    @property
    def kubeconfig_file(self) -> str:
        """Path; '' to search where other programs do."""

    @property
    def connect_timeout(self) -> float:
        ...

    @property
    def read_timeout(self) -> float:
        ...

    @property
    def retry_time(self) -> float:
        ...


def kube(settings: Settings) -> kube_module.Kube:
    """Return this process's client for the configured management cluster.

    Its kubeconfig is read again when one of its files has changed, so renewed
    certificates do not require a restart of Magnum.

    :raises UsageError: the kubeconfig is unusable.
    """
    with _shared_lock:
        return _made(settings).kube


def cached(settings: Settings, secrets: str) -> cached_kube.CachedKube:
    """Return this process's client for checks; otherwise like :func:`kube`.

    :param secrets: see cached_kube.CachedKube.
    """
    with _shared_lock:
        made = _made(settings)
        if made.looks is None:
            made.looks = cached_kube.CachedKube(made.connection, secrets)
        return made.looks


def _made(settings: Settings) -> _Made:
    path = access.find(settings.kubeconfig_file)
    limits = rest.Limits(settings.connect_timeout, settings.read_timeout,
                         settings.retry_time)
    made = _shared.get((path, limits))
    if made is None or access.stamp(made.files) != made.stamp:
        # Take the stamp of the kubeconfig first, so that a change during
        # reading shows at the next call.
        before = access.stamp((path,) if path else ())
        found = access.load(path)
        stamp = access.stamp(found.files)
        if path:
            stamp = before + stamp[1:]
        if made is not None and made.looks is not None:
            made.looks.stop()
        connection = rest.Rest(found, limits)
        made = _shared[path, limits] = _Made(
            connection, kube_module.Kube(connection), found.files, stamp)
    return made


def _after_fork() -> None:
    """Forget connections: a child must not write to its parent's."""
    global _shared_lock
    _shared.clear()
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
