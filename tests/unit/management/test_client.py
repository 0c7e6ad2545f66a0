# SPDX-License-Identifier: Apache-2.0

import http.server
import json
import pathlib
import ssl
import threading

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import pki
from magnum_capi_tempest.management import requirements

ADDRESS = '127.210.0.1'


class ApiServer(fixtures.Fixture):
    """Objects by path, over TLS, for holders of our certificates."""

    def __init__(self, authority_folder):
        super().__init__()
        self.pki = authority_folder
        self.objects = {}
        self.requests = []

    def _setUp(self):
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def handle_any(self):
                length = int(self.headers.get('Content-Length', 0))
                body = json.loads(self.rfile.read(length) or 'null')
                fixture.requests.append((self.command, self.path))
                status, answer = fixture.answer(
                    self.command, self.path, body)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer((ADDRESS, 0), Handler)
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cafile=self.pki / 'ca.crt')
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(self.pki / 'server.crt',
                                self.pki / 'server.key')
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False)
        server.daemon_threads = True
        # Strangers are refused in the handshake: no news.
        server.handle_error = lambda *args: None
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, args=(0.01,),
                         daemon=True).start()
        self.url = f'https://{ADDRESS}:{server.server_address[1]}'

    def answer(self, method, path, body):
        path = path.partition('?')[0]
        if method == 'GET':
            if path in self.objects:
                return 200, self.objects[path]
            return 404, {'message': f'{path} not found'}
        if method == 'POST':
            path += '/' + body['metadata']['name']
            if path in self.objects:
                return 409, {'message': 'already exists'}
            if body.get('refuse'):
                return 422, {'message': 'the webhook says no'}
            body['metadata']['resourceVersion'] = '1'
        elif body['metadata'].get('resourceVersion') != \
                self.objects[path]['metadata']['resourceVersion']:
            return 409, {'message': 'conflict'}
        self.objects[path] = body
        return 200, body


def webhooks(name, **more):
    return {'apiVersion': 'admissionregistration.k8s.io/v1',
            'kind': 'ValidatingWebhookConfiguration',
            'metadata': {'name': name}, **more}


class ClientTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.pki = self.folder / 'pki'
        pki.make(self.pki, ADDRESS, 'https://unused')
        self.server = self.useFixture(ApiServer(self.pki))
        self.client = kube.Endpoint(
            self.server.url, self.pki / 'ca.crt',
            (self.pki / 'admin.crt', self.pki / 'admin.key'), timeout=60)

    def test_create(self):
        client.put_all(self.client, [webhooks('a'), webhooks('b')])
        self.assertEqual(2, len(self.server.objects))

    def test_collections(self):
        for kind, plural in (
                ('ValidatingWebhookConfiguration',
                 'validatingwebhookconfigurations'),
                ('ValidatingAdmissionPolicy',
                 'validatingadmissionpolicies')):
            self.assertEqual(
                f'/apis/admissionregistration.k8s.io/v1/{plural}',
                client.collection({**webhooks('a'), 'kind': kind}))

    def test_replace(self):
        client.put(self.client, webhooks('a'))
        client.put(self.client, webhooks('a', more=1))
        stored, = self.server.objects.values()
        self.assertEqual(1, stored['more'])

    def test_refusal_is_told(self):
        e = self.assertRaises(
            kube.KubeError, client.put_all, self.client,
            [webhooks('a', refuse=True)])
        self.assertEqual(422, e.status)
        self.assertIn('the webhook says no', str(e))
        self.assertIn(self.server.url, str(e))

    def test_absent(self):
        self.assertIsNone(self.client.get('/nowhere'))

    def test_probe(self):
        self.server.objects['/readyz'] = 'ok'
        self.assertTrue(self.client.answers('/readyz'))
        self.assertFalse(self.client.answers('/livez'))

    def test_no_server(self):
        lost = kube.Endpoint(
            'https://127.210.0.1:1', self.pki / 'ca.crt')
        self.assertFalse(lost.answers('/readyz'))
        e = self.assertRaises(kube.KubeError, lost.ask, 'GET', '/x')
        self.assertIn('did not answer', str(e))

    def test_without_certificate(self):
        stranger = kube.Endpoint(self.server.url, self.pki / 'ca.crt')
        self.assertFalse(stranger.answers('/readyz'))

    def test_server_of_another_authority(self):
        pki.make(self.folder / 'other', ADDRESS, 'https://unused')
        wary = kube.Endpoint(
            self.server.url, self.folder / 'other/ca.crt',
            (self.pki / 'admin.crt', self.pki / 'admin.key'))
        e = self.assertRaises(kube.KubeError, wary.ask, 'GET', '/x')
        self.assertIn('CERTIFICATE_VERIFY_FAILED', str(e))

    def test_environment_is_ignored(self):
        for name, value in (('HTTPS_PROXY', 'http://127.0.0.1:1'),
                            ('REQUESTS_CA_BUNDLE', '/etc/hostname')):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        self.server.objects['/x'] = {'a': 1}
        self.assertEqual({'a': 1}, self.client.get('/x'))

    def test_wait_established(self):
        self.server.objects[client.CRDS] = {'items': [
            crd('a', [{'type': 'Established', 'status': 'True'}])]}
        client.wait_established(self.client, ['a'], timeout=60)
        e = self.assertRaises(
            errors.WaitTimeout, client.wait_established, self.client,
            ['a', 'b'], timeout=0)
        self.assertIn('missing b', str(e))

    def test_established(self):
        self.assertEqual({'yes'}, client.established([
            crd('new', None), crd('none', []),
            crd('no', [{'type': 'Established', 'status': 'False'}]),
            crd('yes', [{'type': 'Established', 'status': 'True'}])]))

    def test_requirements(self):
        wanted = requirements.Requirement('p', 'g', 'v1', 'things')
        other = requirements.Requirement('p', 'g', 'v2', 'things')
        self.server.objects['/apis/g/v1'] = {
            'resources': [{'name': 'things'}, {'name': 'things/status'}]}
        served = requirements.served(self.client, [wanted, other])
        self.assertEqual(
            [other], requirements.missing(served, [wanted, other]))


def crd(name, conditions):
    return {'metadata': {'name': name}, 'status': {'conditions': conditions}}
