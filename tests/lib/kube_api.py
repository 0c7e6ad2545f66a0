# SPDX-License-Identifier: Apache-2.0

"""A management cluster's Kubernetes API, behind a door, by the clock.

To the server of :mod:`tests.lib.kube_server` it adds what controllers and
charts use. Lists and watches of all namespaces are refused, as long as its
user may only work in namespaces.
"""

import io
import json
import re
import threading
import typing

from tests.lib import doors
from tests.lib import kube_server
from tests.lib import virtual_time

HOST = 'management.example'
URL = f'http://{HOST}'

copied = kube_server.copied

CORE = 'cluster.x-k8s.io/v1beta2'
PLANE = 'controlplane.cluster.x-k8s.io/v1beta2'
BOOTSTRAP = 'bootstrap.cluster.x-k8s.io/v1beta2'
INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io/v1beta1'
SERVERS = 'infrastructure.cluster.x-k8s.io/v1alpha1'
ADDONS = 'addons.stackhpc.com/v1alpha1'

#: Group version and plural of the kinds that controllers and charts write.
KINDS = {
    'Cluster': (CORE, 'clusters'),
    'Machine': (CORE, 'machines'),
    'MachineDeployment': (CORE, 'machinedeployments'),
    'MachineSet': (CORE, 'machinesets'),
    'MachineHealthCheck': (CORE, 'machinehealthchecks'),
    'KubeadmControlPlane': (PLANE, 'kubeadmcontrolplanes'),
    'KubeadmConfigTemplate': (BOOTSTRAP, 'kubeadmconfigtemplates'),
    'OpenStackCluster': (INFRASTRUCTURE, 'openstackclusters'),
    'OpenStackMachine': (INFRASTRUCTURE, 'openstackmachines'),
    'OpenStackMachineTemplate': (INFRASTRUCTURE, 'openstackmachinetemplates'),
    'OpenStackServer': (SERVERS, 'openstackservers'),
    'HelmRelease': (ADDONS, 'helmreleases'),
    'Manifests': (ADDONS, 'manifests'),
    'Secret': ('v1', 'secrets'),
    'Namespace': ('v1', 'namespaces'),
}


def path(kind: str, namespace: str, name: str = '') -> str:
    """Path of an object, or of the collection."""
    version, plural = KINDS[kind]
    root = 'apis' if '/' in version else 'api'
    found = f'/{root}/{version}/namespaces/{namespace}/{plural}'
    return f'{found}/{name}' if name else found


class KubeApi(kube_server.ApiServer):
    """The server; :meth:`serve` answers requests.

    :ivar watchable: whether its user may list and watch all namespaces.
    :ivar lag: seconds after which a watch shows a change.
    """

    url = URL

    def __init__(self, clock: virtual_time.Clock) -> None:
        super().__init__()
        self.clock = clock
        self.namespaces = set()
        self.watchable, self.lag = False, 1.0
        self._watches: set[_Watch] = set()

    @property
    def date(self) -> float:
        return int(self.clock.now)

    @date.setter
    def date(self, value) -> None:
        """The clock counts."""

    def serve(self, request: doors.Request) -> doors.Answer:
        headers = {key.title(): value for key, value
                   in request.headers.items()}
        asked = _Request(self, request.method, request.target, headers)
        asked.handle(request.body)
        return asked.answered

    def _record(self, kind: str, path: str, obj: dict) -> None:
        if self.watchable:
            self.events.append(
                (self.version, kind, path, copied(obj), self.clock.now))
            for watch in self._watches:
                watch.changed(path)

    # For controllers, charts and oracles.

    def get(self, kind: str, namespace: str, name: str) -> dict | None:
        return self.objects.get(path(kind, namespace, name))

    def list(self, kind: str, namespace: str | None = None,
             **labels: str) -> list[dict]:
        """Objects of a kind, by name.

        :param labels: cluster, deployment: see LABELS.
        """
        version, plural = KINDS[kind]
        pattern = re.compile(
            f'/apis?/{re.escape(version)}/namespaces/'
            f'{re.escape(namespace) if namespace else "[^/]+"}/{plural}/.*')
        wanted = {LABELS[key]: value for key, value in labels.items()}
        return [obj for where, obj in sorted(self.objects.items())
                if pattern.fullmatch(where) and wanted.items() <= (
                    obj['metadata'].get('labels') or {}).items()]

    def write(self, obj: dict) -> dict:
        """Create or replace an object as a controller does."""
        metadata = obj['metadata']
        return self.put(
            path(obj['kind'], metadata['namespace'], metadata['name']), obj)

    def delete(self, obj: dict) -> None:
        metadata = obj['metadata']
        where = path(obj['kind'], metadata['namespace'], metadata['name'])
        if where in self.objects:
            self.remove(where)


