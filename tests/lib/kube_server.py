# SPDX-License-Identifier: Apache-2.0
"""A small Kubernetes API: objects in memory, faults on demand.

Requests reach it as urllib3 would send them, without a connection: most of
what a test cost was HTTP that both sides wrote and parsed. Tests of the client
itself use :class:`HttpApiServer`, which is on loopback and decides alike.

What it does not know it refuses as a kube-apiserver does: a path that nobody
serves is a text, not a Status, and an object that is missing is named. It is
stricter in one thing: in a namespace that does not exist nothing is "not
found", so that a swapped namespace and name is no empty answer.

Objects have generations, finalizers and owners, and each manager of a
server-side apply its fields, as in a kube-apiserver.
"""

import copy
import email.utils
import http.client
import http.server
import io
import json
import marshal
import re
import socket
import threading
import time
import typing
from urllib import parse

import fixtures
import urllib3
from urllib3 import exceptions

from magnum_capi.kube import access
from magnum_capi.kube import client
from magnum_capi.kube import rest
from tests.unit import fake_clock
from tests.unit import loopback

#: What a server with Cluster API, its OpenStack provider and the addon
#: operator says about itself.
DISCOVERY = {
    'kind': 'APIGroupDiscoveryList',
    'items': [
        {'metadata': {'name': group}, 'versions': [
            {'version': version,
             'resources': [{'resource': r} for r in resources]}
            for version, resources in versions]}
        for group, versions in (
            ('cluster.x-k8s.io', (
                ('v1beta2', ('clusters', 'machines', 'machinedeployments',
                             'machinesets', 'machinehealthchecks')),
                ('v1beta1', ('clusters', 'machines', 'machinedeployments',
                             'machinesets', 'machinehealthchecks')))),
            ('controlplane.cluster.x-k8s.io', (
                ('v1beta2', ('kubeadmcontrolplanes',)),
                ('v1beta1', ('kubeadmcontrolplanes',)))),
            ('bootstrap.cluster.x-k8s.io', (
                ('v1beta2', ('kubeadmconfigtemplates',)),
                ('v1beta1', ('kubeadmconfigtemplates',)))),
            # v1beta2 is preferred, but for other kinds.
            ('infrastructure.cluster.x-k8s.io', (
                ('v1beta2', ('devclusters', 'devmachinetemplates')),
                ('v1beta1', ('openstackclusters', 'openstackmachines',
                             'openstackmachinetemplates')),
                ('v1alpha1', ('openstackservers',)))),
            ('addons.stackhpc.com', (
                ('v1alpha1', ('helmreleases', 'manifests')),)))],
}


def without(*plurals):
    """What a server says that does not serve these."""
    found = copy.deepcopy(DISCOVERY)
    for group in found['items']:
        for version in group['versions']:
            version['resources'] = [r for r in version['resources']
                                    if r['resource'] not in plurals]
    return found


#: Kinds of every server, by group version.
_BUILT_IN = {'v1': {'namespaces': 'Namespace', 'secrets': 'Secret',
                    'configmaps': 'ConfigMap', 'events': 'Event'},
             'coordination.k8s.io/v1': {'leases': 'Lease'}}

_PATH = re.compile(
    r'/(?:api|apis)/(?P<version>v1|[^/]+/[^/]+)'
    r'(?:/namespaces/(?P<namespace>[^/]+)(?=/))?'
    r'/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?')


_APPLY = 'application/apply-patch+yaml'

#: Kinds whose spec has a generation.
_GENERATED = re.compile(r'/apis/[a-z.]*(cluster\.x-k8s\.io|stackhpc\.com)/')


def copied(obj: typing.Any) -> typing.Any:
    """A copy of JSON, in a tenth of the time of copy.deepcopy."""
    return marshal.loads(marshal.dumps(obj))


