# SPDX-License-Identifier: Apache-2.0

"""Watches of tests.lib.kube_api show what those of a kube-apiserver do."""

import json

import testtools
import urllib3

from magnum_capi.kube import access
from magnum_capi.kube import rest
from magnum_capi import responses
from tests.functional.lib import test_kube_server
from tests.functional import real_api
from tests.lib import doors
from tests.lib import kube_api
from tests.lib import virtual_time

_CLUSTERS = test_kube_server.CLUSTERS.replace('/namespaces/n', '')


def watched(client):
    """What a watch from the beginning shows of requests of controllers."""
    since = client.request('GET', _CLUSTERS, content_type='')['metadata'][
        'resourceVersion']
    test_kube_server.keep(client)
    return [(event['type'], test_kube_server.said(event['object']))
            for event in client.events(
                _CLUSTERS, {'resourceVersion': since}, {}, 2, lambda: None)]


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

    def test_watch(self):
        real = rest.Rest(access.load(
            self.useFixture(real_api.RealApi()).kubeconfig))
        test_kube_server.define(real)
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
