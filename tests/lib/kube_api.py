# SPDX-License-Identifier: Apache-2.0

"""A management cluster's Kubernetes API, with what controllers rely on.

To the answers of :mod:`tests.unit.driver.api_server` it adds generations,
finalizers, the garbage collector, the ownership of fields in a server-side
apply, and a clock. Lists and watches of all namespaces are refused, as long
as its user may only work in namespaces.
"""

import io
import json
import marshal
import re
import threading
import typing

from tests.lib import doors
from tests.lib import virtual_time
from tests.unit.driver import api_server

HOST = 'management.example'
URL = f'http://{HOST}'

_APPLY = 'application/apply-patch+yaml'

#: Kinds whose spec has a generation.
_GENERATED = re.compile(r'/apis/[a-z.]*(cluster\.x-k8s\.io|stackhpc\.com)/')

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


def _discovery() -> dict:
    """As of the older one, with health checks."""
    found = copied(api_server.DISCOVERY)
    for version in found['items'][0]['versions']:
        version['resources'].append({'resource': 'machinehealthchecks'})
    return found


def copied(obj: typing.Any) -> typing.Any:
    """A copy of JSON, in a tenth of the time of copy.deepcopy."""
    return marshal.loads(marshal.dumps(obj))


def path(kind: str, namespace: str, name: str = '') -> str:
    """Path of an object, or of the collection."""
    version, plural = KINDS[kind]
    root = 'apis' if '/' in version else 'api'
    found = f'/{root}/{version}/namespaces/{namespace}/{plural}'
    return f'{found}/{name}' if name else found


class KubeApi(api_server.ApiServer):
    """The server; :meth:`serve` answers requests.

    :ivar watchable: whether its user may list and watch all namespaces.
    :ivar lag: seconds after which a watch shows a change.
    """

    url = URL

    def __init__(self, clock: virtual_time.Clock) -> None:
        super().__init__(_discovery())
        self.clock = clock
        self.namespaces = set()
        #: Last body that each manager applied, by path.
        self._applied: dict[tuple[str, str], dict] = {}
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

    def put(self, path: str, obj: dict) -> dict:
        before = self.objects.get(path)
        obj = copied(obj)
        metadata = obj.setdefault('metadata', {})
        metadata['name'] = path.rpartition('/')[2]
        if '/namespaces/' in path:
            metadata['namespace'] = path.split('/')[-3]
        if before is None:
            metadata.setdefault('uid', f'uid-{self.version + 1}')
            metadata.setdefault('creationTimestamp', self.timestamp())
        else:
            # What no client may change.
            for key in ('uid', 'creationTimestamp', 'generation',
                        'deletionTimestamp'):
                if key in before['metadata']:
                    metadata[key] = before['metadata'][key]
        if _GENERATED.match(path):
            if before is None:
                metadata['generation'] = 1
            elif before.get('spec') != obj.get('spec'):
                metadata['generation'] = (
                    before['metadata'].get('generation', 0) + 1)
        if before is not None:
            metadata['resourceVersion'] = before['metadata'][
                'resourceVersion']
            if before == obj:
                # Nothing changed, so it stays the same version.
                return before
        self.version += 1
        metadata['resourceVersion'] = str(self.version)
        self.objects[path] = obj
        if metadata.get('deletionTimestamp') and not metadata.get(
                'finalizers'):
            del self.objects[path]
            # The update that empties the finalizers is never stored
            # (apiserver, pkg/registry/generic/registry/store.go, Update).
            self._tell('DELETED', path, {**(before or obj), 'metadata': {
                **(before or obj)['metadata'],
                'resourceVersion': str(self.version)}})
            self._collect(obj)
        else:
            self._tell('ADDED' if before is None else 'MODIFIED', path, obj)
        return obj

    def remove(self, path: str) -> None:
        """Delete an object, as soon as its finalizers are gone."""
        metadata = self.objects[path]['metadata']
        if metadata.get('finalizers'):
            if not metadata.get('deletionTimestamp'):
                self.version += 1
                metadata['deletionTimestamp'] = self.timestamp()
                if 'generation' in metadata:
                    # apiserver, pkg/registry/rest/delete.go, BeforeDelete.
                    metadata['generation'] += 1
                metadata['resourceVersion'] = str(self.version)
                self._tell('MODIFIED', path, self.objects[path])
            return
        gone = self.objects[path]
        super().remove(path)
        for key in [key for key in self._applied if key[0] == path]:
            del self._applied[key]
        self._collect(gone)

    def _collect(self, owner: dict) -> None:
        """Delete what only this object has owned."""
        uid = owner['metadata']['uid']
        for path, obj in list(self.objects.items()):
            owners = obj['metadata'].get('ownerReferences') or []
            if owners and all(o['uid'] == uid for o in owners) and (
                    path in self.objects):
                self.remove(path)

    def _tell(self, kind: str, path: str, obj: dict) -> None:
        if self.watchable:
            self.events.append(
                (self.version, kind, path, copied(obj), self.clock.now))
            for watch in self._watches:
                watch.changed(path)

    def timestamp(self) -> str:
        return self.clock.datetime().strftime('%Y-%m-%dT%H:%M:%SZ')

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

    def applied(self, where: str, manager: str, body: dict) -> dict:
        """A body, with None for what this manager does not want any more."""
        key = where, manager
        before = self._applied.get(key, {})
        self._applied[key] = copied(body)
        return _without(before, body)


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


class _Request(api_server._Request):

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
        metadata = self.headers.get('Accept', '')
        super().act(path, query, body)
        if 'as=PartialObjectMetadataList' in metadata and (
                self.answered[0] == 200):
            status, headers, data = self.answered
            found = json.loads(data)
            found['items'] = [{'metadata': item['metadata']}
                              for item in found['items']]
            self.answer(status, {}, found)

    def _patch(self, path, query, body):
        if self.headers['Content-Type'] == _APPLY:
            found = self.api.objects.get(path, {})
            body = {**body, 'apiVersion': found.get(
                'apiVersion', body.get('apiVersion'))}
            body = self.api.applied(path, query.get('fieldManager', ''), body)
        super()._patch(path, query, body)

    def _get(self, path, query, body):
        super()._get(path, query, body)
        fields = query.get('fieldSelector')
        if fields and self.answered[0] == 200:
            key, value = fields.split('=')
            found = json.loads(self.answered[2])
            found['items'] = [item for item in found['items']
                              if item.get(key) == value]
            self.answer(200, {}, found)


def _without(before: typing.Any, now: typing.Any) -> typing.Any:
    """``now``, with None for keys of mappings that only ``before`` has."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return now
    return {**{key: None for key in before.keys() - now.keys()},
            **{key: _without(before.get(key), value)
               for key, value in now.items()}}
