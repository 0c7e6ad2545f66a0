# SPDX-License-Identifier: Apache-2.0

import threading
import types
from unittest import mock

import fixtures
from tempest.lib.common import rest_client
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.tests.common import cloud
from tests.unit.services import scripted_magnum


#: Seconds; nobody waits that long.
PATIENCE = 60


class GetterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.clients = types.SimpleNamespace(
            http_timeout=PATIENCE, proxy_url=None)
        self.useFixture(fixtures.MonkeyPatch(
            'tempest.config.CONF', types.SimpleNamespace(
                identity=types.SimpleNamespace(
                    disable_ssl_certificate_validation=True,
                    ca_certificates_file='ca.pem'),
                debug=types.SimpleNamespace(trace_requests=''),
                service_clients=self.clients)))
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        client = self.magnum.client('ClustersClient')
        client.endpoint_type = 'internal'
        self.get = cloud.getter(
            types.SimpleNamespace(
                auth_provider=client.auth_provider, users_v3_client=client,
                ports_client=client, volumes_client_latest=client),
            types.SimpleNamespace(clusters=client))

    def test_every_service_is_asked(self):
        self.magnum.answers = [(200, {'a': 1})]

        for service in ('container-infra', 'identity', 'network', 'volume',
                        'load-balancer'):
            self.assertEqual({'a': 1}, self.get(service, 'x?y=z'))

        self.assertEqual(
            ['/v1/x?y=z', '/v1/x?y=z', '/v1/v2.0/x?y=z', '/v1/x?y=z',
             '/v1/v2.0/x?y=z'], [r.path for r in self.magnum.requests])

    def test_a_refusal_carries_its_status(self):
        for status in (403, 404):
            self.magnum.answers = [(status, {})]

            error = self.assertRaises(
                listing.CloudReadFailed, self.get, 'identity', 'x')

            self.assertEqual(status, error.status)

    def test_a_service_that_is_not_there(self):
        def auth_request(*args, **kwargs):
            raise lib_exc.EndpointNotFound('load-balancer')

        get = cloud.getter(
            types.SimpleNamespace(auth_provider=types.SimpleNamespace(
                auth_request=auth_request),
                ports_client=types.SimpleNamespace(endpoint_type='public')),
            types.SimpleNamespace(clusters=types.SimpleNamespace(
                region='r')))

        self.assertRaises(
            listing.CloudReadFailed, get, 'load-balancer', 'x')

    def test_octavia_is_asked_as_tempest_conf_says(self):
        self.magnum.answers = [(200, {})]
        client = mock.Mock(wraps=rest_client.RestClient)
        self.useFixture(fixtures.MonkeyPatch(
            'tempest.lib.common.rest_client.RestClient', client))

        self.get('load-balancer', 'x')

        given = client.call_args.kwargs
        self.assertEqual(('ca.pem', True, 'internal'), (
            given.get('ca_certs'),
            given.get('disable_ssl_certificate_validation'),
            given.get('endpoint_type')))

    def test_an_octavia_that_hangs_is_not_waited_for(self):
        over = threading.Event()
        self.addCleanup(over.set)
        self.magnum.answers = _Never(over)
        self.clients.http_timeout = 0.1

        self.assertRaises(
            listing.CloudReadFailed, self.get, 'load-balancer', 'x')


class _Never(list):
    """An answer that does not come before the test is over."""

    def __init__(self, over):
        super().__init__([(200, {})])
        self._over = over

    def __getitem__(self, index):
        self._over.wait(PATIENCE)
        return super().__getitem__(index)
