# SPDX-License-Identifier: Apache-2.0

"""tests.lib.kube_server answers, and keeps objects, as a kube-apiserver does.

The same requests go to both, in the same order. Only what the driver reads
of an answer is compared.
"""

import testtools

from magnum_capi.kube import access
from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from magnum_capi import waiting
from tests.functional import real_api
from tests.lib import kube_server

NAMESPACE = '/api/v1/namespaces/n'
SECRETS = f'{NAMESPACE}/secrets'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/n/leases'
CAPI = '/apis/cluster.x-k8s.io/{}/namespaces/n/clusters'
CLUSTERS = CAPI.format('v1beta2')
MERGE = 'application/merge-patch+json'
APPLY = 'application/apply-patch+yaml'
_CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


class Dialogue:
    """Requests to one server, and what a driver learns from its answers."""

    def __init__(self, client):
        self.client = client
        #: (request, what was answered), in order.
        self.transcript = []

    def ask(self, method, path, body=None, query=None, content_type=None):
        """Send a request.

        :returns: the answer, None when it is refused.
        """
        options = {} if content_type is None else {
            'content_type': content_type}
        if content_type == APPLY:
            query = {'fieldManager': 'magnum', 'force': 'true'}
        try:
            answer = self.client.request(
                method, path, body=body, query=query or {}, **options)
            said = 'accepted', self.read(answer)
        except rest.KubeError as e:
            answer = None
            said = (type(e).__name__, e.status, e.reason,
                    getattr(e, 'object', None))
        self.transcript.append((f'{method} {path} {query} {body}', said))
        return answer

    def read(self, answer):
        """What must be equal of an accepted answer."""
        if 'items' in answer:
            return [self.read(obj) for obj in answer['items']]
        metadata = answer.get('metadata', {})
        return {
            **{key: value for key, value in answer.items()
               if key in ('data', 'spec')},
            **{key: metadata[key] for key in (
                'name', 'namespace', 'labels', 'annotations')
               if metadata.get(key)}}


def secret(name='s', **changes):
    return {'apiVersion': 'v1', 'kind': 'Secret',
            'metadata': {'name': name, 'namespace': 'n',
                         'labels': {'of': 'us'}},
            'data': {'a': 'b25l'}, **changes}


def cluster(version='v1beta2', **spec):
    return {'apiVersion': f'cluster.x-k8s.io/{version}', 'kind': 'Cluster',
            'metadata': {'name': 'c', 'namespace': 'n'}, 'spec': spec}


def speak(client):
    """Everything that the driver asks, and how it can be refused."""
    dialogue = Dialogue(client)
    ask = dialogue.ask
    _absent(ask)
    _refused(ask)
    _written(ask)
    _listed(dialogue)
    _deleted(ask)
    return dialogue.transcript


def _absent(ask):
    for path in (f'{SECRETS}/no', f'{CLUSTERS}/no', '/api/v1/namespaces/no',
                 '/api/v1/namespaces/no/secrets',
                 '/api/v1/namespaces/no/secrets/s',
                 CAPI.format('v1beta9'), f'{CAPI.format("v1beta9")}/c',
                 '/apis/nobody.example/v1/namespaces/n/clusters/c',
                 f'{NAMESPACE}/nothing', f'{NAMESPACE}/nothing/s',
                 f'{CLUSTERS.replace("clusters", "nothing")}/s',
                 '/nothing'):
        ask('GET', path)
    ask('DELETE', f'{SECRETS}/no')
    ask('DELETE', f'{CLUSTERS}/no')
    ask('PATCH', f'{SECRETS}/no', {'data': {}}, content_type=MERGE)
    ask('PUT', f'{SECRETS}/no', secret('no'))
    ask('DELETE', '/api/v1/namespaces/no/secrets/s')
    ask('DELETE', '/api/v1/namespaces/no/secrets',
        query={'labelSelector': 'of=us'})
    ask('PATCH', '/api/v1/namespaces/no/secrets/s', {'data': {}},
        content_type=MERGE)
    ask('POST', '/api/v1/namespaces/no/secrets', {
        'kind': 'Secret', 'apiVersion': 'v1', 'metadata': {'name': 's'}})
    ask('PATCH', '/api/v1/namespaces/no/secrets/s', {
        'kind': 'Secret', 'apiVersion': 'v1', 'metadata': {'name': 's'}},
        content_type=APPLY)


