# SPDX-License-Identifier: Apache-2.0

"""tests.lib.kube_api keeps objects as a kube-apiserver does.

What its base answers is compared in tests/functional/driver.
"""

import json

import testtools
import urllib3

from magnum_capi.kube import access
from magnum_capi.kube import rest
from magnum_capi import responses
from tests.functional.driver import test_api_server
from tests.functional import real_api
from tests.lib import doors
from tests.lib import kube_api
from tests.lib import virtual_time

_CLUSTERS = test_api_server.CLUSTERS
_SECRETS = test_api_server.SECRETS
_APPLY = test_api_server.APPLY
_MERGE = test_api_server.MERGE


def _said(answer):
    metadata = answer.get('metadata', {})
    return {**{key: answer[key] for key in ('spec', 'data', 'status')
               if answer.get(key)},
            'generation': metadata.get('generation'),
            'deleting': 'deletionTimestamp' in metadata,
            'finalizers': metadata.get('finalizers')}


def speak(client):
    """Requests of controllers and of the driver, and what comes of them."""
    told = []

    def ask(method, path, body=None, content_type='application/json'):
        query = {'fieldManager': 'magnum', 'force': 'true'} if (
            content_type == _APPLY) else {}
        try:
            answer = client.request(method, path, body=body, query=query,
                                    content_type=content_type)
            told.append((method, path.rpartition('/')[2], _said(answer)))
        except rest.KubeError as e:
            told.append((method, path.rpartition('/')[2], e.status))

    cluster = test_api_server.cluster(a=1, b={'c': 2})
    ask('PATCH', f'{_CLUSTERS}/c', cluster, _APPLY)
    ask('PATCH', f'{_CLUSTERS}/c', cluster, _APPLY)
    # A field that is not applied any more goes; others' stay.
    ask('PATCH', f'{_CLUSTERS}/c', {'spec': {'other': 3}}, _MERGE)
    ask('PATCH', f'{_CLUSTERS}/c', test_api_server.cluster(a=4), _APPLY)
    ask('GET', f'{_CLUSTERS}/c')
    # Metadata have no generation.
    ask('PATCH', f'{_CLUSTERS}/c', {'metadata': {
        'finalizers': ['example.org/f']}}, _MERGE)
    ask('DELETE', f'{_CLUSTERS}/c')
    ask('GET', f'{_CLUSTERS}/c')
    ask('PATCH', f'{_CLUSTERS}/c', {'metadata': {'finalizers': None}}, _MERGE)
    ask('GET', f'{_CLUSTERS}/c')
    secret = test_api_server.secret(
        'd', data={'a': 'b25l', 'b': 'dHdv'})
    ask('PATCH', f'{_SECRETS}/d', secret, _APPLY)
    ask('PATCH', f'{_SECRETS}/d', test_api_server.secret(
        'd', data={'a': 'b25l'}), _APPLY)
    ask('GET', f'{_SECRETS}/d')
    return [(method, name, found) for method, name, found in told
            if method != 'DELETE']


def watched(client):
    """What a watch from the beginning shows of these requests."""
    path = _CLUSTERS.replace('/namespaces/n', '')
    since = client.request('GET', path, content_type='')['metadata'][
        'resourceVersion']
    speak(client)
    return [(event['type'], _said(event['object'])) for event in client.events(
        path, {'resourceVersion': since}, {}, 2, lambda: None)]


class _Client:
    """Requests by urllib3 through the doors."""

    def __init__(self, url):
        self._pool = urllib3.PoolManager()
        self._url = url

    def request(self, method, path, *, body=None, query=None, content_type):
        text = '?fieldManager=magnum&force=true' if query else ''
        answer = self._pool.request(
            method, f'{self._url}{path}{text}', body=None if body is None
            else json.dumps(body), headers={'Content-Type': content_type})
        found = json.loads(answer.data)
        if answer.status >= 400:
            raise rest.KubeError('refused', status=answer.status)
        return found

    def events(self, path, query, headers, seconds, opened):
        answer = self._pool.request(
            'GET', f'{self._url}{path}?watch=true&timeoutSeconds={seconds}&'
            + '&'.join(f'{key}={value}' for key, value in query.items()),
            preload_content=False)
        return [json.loads(line) for line in responses.lines(answer)]


class KubeApiTest(testtools.TestCase):

    def test_answers(self):
        real = rest.Rest(access.load(
            self.useFixture(real_api.RealApi()).kubeconfig))
        test_api_server.define(real)
        clock = virtual_time.Clock(1_700_000_000)
        gates = doors.Doors(clock)
        api = kube_api.KubeApi(clock)
        api.namespaces.add('n')
        gates.host(kube_api.HOST, doors.KUBE, api.serve)
        with gates.open():
            ours = speak(_Client(kube_api.URL))
        self.assertEqual(speak(real), ours)

    def test_watch(self):
        real = rest.Rest(access.load(
            self.useFixture(real_api.RealApi()).kubeconfig))
        test_api_server.define(real)
        clock = virtual_time.Clock(1_700_000_000)
        gates = doors.Doors(clock)
        api = kube_api.KubeApi(clock)
        api.namespaces.add('n')
        api.watchable = True
        gates.host(kube_api.HOST, kube_api.door, api.serve)
        with gates.open():
            ours = watched(_Client(kube_api.URL))
        self.assertIn('DELETED', [kind for kind, _found in ours])
        self.assertEqual(watched(real), ours)