LABELS = {'cluster': 'cluster.x-k8s.io/cluster-name',
          'deployment': 'cluster.x-k8s.io/deployment-name',
          'release': 'capi.stackhpc.com/cluster'}


def door(request: doors.Request) -> str:
    """The door of a request: that of a cache, or of a driver's work."""
    everywhere = '/namespaces/' not in request.target and (
        request.target.startswith('/apis/') or '/secrets' in request.target)
    return doors.WATCH if everywhere else doors.KUBE


class _Watch(io.BufferedIOBase):
    """What a watch sends, in the thread of a program that reads it.

    :param path: of the collection, in all namespaces.
    :param since: version that was seen last.
    :param seconds: after which it ends.
    :param label: that objects have; empty: all.
    :param whole: whether objects are sent with more than metadata.
    """

    def __init__(self, api: KubeApi, path: str, since: int, seconds: int,
                 label: str, whole: bool) -> None:
        self._api = api
        self._path = path
        self._since = since
        self._end = api.clock.now + seconds
        self._label = label
        self._whole = whole
        #: Number of events that were looked at.
        self._read = 0
        self._thread = threading.current_thread()
        api._watches.add(self)

    def changed(self, path: str) -> None:
        if _collection(path) == self._path:
            self._api.clock.wait(self._thread.waiter, self._api.lag)

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        clock = self._api.clock
        while True:
            data = b''.join(self._lines())
            if data:
                return data
            if clock.now >= self._end:
                self.close()
                return b''
            virtual_time.Event(
                getattr(self._thread, 'program', None)
                or virtual_time.Program(clock)).wait(self._end - clock.now)

    def _lines(self) -> typing.Iterator[bytes]:
        api = self._api
        for version, kind, path, obj, when in api.events[self._read:]:
            if when + api.lag > api.clock.now:
                return
            self._read += 1
            if version <= self._since or _collection(path) != self._path or (
                    self._label and self._label not in obj['metadata'].get(
                        'labels', ())):
                continue
            yield json.dumps({'type': kind, 'object': obj if self._whole else {
                'metadata': obj['metadata']}}).encode() + b'\n'

    def close(self) -> None:
        self._api._watches.discard(self)
        super().close()


def _collection(path: str) -> str:
    """The collection of all namespaces that an object is in."""
    return re.sub('/namespaces/[^/]+', '', path.rpartition('/')[0])


class _Request(kube_server._Request):

    answered: doors.Answer

    def send(self, status, headers, data):
        self.answered = status, headers, data

    def hang_up(self):
        raise AssertionError('faults are at the door')

    def act(self, path, query, body):
        if not self.api.watchable and (
                query.get('watch') or '/namespaces/' not in path and (
                    path.startswith('/apis/') or path.endswith('/secrets'))):
            return self.refuse(403, 'Forbidden')
        if query.get('watch'):
            return self.send(200, {}, _Watch(
                self.api, path, int(query['resourceVersion']),
                int(query['timeoutSeconds']), query.get('labelSelector', ''),
                'PartialObject' not in self.headers.get('Accept', '')))
        super().act(path, query, body)