class ApiServer(fixtures.Fixture):
    """``objects`` by path; ``faults`` are answered first, one a request.

    A fault is (status, headers, body) or a function of the request.
    """

    url = 'http://management'

    def __init__(self, discovery=DISCOVERY):
        self.discovery = discovery
        self.objects = {}
        #: Namespaces that exist, beside those of objects.
        self.namespaces = {'n'}
        self.faults = []
        #: Only requests to these paths meet faults.
        self.fault_path = re.compile('')
        #: (method, path, query as dict, headers, body) of each request.
        self.seen = []
        self.version = 0
        #: Of watches: (version, type, path, object), oldest first.
        self.events = []
        self.changed = threading.Condition()
        #: Watches from before this version are refused.
        self.oldest = 0
        #: What ends all watches that are open, as a restart does.
        self.restarts = 0
        self.date = 1_700_000_000
        #: Called with what an object was, or None, and what it becomes: its
        #: controller, as far as it answers at once.
        self.controller = lambda before, now: None
        #: Last body that each manager applied, by path.
        self._applied: dict[tuple[str, str], dict] = {}

    def _setUp(self):
        self.clock = fake_clock.FakeClock()

    def rest(self, limits=rest.Limits(5, 5, 30), **options):
        made = rest.Rest(
            access.Access(server=self.url, kubeconfig=None, tls=None,
                          **options), limits, self.clock)
        self._connect(made)
        return made

    def _connect(self, connection):
        connection._pool = connection._unbounded = _Pool(self)

    def kube(self, **options):
        return client.Kube(self.rest(**options))

    def put(self, path: str, obj: dict) -> dict:
        """Keep an object, as a controller would."""
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
        self.controller(before, obj)
        if before is not None:
            metadata['resourceVersion'] = before['metadata'][
                'resourceVersion']
            if before == obj:
                # Nothing changed, so it stays the same version.
                return before
        self.version += 1
        metadata['resourceVersion'] = str(self.version)
        if metadata.get('deletionTimestamp') and not metadata.get(
                'finalizers'):
            # The update that empties the finalizers is never stored
            # (apiserver, pkg/registry/generic/registry/store.go, Update).
            self.objects[path] = before or obj
            self._forget(path)
            return obj
        self._record('ADDED' if before is None else 'MODIFIED', path, obj)
        self.objects[path] = obj
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
                self._record('MODIFIED', path, copied(self.objects[path]))
            return
        self._forget(path)

    def _forget(self, path: str) -> None:
        """An object is gone, and with it what only it has owned."""
        self.version += 1
        gone = copied(self.objects.pop(path))
        gone['metadata']['resourceVersion'] = str(self.version)
        self._record('DELETED', path, gone)
        for key in [key for key in self._applied if key[0] == path]:
            del self._applied[key]
        uid = gone['metadata']['uid']
        for path, obj in list(self.objects.items()):
            owners = obj['metadata'].get('ownerReferences') or []
            if owners and all(o['uid'] == uid for o in owners) and (
                    path in self.objects):
                self.remove(path)

    def applied(self, where: str, manager: str, body: dict) -> dict:
        """A body, with None for what this manager does not want any more."""
        key = where, manager
        before = self._applied.get(key, {})
        self._applied[key] = copied(body)
        return _without(before, body)

    def timestamp(self) -> str:
        return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.date))

    def _record(self, kind, path, obj):
        with self.changed:
            self.events.append((self.version, kind, path, obj))
            self.changed.notify_all()

    def bookmark(self, path: str) -> None:
        """Tell watches of an object's kind a version, and nothing else."""
        self.version += 1
        self._record('BOOKMARK', path, {'metadata': {
            'resourceVersion': str(self.version)}})

    def restart(self):
        """End all watches."""
        with self.changed:
            self.restarts += 1
            self.changed.notify_all()

    def serves(self, version, plural):
        """Whether there is such a collection.

        :param version: ``v1`` or ``group/version``.
        """
        if plural in _BUILT_IN.get(version, ()):
            return True
        return version in self._versions(version.partition('/')[0], plural)

    def _versions(self, wanted, plural):
        """The ``group/version`` of a group that has a kind, as preferred."""
        return [f'{wanted}/{known["version"]}'
                for group in self.discovery.get('items', ())
                if group['metadata']['name'] == wanted
                for known in group['versions']
                if plural in {r['resource'] for r in known['resources']}]

    def stored(self, path):
        """The path at which an object is kept, whichever version is asked for.

        It is that of the preferred version of its kind.
        """
        found = _PATH.fullmatch(path)
        version = found['version']
        preferred = next(iter(self._versions(
            version.partition('/')[0], found['plural'])), version)
        return path.replace(f'/{version}/', f'/{preferred}/')

    def has_namespace(self, name):
        start = f'/namespaces/{name}'
        return name in self.namespaces or any(
            f'{start}/' in path or path.endswith(start)
            for path in self.objects)

    def withdraw(self, version):
        """Stop to serve a version, such as v1beta2.

        Objects stay, in the other version of their kind.
        """
        self.discovery = copy.deepcopy(self.discovery)
        for group in self.discovery['items']:
            name, served = group['metadata']['name'], group['versions']
            kept = [known for known in served if known['version'] != version]
            left = [found for known in kept for found in known['resources']]
            if not all(found in left for known in served
                       for found in known['resources']):
                continue
            group['versions'] = kept
            for path in list(self.objects):
                start = f'/apis/{name}/{version}/'
                if path.startswith(start):
                    self.objects[path.replace(
                        start, f'/apis/{name}/{kept[0]["version"]}/')] = (
                            self.objects.pop(path))

    def calls(self, method=None):
        """Methods and paths that were asked for, without discovery."""
        return [(m, p) for m, p, *_ in self.seen
                if p != '/apis' and method in (None, m)]


