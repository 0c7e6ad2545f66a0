# SPDX-License-Identifier: Apache-2.0


"""The API server of a cluster that runs no pods, for the real Sonobuoy.

It answers the requests of Sonobuoy and this project, stores created objects,
and plays a script: the status of the aggregator's pod at each request, errors
in between, and the output of an exec into it. Exec streams use SPDY and are
served by the Go program next to this file; here the connection is only passed
on.
"""

import atexit
import contextlib
import dataclasses
import datetime
import functools
import json
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tempfile
import threading
from urllib import parse
import uuid

import fixtures
import yaml

from magnum_capi import processes
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.toolchain import go
from tests.unit import loopback

NAMESPACE = 'sonobuoy'
SPACE = f'/api/v1/namespaces/{NAMESPACE}'
STATUS = 'sonobuoy.hept.io/status'
RBAC = '/apis/rbac.authorization.k8s.io/v1'

#: Hydrophone's pod, and its status: the tests have ended, but the container
#: from which the files are fetched still runs.
LONE = 'e2e-conformance-test'
ENDED = {'phase': 'Running', 'containerStatuses': [
    {'name': 'conformance-container', 'image': '', 'imageID': '',
     'ready': False, 'restartCount': 0,
     'state': {'terminated': {'exitCode': 1}}},
    {'name': 'output-container', 'image': '', 'imageID': '',
     'ready': True, 'restartCount': 0, 'state': {'running': {}}}]}
GOES_ON = {'phase': 'Running'}

_KINDS = {
    '/api/v1': (('namespaces', 'Namespace', False),
                ('serviceaccounts', 'ServiceAccount', True),
                ('configmaps', 'ConfigMap', True), ('pods', 'Pod', True),
                ('services', 'Service', True), ('secrets', 'Secret', True)),
    RBAC: (('clusterroles', 'ClusterRole', False),
           ('clusterrolebindings', 'ClusterRoleBinding', False))}
_VERSIONS = {'/api/v1': 'v1', RBAC: RBAC.removeprefix('/apis/')}
_LISTS = {f'{base}/{name}': kind for base, kinds in _KINDS.items()
          for name, kind, spaced in kinds if not spaced}


@dataclasses.dataclass(frozen=True)
class Exec:
    """The output of an exec into the aggregator.

    :param file: path of its standard output; None refuses with 500.
    :param limit: bytes after which the connection is cut.
    :param code: exit code of the command.
    """

    file: str | None = None
    limit: int | None = None
    code: int = 0


class ScriptedCluster(fixtures.Fixture):
    """A scripted cluster.

    ``statuses``: answers to successive requests for the aggregator's pod, the
    last one repeated: a dict (its status), a str (a pod of this phase without
    a status), a number (an answer with this HTTP code), or None (the
    connection is closed without an answer).
    ``execs``: output of successive execs, the last one repeated.
    ``log``: of every container, None if it has not started.
    ``objects``: created objects, path -> object. ``asked``: "GET /path".
    ``lone``: status of Hydrophone's pod.
    """

    def __init__(self, *, running=True):
        self._running = running

    def _setUp(self):
        self.statuses, self.execs, self.objects = [], [], {}
        self.asked, self.plugin_pods, self.log = [], [], None
        self.nodes = [node('n1'), node('n2')]
        self.version = 'v1.34.9'
        self.lone = ENDED
        if self._running:
            self._start_run()
        self.url = loopback.start(
            self, type('Handler', (_Handler,), {'cluster': self}))
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.kubeconfig = self.folder / 'kubeconfig'
        self.kubeconfig.write_text(yaml.safe_dump(
            kubeconfig.document(self.url, 'CA', None, None)))

    def _start_run(self):
        self.objects[SPACE] = {'metadata': {'name': NAMESPACE}}
        self.objects[f'{SPACE}/pods/sonobuoy'] = {'metadata': {
            'name': 'sonobuoy', 'namespace': NAMESPACE,
            'labels': {'sonobuoy-component': 'aggregator'}}}

    def exec_port(self) -> int:
        """Port of the SPDY program, which is started once."""
        if not hasattr(self, '_exec'):
            self._exec = subprocess.Popen(
                [exec_server()], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True)
            self.addCleanup(self._end_exec)
            self._exec_port = int(self._exec.stdout.readline())
        return self._exec_port

    def _end_exec(self):
        self._exec.stdin.close()
        self._exec.wait(10)
        self._exec.stdout.close()


def node(name, ready='True'):
    """A node as in the API."""
    return {'metadata': {'name': name, 'labels': {}}, 'spec': {},
            'status': {
                'conditions': [{'type': 'Ready', 'status': ready}],
                'allocatable': {'cpu': '2', 'memory': '4Gi', 'pods': '110'},
                'nodeInfo': {'kubeletVersion': 'v1.34.9'}, 'images': []}}