def _refused(ask):
    ask('POST', SECRETS, secret(kind='Lease'))
    ask('POST', SECRETS, secret(apiVersion='v2'))
    ask('POST', SECRETS, secret(metadata={'name': 's', 'namespace': 'm'}))
    ask('POST', CLUSTERS, cluster('v1beta1'))
    for path, body in ((f'{SECRETS}/t', secret()),
                       (f'{CLUSTERS}/d', cluster()),
                       (f'{CLUSTERS}/c', cluster('v1beta1')),
                       (f'{CAPI.format("v1beta1")}/c', cluster())):
        ask('PATCH', path, body, content_type=APPLY)
        ask('PUT', path, body)


def _written(ask):
    made = ask('POST', SECRETS, secret())
    ask('POST', SECRETS, secret())
    ask('PUT', f'{SECRETS}/s', {**made, 'data': {'a': 'dHdv'}})
    ask('PUT', f'{SECRETS}/s', made)
    ask('PATCH', f'{SECRETS}/s', {'metadata': {'annotations': {'x': 'y'}}},
        content_type=MERGE)
    ask('PATCH', f'{SECRETS}/s', {'metadata': {'annotations': {'x': None}}},
        content_type=MERGE)
    ask('PATCH', f'{SECRETS}/applied', secret('applied'), content_type=APPLY)
    ask('PATCH', f'{SECRETS}/applied', secret('applied'), content_type=APPLY)
    ask('PATCH', f'{CLUSTERS}/c', cluster(a=1), content_type=APPLY)
    # One object, whichever version is asked for.
    ask('PATCH', f'{CAPI.format("v1beta1")}/c', cluster('v1beta1', b=2),
        content_type=MERGE)
    ask('GET', f'{CLUSTERS}/c')
    ask('GET', f'{CAPI.format("v1beta1")}/c')


def _listed(dialogue):
    ask = dialogue.ask
    ask('GET', SECRETS)
    ask('GET', SECRETS, query={'labelSelector': 'of=us'})
    ask('GET', SECRETS, query={'labelSelector': 'of'})
    ask('GET', SECRETS, query={'labelSelector': 'of=others'})
    ask('GET', '/apis/cluster.x-k8s.io/v1beta2/clusters')
    ask('GET', SECRETS, query={'limit': 1})
    first = dialogue.client.request('GET', SECRETS, query={'limit': 1})
    ask('GET', SECRETS, query={
        'limit': 1, 'continue': first['metadata']['continue']})
    dialogue.transcript[-1] = 'the second page', dialogue.transcript[-1][1]


def _deleted(ask):
    lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease',
             'metadata': {'name': 'l', 'namespace': 'n'}, 'spec': {}}

    def delete(path, **only):
        ask('DELETE', path, {'kind': 'DeleteOptions', 'apiVersion': 'v1',
                             'propagationPolicy': 'Background',
                             **({'preconditions': only} if only else {})})

    made = ask('POST', LEASES, lease)
    delete(f'{LEASES}/l', uid='another')
    delete(f'{LEASES}/l', resourceVersion='1')
    delete(f'{LEASES}/l', uid=made['metadata']['uid'])
    delete(f'{LEASES}/l')
    ask('PUT', f'{LEASES}/l', made)
    ask('DELETE', SECRETS, query={'labelSelector': 'of=others'})
    ask('GET', f'{SECRETS}/s')
    ask('DELETE', SECRETS, query={'labelSelector': 'of=us'})
    ask('GET', f'{SECRETS}/s')
    ask('GET', f'{CLUSTERS}/c')


