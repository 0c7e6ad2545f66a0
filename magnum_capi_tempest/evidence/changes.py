# SPDX-License-Identifier: Apache-2.0

"""Records how objects change: some exist only during an operation."""

import threading

from magnum_capi_tempest.kubeclient import kube

#: Seconds for which one request waits for changes. A server keeps those of
#: more than a minute (kube-apiserver, watch cache).
_WAIT = 1


class Changes:
    """Records changes of the objects of a list, while its context is open.

    ``found``: pairs of ADDED, MODIFIED or DELETED and the object, in order.

    :param reader: kube.Client.
    :param path: of the list.
    :param wanted: function of an object that says whether to record it.
    """

    def __init__(self, reader, path, wanted):
        self._reader, self._path, self._wanted = reader, path, wanted
        self._over = threading.Event()
        self._error = None
        self.found = []

    def __enter__(self):
        self._version = self._reader.version(self._path)
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def check(self):
        """Raise the KubeError that ended the recording, if one did."""
        if self._error:
            raise self._error

    def _keep(self):
        try:
            while not self._over.is_set():
                self._read()
            # What happened until the end.
            self._read()
        except kube.KubeError as e:
            self._error = e

    def _read(self):
        found, self._version = self._reader.changes(
            self._path, self._version, _WAIT)
        self.found += [(how, obj) for how, obj in found if self._wanted(obj)]