@functools.cache
def exec_server() -> pathlib.Path:
    """Build the Go program, once for this process."""
    source = pathlib.Path(__file__).with_name('exec_server')
    found = go.find_go()
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    out = pathlib.Path(folder, 'exec_server')
    processes.run([found, 'build', '-trimpath', '-o', out, '.'],
                  timeout=900, cwd=source, env=go.environment(found))
    return out


class _Handler(loopback.Handler):

    protocol_version = 'HTTP/1.1'
    cluster = None

    def handle(self):
        # Tests may kill a client in the middle of a request.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def _take(self, items):
        return items.pop(0) if len(items) > 1 else items[0]

    def do_GET(self):
        url = parse.urlsplit(self.path)
        path, query = url.path, dict(parse.parse_qsl(url.query))
        self.cluster.asked.append(f'GET {path}')
        if 'watch' in query:
            self._watch(path, query)
        elif path.endswith('/log'):
            self._log()
        elif path == f'{SPACE}/pods/sonobuoy' and path in \
                self.cluster.objects:
            self._status()
        else:
            self.answer(*self._answer(path, query))

    def _watch(self, path, query):
        """Send one event, then nothing until the client disconnects."""
        if 'sendInitialEvents' in query:
            # Like a server without WatchList, for which clients use a list.
            self.answer(422, _failure(422, 'Invalid', 'sendInitialEvents'))
            return
        name = query.get('fieldSelector', '').partition('=')[2]
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.close_connection = True
        for _ in range(100):
            event = self._event(path, name)
            if event:
                self.wfile.write(json.dumps(event).encode() + b'\n')
                self.wfile.flush()
            if select.select([self.connection], [], [], 0.1)[0]:
                break

    def _event(self, path, name):
        there = self.cluster.objects.get(f'{path}/{name}')
        if path == '/api/v1/namespaces':
            return None if there else {'type': 'DELETED', 'object': {
                'kind': 'Namespace', 'apiVersion': 'v1',
                'metadata': {'name': name}}}
        return there and {'type': 'MODIFIED', 'object': {
            **there, 'kind': 'Pod', 'apiVersion': 'v1',
            'status': self.cluster.lone}}

    def _log(self):
        if self.cluster.log is None:
            self.answer(400, _failure(400, 'BadRequest',
                                      'container is waiting to start'))
        else:
            self.answer(200, self.cluster.log.encode(), **{
                'Content-Type': 'text/plain'})

    def _answer(self, path, query):
        objects = self.cluster.objects
        if path == '/version':
            return 200, {'gitVersion': self.cluster.version}
        if path == '/api':
            return 200, {'kind': 'APIVersions', 'versions': ['v1']}
        if path == '/apis':
            version = {'groupVersion': RBAC[6:], 'version': 'v1'}
            return 200, {'kind': 'APIGroupList', 'apiVersion': 'v1',
                         'groups': [{'name': RBAC.split('/')[2],
                                     'versions': [version],
                                     'preferredVersion': version}]}
        if path in _KINDS:
            return 200, {
                'kind': 'APIResourceList', 'apiVersion': 'v1',
                'groupVersion': path.split('/', 2)[2],
                'resources': [
                    {'name': name, 'kind': kind, 'namespaced': spaced,
                     'singularName': '', 'verbs': ['get', 'list', 'create',
                                                   'delete']}
                    for name, kind, spaced in _KINDS[path]]}
        if path in objects:
            return 200, objects[path]
        if path == '/api/v1/nodes':
            return 200, _list('Node', self.cluster.nodes)
        if path in (f'{SPACE}/pods', '/api/v1/pods'):
            return 200, _list('Pod', self._pods(query))
        if re.fullmatch('/api/v1/namespaces/[^/]+/(pods|events)', path):
            return 200, _list('Pod', [
                {**o, 'status': self.cluster.lone}
                for p, o in objects.items()
                if p.rpartition('/')[0] == path])
        kind = _LISTS.get(path)
        if kind:
            return 200, _list(
                kind, [o for p, o in objects.items()
                       if p.rpartition('/')[0] == path
                       and _selected(o, query)],
                _VERSIONS[path.rpartition('/')[0]])
        return 404, _failure(404, 'NotFound', f'{path} not found')

    def _pods(self, query):
        aggregator = self.cluster.objects.get(f'{SPACE}/pods/sonobuoy')
        found = [{**aggregator, 'status': {'phase': 'Running'}}] \
            if aggregator else []
        if 'aggregator' in query.get('labelSelector', ''):
            return found
        if query.get('labelSelector'):
            return [pod for pod in self.cluster.plugin_pods
                    if _selected(pod, query)]
        lone = [{**o, 'status': self.cluster.lone} for p, o in
                self.cluster.objects.items() if p.endswith(f'/{LONE}')]
        return [*found, *self.cluster.plugin_pods, *lone]

    def _status(self):
        now = self._take(self.cluster.statuses)
        if now is None:
            self.close_connection = True
        elif isinstance(now, int):
            self.answer(now, _failure(now, 'InternalError',
                                      'etcdserver: leader changed'))
        else:
            pod = json.loads(json.dumps(
                self.cluster.objects[f'{SPACE}/pods/sonobuoy']))
            pod.update(kind='Pod', apiVersion='v1')
            phase = now if isinstance(now, str) else 'Running'
            pod['status'] = {'phase': phase}
            if isinstance(now, dict):
                pod['metadata']['annotations'] = {STATUS: json.dumps(now)}
            self.answer(200, pod)

    def do_POST(self):
        path = parse.urlsplit(self.path).path
        self.cluster.asked.append(f'POST {path}')
        if path.endswith('/exec'):
            self._exec()
            return
        obj = _object(self.body())
        spaced = re.match('/api/v1/namespaces/([^/]+)/', path)
        if spaced:
            obj['metadata']['namespace'] = spaced[1]
        obj['metadata']['uid'] = str(uuid.uuid4())
        obj['metadata']['creationTimestamp'] = datetime.datetime.now(
            datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
        where = f'{path}/{obj["metadata"]["name"]}'
        if where in self.cluster.objects:
            self.answer(409, _failure(409, 'AlreadyExists', 'exists'))
            return
        self.cluster.objects[where] = obj
        self.answer(201, obj)

    def do_DELETE(self):
        url = parse.urlsplit(self.path)
        path, query = url.path, dict(parse.parse_qsl(url.query))
        self.cluster.asked.append(f'DELETE {path}')
        self.body()
        for there, obj in list(self.cluster.objects.items()):
            if there == path or (there.startswith(f'{path}/')
                                 and _selected(obj, query)):
                del self.cluster.objects[there]
        self.answer(200, {'kind': 'Status', 'apiVersion': 'v1',
                          'status': 'Success'})

    def _exec(self):
        what = self._take(self.cluster.execs)
        if what.file is None and not what.code:
            self.answer(500, _failure(500, 'InternalError', 'no kubelet'))
            return
        lines = [self.requestline]
        lines += [f'{k}: {v}' for k, v in self.headers.items()]
        lines += [f'X-Test-{name}: {value}' for name, value in (
            ('File', what.file), ('Limit', what.limit),
            ('Exit', what.code or None)) if value is not None]
        with socket.create_connection(
                ('127.0.0.1', self.cluster.exec_port())) as behind:
            behind.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
            back = threading.Thread(
                target=_pump, args=(behind, self.connection))
            back.start()
            _pump(self.connection, behind, until=lambda: back.is_alive())
            back.join()
        self.close_connection = True


def _pump(source, sink, until=lambda: True):
    """Pass bytes on until one side ends."""
    with contextlib.suppress(OSError):
        while until():
            if not select.select([source], [], [], 0.1)[0]:
                continue
            piece = source.recv(65536)
            if not piece:
                break
            sink.sendall(piece)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def _selected(obj, query):
    """Whether an object has the labels in a query."""
    labels = obj['metadata'].get('labels') or {}
    wanted = [w.partition('=') for w in filter(
        None, query.get('labelSelector', '').split(','))]
    return all(key in labels and (not equals or labels[key] == value)
               for key, equals, value in wanted)


def _object(body):
    """The object in a request: JSON, or only the name from protobuf.

    Protobuf is in an envelope, runtime.Unknown, whose second field holds the
    object. The object's first field is the metadata, whose first field is the
    name (k8s.io/apimachinery, pkg/runtime/generated.proto).
    """
    if not body.startswith(b'k8s\0'):
        return json.loads(body)
    metadata = _field(_field(body[4:], 2), 1)
    return {'metadata': {'name': _field(metadata, 1).decode()}}


def _field(message, wanted):
    """A field of a protobuf message preceded only by length-delimited ones."""
    at = 0
    while at < len(message):
        number, at = message[at] >> 3, at + 1
        size = shift = 0
        while True:
            byte, at = message[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if number == wanted:
            return message[at:at + size]
        at += size
    raise ValueError(f'no field {wanted}')


def _list(kind, items, version='v1'):
    return {'kind': f'{kind}List', 'apiVersion': version,
            'metadata': {'resourceVersion': '1'}, 'items': items}


def _failure(code, reason, message):
    return {'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure',
            'reason': reason, 'message': message, 'code': code}
