# SPDX-License-Identifier: Apache-2.0

"""Every state of a cluster's Machines over a time, as in the API's history."""

from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import changes
from magnum_capi_tempest.tests.common.management import capi_objects

#: Seconds of one request. In its last two, the API says how far its history
#: has been read even if nothing has happened to these Machines.
_SECONDS = 3


class MachineWatch:
    """Reads the history of a cluster's Machines from now on.

    :param path: of the Machines of the cluster's namespace, in the API.
    :param stack_id: name of the Cluster.
    :ivar moments: lists of machines, each sorted by name: the state at the
        begin, then one for each change.
    """

    def __init__(self, api: capi_objects.Management, path: str, stack_id: str
                 ) -> None:
        self._path, self._stack_id = path, stack_id
        found = api.ask('GET', path)
        self._changes = changes.Changes(
            api, path, found['metadata']['resourceVersion'])
        self._machines: dict[str, capi_objects.Machine] = {}
        for body in found['items']:
            self._put(body)
        self.moments: list[list[capi_objects.Machine]] = []
        self._note()

    def read(self) -> None:
        """Wait for some seconds, and add the changes since the last time.

        :raises KubeError: see :meth:`.changes.Changes.read`.
        """
        for how, body in self._changes.read(_SECONDS):
            if self._apply(how, body):
                self._note()

    def _apply(self, how: str, body: json_types.Object) -> bool:
        """Whether a change is one of the cluster's Machines."""
        if how != 'DELETED':
            return self._put(body)
        return self._machines.pop(body['metadata']['name'], None) is not None

    def _put(self, body: json_types.Object) -> bool:
        name = body['metadata']['name']
        if not owners.belongs(body['metadata'], self._stack_id):
            return False
        self._machines[name] = capi_objects.machine(capi_objects.Found(
            'Machine', f'{self._path}/{name}', body))
        return True

    def _note(self) -> None:
        self.moments.append([
            self._machines[name] for name in sorted(self._machines)])