def said(answer):
    metadata = answer.get('metadata', {})
    return {**{key: answer[key] for key in ('spec', 'data', 'status')
               if answer.get(key)},
            'generation': metadata.get('generation'),
            'deleting': 'deletionTimestamp' in metadata,
            'finalizers': metadata.get('finalizers')}


def keep(client):
    """Requests of controllers and of the driver, and what comes of them."""
    told = []

    def ask(method, path, body=None, content_type='application/json'):
        query = {'fieldManager': 'magnum', 'force': 'true'} if (
            content_type == APPLY) else {}
        try:
            answer = client.request(method, path, body=body, query=query,
                                    content_type=content_type)
            told.append((method, path.rpartition('/')[2], said(answer)))
        except rest.KubeError as e:
            told.append((method, path.rpartition('/')[2], e.status))

    first = cluster(a=1, b={'c': 2})
    ask('PATCH', f'{CLUSTERS}/c', first, APPLY)
    ask('PATCH', f'{CLUSTERS}/c', first, APPLY)
    # A field that is not applied any more goes; others' stay.
    ask('PATCH', f'{CLUSTERS}/c', {'spec': {'other': 3}}, MERGE)
    ask('PATCH', f'{CLUSTERS}/c', cluster(a=4), APPLY)
    ask('GET', f'{CLUSTERS}/c')
    # Metadata have no generation.
    ask('PATCH', f'{CLUSTERS}/c', {'metadata': {
        'finalizers': ['example.org/f']}}, MERGE)
    ask('DELETE', f'{CLUSTERS}/c')
    ask('GET', f'{CLUSTERS}/c')
    ask('PATCH', f'{CLUSTERS}/c', {'metadata': {'finalizers': None}}, MERGE)
    ask('GET', f'{CLUSTERS}/c')
    ask('PATCH', f'{SECRETS}/d', secret(
        'd', data={'a': 'b25l', 'b': 'dHdv'}), APPLY)
    ask('PATCH', f'{SECRETS}/d', secret(
        'd', data={'a': 'b25l'}), APPLY)
    ask('GET', f'{SECRETS}/d')
    return [(method, name, found) for method, name, found in told
            if method != 'DELETE']


def define(admin):
    """Make a real server serve what the double does, as far as it is asked."""
    admin.request('POST', '/api/v1/namespaces', body={
        'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'n'}})
    group, plural = kinds.DISCOVERED['Cluster']
    admin.request('POST', _CRDS, body=real_api.definition(
        group, plural, 'Cluster', ['v1beta2', 'v1beta1']))

    def served():
        try:
            return admin.request('GET', CLUSTERS)
        except rest.NotServed:
            return None

    waiting.wait_for(served, done=bool, timeout=60,
                     what='the kind to be served')


def watched(client):
    """What a watch from before the oldest version that is kept is told."""
    told = []
    for event in client.events('/apis/cluster.x-k8s.io/v1beta2/clusters', {
            'resourceVersion': '1'}, {}, 5, lambda: told.append('opened')):
        told.append((event['type'], event['object']['code'],
                     event['object']['reason']))
    return told


class DoubleTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.real = rest.Rest(access.load(
            self.useFixture(real_api.RealApi()).kubeconfig))
        define(self.real)

    def test_watch_from_too_long_ago(self):
        double = self.useFixture(kube_server.HttpApiServer())
        double.oldest = 2
        self.assertEqual(watched(self.real), watched(double.rest()))

    def test_answers(self):
        double = self.useFixture(kube_server.ApiServer()).rest()
        different = [
            f'{request}\n    real:   {expected}\n    double: {found}'
            for (request, expected), (_, found) in zip(
                speak(self.real), speak(double), strict=True)
            if expected != found]
        self.assertEqual('', '\n'.join(different))

    def test_what_is_kept(self):
        double = self.useFixture(kube_server.ApiServer()).rest()
        self.assertEqual(keep(self.real), keep(double))
