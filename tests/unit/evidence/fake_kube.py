# SPDX-License-Identifier: Apache-2.0

"""A Kubernetes API of lists and objects, over real HTTP, without TLS."""

import json
import os
from urllib import parse

import fixtures
import yaml

from magnum_capi_tempest import kubeconfig
from tests.unit import loopback


#: Where Cluster API and OpenStack's provider are, see serve_management.
CLUSTER_API = '/apis/cluster.x-k8s.io/v1beta2'
OPENSTACK = '/apis/infrastructure.cluster.x-k8s.io/v1beta1'


class FakeKube(fixtures.Fixture):
    """``answers``: path -> (status, body). ``asked``: list of paths.

    ``queries``: list of the query strings, their parts sorted.

    ``written``: list of the paths of what was created or replaced, which then
    is an answer. ``refuse``: statuses for the next such requests. ``busy``:
    those for the next GETs. ``allowed``: what is said of who asks what they
    may.

    ``history``: path -> list of changes, (ADDED, object), for those who watch;
    the resourceVersion is the number of those before.

    ``kubeconfig`` is the path of a file that leads here.
    """

    def __init__(self, page=None):
        self._page = page

    def _setUp(self):
        self.answers = {}
        self.asked = []
        self.queries = []
        self.written = []
        self.refuse = []
        self.busy = []
        self.allowed = True
        self.history = {}
        self.url = loopback.start(self, self._handler())
        self.kubeconfig = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'kubeconfig')
        document = kubeconfig.document(self.url, 'CA', None, None)
        with open(self.kubeconfig, 'w') as f:
            yaml.safe_dump(document, f)

    def serve(self, path, *items):
        """Answer a list request with these objects."""
        self.answers[path] = 200, {'items': list(items)}

    def serve_group(self, group, version, **kinds):
        """Announce a version of an API group; kinds: plural=kind.

        The first one of a group is its preferred version.
        """
        groups = self.answers.setdefault('/apis/', (200, {'groups': []}))[1][
            'groups']
        served = {'version': version}
        known = [g for g in groups if g['name'] == group]
        if known:
            known[0]['versions'].append(served)
        else:
            groups.append({'name': group, 'preferredVersion': served,
                           'versions': [served]})
        self.answers[f'/apis/{group}/{version}'] = 200, {'resources': [
            {'name': plural, 'kind': kind, 'verbs': ['get', 'list']}
            for plural, kind in kinds.items()] + [
            {'name': f'{plural}/status', 'kind': kind, 'verbs': ['get']}
            for plural, kind in kinds.items()]}
        for plural in kinds:
            self.serve(f'/apis/{group}/{version}/{plural}')

    def serve_management(self):
        """Serve what a management cluster with Cluster API has: no objects."""
        for group, version, kinds in (
                ('cluster.x-k8s.io', 'v1beta2',
                 {'clusters': 'Cluster', 'machines': 'Machine'}),
                ('infrastructure.cluster.x-k8s.io', 'v1beta1',
                 {'openstackmachines': 'OpenStackMachine'}),
                ('addons.stackhpc.com', 'v1alpha1',
                 {'helmreleases': 'HelmRelease'}),
                ('apps', 'v1', {'deployments': 'Deployment'}),
                ('rbac.authorization.k8s.io', 'v1',
                 {'roles': 'Role', 'rolebindings': 'RoleBinding'})):
            self.serve_group(group, version, **kinds)
        for plural in ('events', 'pods', 'secrets', 'serviceaccounts'):
            self.serve(f'/api/v1/{plural}')

    def add(self, path, name, namespace='n', status=None, spec=None,
            **metadata):
        """Add an object to a list."""
        self.answers[path][1]['items'].append({
            'metadata': {'name': name, 'namespace': namespace, **metadata},
            'status': status, 'spec': spec})

    def change(self, path, how, obj):
        """Add a change of an object for those who watch this list."""
        changes = self.history.setdefault(path, [])
        changes.append((how, {**obj, 'metadata': {
            **obj['metadata'], 'resourceVersion': str(len(changes) + 1)}}))

    def _changes(self, path, since):
        return b''.join(
            json.dumps({'type': how, 'object': obj}).encode() + b'\n'
            for how, obj in self.history.get(path, [])[since:])

    def _write(self, method, path, body):
        self.written.append(path)
        if self.refuse:
            return self.refuse.pop(0), {'message': 'no, no'}
        if path.endswith('/selfsubjectaccessreviews'):
            return 201, {**body, 'status': {'allowed': self.allowed}}
        if method == 'POST':
            path = f'{path}/{body["metadata"]["name"]}'
        elif path not in self.answers:
            return 404, {'message': f'no {path}'}
        self.answers[path] = 200, body
        return 200, body

    def _handler(self):
        fixture = self

        class Handler(loopback.Handler):

            def do_GET(self):
                url = parse.urlsplit(self.path)
                fixture.asked.append(url.path)
                if fixture.busy:
                    self.answer(fixture.busy.pop(0), b'{}')
                    return
                fixture.queries.append('&'.join(sorted(
                    url.query.split('&'))))
                asked = parse.parse_qs(url.query)
                if 'watch' in asked:
                    self.answer(200, fixture._changes(
                        url.path, int(asked['resourceVersion'][0])))
                    return
                status, body = fixture.answers.get(
                    url.path, (404, {'message': f'no {url.path}'}))
                if fixture._page and 'items' in body:
                    query = parse.parse_qs(url.query)
                    start = int(query.get('continue', ['0'])[0])
                    end = start + fixture._page
                    more = end < len(body['items'])
                    body = {'items': body['items'][start:end], 'metadata': {
                        'continue': str(end) if more else ''}}
                if url.path in fixture.history:
                    body = {**body, 'metadata': {'resourceVersion': str(
                        len(fixture.history[url.path]))}}
                self.answer(status, body)

            def do_PUT(self):
                self.answer(*fixture._write(
                    self.command, parse.urlsplit(self.path).path,
                    json.loads(self.body())))

            do_POST = do_PUT

        return Handler