#: A fault: what a kube-apiserver says of a path that it does not know, which
#: is also that of a kind or version that it does not serve (apiserver,
#: pkg/util/notfoundhandler).
UNKNOWN_PATH = (404, {'Content-Type': 'text/plain'}, b'404 page not found\n')


def hang_up(request):
    """A fault: the connection ends without an answer."""
    request.hang_up()


class _Request:
    """One request to ``api``, and the answer to it.

    ``method``, ``target`` (path and query) and ``headers`` are as sent.
    """

    def __init__(self, api, method, target, headers):
        self.api = api
        self.method = method
        self.target = target
        self.headers = headers

    def answer(self, status, headers, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send(status, {
            'Date': email.utils.formatdate(self.api.date, usegmt=True),
            **headers, 'Content-Length': str(len(data))}, data)

    def handle(self, data):
        url = parse.urlsplit(self.target)
        query = dict(parse.parse_qsl(url.query))
        body = json.loads(data) if data else None
        self.api.seen.append(
            (self.method, url.path, query, dict(self.headers), body))
        if self.api.faults and self.api.fault_path.match(url.path):
            fault = self.api.faults.pop(0)
            if callable(fault):
                return fault(self)
            return self.answer(*fault)
        if url.path == '/apis':
            return self.answer(200, {}, self.api.discovery)
        found = _PATH.fullmatch(url.path)
        if found is None and url.path in self.api.objects:
            return self.answer(200, {}, self.api.objects[url.path])
        if found is None or not self.api.serves(
                found['version'], found['plural']):
            if found is not None and found['version'] in _BUILT_IN:
                return self.refuse(404, 'NotFound')
            return self.answer(*UNKNOWN_PATH)
        if body is not None and not _fits(body, found):
            return self.refuse(400, 'BadRequest')
        self.act(self.api.stored(url.path), query, body)

    def act(self, path, query, body):
        """What the method does at this path."""
        getattr(self, f'_{self.method.lower()}')(path, query, body)

    def refuse(self, status, reason, **details):
        self.answer(status, {}, {'kind': 'Status', 'reason': reason,
                                 'message': f'{reason} of {self.target}',
                                 'details': details})

    def not_found(self, plural, name):
        self.refuse(404, 'NotFound', kind=plural, name=name)

    def _missing(self, path):
        self.not_found(*path.split('/')[-2:])

    def _lacks_namespace(self, path):
        """Refuse to create an object in a namespace that is not there."""
        namespace = _PATH.fullmatch(path)['namespace']
        if namespace is None or self.api.has_namespace(namespace):
            return False
        self.not_found('namespaces', namespace)
        return True

    def _get(self, path, query, body):
        if query.get('watch'):
            return self._watch(path, query)
        if path in self.api.objects:
            return self.answer(200, {}, self.api.objects[path])
        if _PATH.fullmatch(path)['name']:
            return self._missing(path)
        items = self._selected(path, query)
        start = int(query.get('continue', 0))
        end = start + int(query.get('limit', len(items) or 1))
        metadata = {'continue': str(end)} if end < len(items) else {}
        items = items[start:end]
        if 'as=PartialObjectMetadataList' in self.headers.get('Accept', ''):
            items = [{'metadata': item['metadata']} for item in items]
        self.answer(200, {}, {'items': items, 'metadata': {
            **metadata, 'resourceVersion': str(self.api.version)}})

    def _selected(self, path, query):
        wanted = dict((*pair.split('='), None)[:2] for pair in
                      query.get('labelSelector', '').split(',') if pair)
        fields = dict(pair.split('=') for pair in
                      query.get('fieldSelector', '').split(',') if pair)
        return [obj for p, obj in sorted(self.api.objects.items())
                if path in (p.rpartition('/')[0],
                            _everywhere(p.rpartition('/')[0]))
                and all(k in labels and value in (None, labels[k])
                        for k, value in wanted.items()
                        for labels in [obj['metadata'].get('labels') or {}])
                and all(obj.get(k) == value for k, value in fields.items())]

    def _post(self, path, query, body):
        path = f'{path}/{body["metadata"]["name"]}'
        if self._lacks_namespace(path):
            return
        if path in self.api.objects:
            return self.refuse(409, 'AlreadyExists')
        self.answer(201, {}, self.api.put(path, body))

    def _put(self, path, query, body):
        found = self.api.objects.get(path)
        if found is None and '/leases/' in path:
            # A Lease may be created by PUT, but not with a resourceVersion.
            return self.refuse(409, 'Conflict')
        if found is None:
            return self._missing(path)
        if (body['metadata']['resourceVersion']
                != found['metadata']['resourceVersion']):
            return self.refuse(409, 'Conflict')
        self.answer(200, {}, self.api.put(path, body))

    def _patch(self, path, query, body):
        found = self.api.objects.get(path)
        kind = self.headers['Content-Type']
        if found is None and 'apply' not in kind:
            return self._missing(path)
        if found is None and self._lacks_namespace(path):
            return
        found = copied(found or {})
        if 'apiVersion' in found:
            # It is kept in one version, whichever it is written in.
            body = {**body, 'apiVersion': found['apiVersion']}
        if kind == _APPLY:
            body = self.api.applied(path, query.get('fieldManager', ''), body)
        _merge(found, body)
        self.answer(200, {}, self.api.put(path, found))

    def _delete(self, path, query, body):
        if path in self.api.objects:
            metadata = self.api.objects[path]['metadata']
            only = (body or {}).get('preconditions', {})
            if any(metadata[k] != v for k, v in only.items()):
                return self.refuse(409, 'Conflict')
            self.api.remove(path)
        elif _PATH.fullmatch(path)['name']:
            return self._missing(path)
        else:
            gone = self._selected(path, query)
            for obj in gone:
                self.api.remove(f'{path}/{obj["metadata"]["name"]}')
            return self.answer(200, {}, {'items': gone, 'metadata': {}})
        self.answer(200, {}, {'kind': 'Status'})


class _Pool:
    """What the client uses of urllib3's pool; nothing goes over a network."""

    def __init__(self, api):
        self._api = api

    def request(self, method, url, *, body, headers, **how):
        request = _Unsent(self._api, method, url.removeprefix(self._api.url),
                          headers)
        request.handle(body)
        return request.response


class _Unsent(_Request):

    def send(self, status, headers, data):
        self.response = urllib3.HTTPResponse(
            io.BytesIO(data), headers, status, preload_content=False,
            request_method=self.method)

    def hang_up(self):
        raise exceptions.ProtocolError(
            'Connection aborted.', http.client.RemoteDisconnected(
                'Remote end closed connection without response'))


class HttpApiServer(ApiServer):
    """The same on loopback, at ``url``."""

    def _setUp(self):
        super()._setUp()
        fixture = self

        class Handler(_Handler):
            api = fixture

        self.url = loopback.start(self, Handler)
        self.addCleanup(self.restart)

    def _connect(self, connection):
        """It is connected: the pool is urllib3's own."""


class _Sent(_Request):
    """A request by HTTP; a fault may use its ``handler`` itself."""

    def __init__(self, handler):
        super().__init__(handler.api, handler.command, handler.path,
                         handler.headers)
        self.handler = handler

    def send(self, status, headers, data):
        self.handler.send_response_only(status)
        for name, value in headers.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def hang_up(self):
        self.handler.close_connection = True
        self.handler.connection.shutdown(socket.SHUT_RDWR)

    def _watch(self, path, query):
        api, since = self.api, int(query['resourceVersion'])
        end = time.monotonic() + int(query['timeoutSeconds'])
        self.handler.send_response_only(200)
        self.handler.end_headers()
        self.handler.close_connection = True
        if since < api.oldest:
            return self._send('ERROR', {
                'kind': 'Status', 'reason': 'Expired', 'code': 410,
                'message': f'too old resource version: {since}'})
        restarts = api.restarts
        while time.monotonic() < end:
            with api.changed:
                new = [event for event in api.events if event[0] > since]
                if restarts != api.restarts:
                    return
                if not new:
                    api.changed.wait(end - time.monotonic())
                    continue
            for since, kind, of, obj in new:
                if _everywhere(of.rpartition('/')[0]) == path:
                    self._send(kind, obj)

    def _send(self, kind, obj):
        self.handler.wfile.write(json.dumps(
            {'type': kind, 'object': obj}).encode() + b'\n')


class _Handler(loopback.Handler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def _handle(self):
        _Sent(self).handle(self.body())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle


def _everywhere(path):
    """The collection of all namespaces, of the path of one of them."""
    return re.sub('/namespaces/[^/]+', '', path)


def _fits(body, found):
    """Whether a body is of the kind and place that its path says."""
    if body.get('kind') == 'DeleteOptions':
        return True
    metadata = body.get('metadata') or {}
    kind = _BUILT_IN.get(found['version'], {}).get(found['plural'])
    return all(said in (None, known) for said, known in (
        (body.get('apiVersion'), found['version']),
        (body.get('kind'), kind or body.get('kind')),
        (metadata.get('namespace'), found['namespace']),
        (metadata.get('name'), found['name'] or metadata.get('name'))))


def _without(before: typing.Any, now: typing.Any) -> typing.Any:
    """``now``, with None for keys of mappings that only ``before`` has."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return now
    return {**{key: None for key in before.keys() - now.keys()},
            **{key: _without(before.get(key), value)
               for key, value in now.items()}}


def _merge(into, patch):
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict):
            if not isinstance(into.get(key), dict):
                into[key] = {}
            _merge(into[key], value)
        else:
            into[key] = value
