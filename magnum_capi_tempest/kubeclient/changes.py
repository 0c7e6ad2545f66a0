# SPDX-License-Identifier: Apache-2.0

"""How the objects of a list change: some exist only during an operation.

A state that lasts shorter than the pause between two polls would be missed, so
what was seen would depend on the speed of the machines. A watch has all of
them (https://kubernetes.io/docs/reference/using-api/api-concepts/
#efficient-detection-of-changes).
"""

import collections.abc
import threading

from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: Seconds for which one request of a recording waits for changes. A server
#: keeps those of more than a minute (kube-apiserver, watch cache).
_WAIT = 1


class Changes:
    """The changes of the objects of a list since a version of it.

    :param client: kube.Client.
    :param path: of the list.
    :param version: its resourceVersion; None: the present one.
    """

    def __init__(self, client: kube.Client, path: str,
                 version: str | None = None) -> None:
        self._client, self._path = client, path
        self._version = version or client.version(path)

    def read(self, seconds: float) -> list[tuple[str, json_types.Object]]:
        """Return the changes since the last time.

        :param seconds: how long to wait for further ones, 1 or more.
        :returns: pairs of ADDED, MODIFIED or DELETED and the object, in order.
        :raises KubeError: the API did not answer, or has forgotten a part of
            the history.
        """
        found, self._version = self._client.changes(
            self._path, self._version, seconds)
        return found


class Recording:
    """Records changes while its context is open.

    ``found``: pairs as of :meth:`Changes.read`.

    :param client: kube.Client.
    :param path: of the list.
    :param wanted: function of an object that says whether to record it.
    """

    def __init__(self, client: kube.Client, path: str,
                 wanted: collections.abc.Callable[[json_types.Object], bool]
                 ) -> None:
        self._client, self._path, self._wanted = client, path, wanted
        self._over = threading.Event()
        self._error: kube.KubeError | None = None
        self.found: list[tuple[str, json_types.Object]] = []

    def __enter__(self) -> 'Recording':
        self._changes = Changes(self._client, self._path)
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def check(self) -> None:
        """Raise the KubeError that ended the recording, if one did."""
        if self._error:
            raise self._error

    def _keep(self) -> None:
        over = False
        try:
            while not over:
                # The last time for what happened until the end.
                over = self._over.is_set()
                self.found += [(how, obj) for how, obj
                               in self._changes.read(_WAIT)
                               if self._wanted(obj)]
        except kube.KubeError as e:
            self._error = e
