# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import requirements
from tests.unit.driver import tls_server
from tests.unit import loopback


class Answers(loopback.Handler):
    """Objects by path, as an API server keeps them."""

    def do_GET(self):
        self.answer(*self.reply(json.loads(self.body() or b'null')))

    do_POST = do_PUT = do_GET

    def reply(self, body):
        path, objects = self.path.partition('?')[0], self.objects
        if self.command == 'GET':
            return (200, objects[path]) if path in objects else (404, {})
        if self.command == 'POST':
            path += '/' + body['metadata']['name']
            if path in objects:
                return 409, {'message': 'already exists'}
            if body.get('refuse'):
                return 422, {'message': 'the webhook says no'}
            body['metadata']['resourceVersion'] = '1'
        elif body['metadata'].get('resourceVersion') != \
                objects[path]['metadata']['resourceVersion']:
            return 409, {'message': 'conflict'}
        objects[path] = body
        return 200, body


def webhooks(name, **more):
    return {'apiVersion': 'admissionregistration.k8s.io/v1',
            'kind': 'ValidatingWebhookConfiguration',
            'metadata': {'name': name}, **more}


class ClientTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.objects = {}

        handler = type('Handler', (Answers,), {'objects': self.objects})
        self.server = self.useFixture(tls_server.TlsServer(handler=handler))
        (self.folder / 'ca').write_text(self.server.ca)
        self.client = kube.Endpoint(
            self.server.url, self.folder / 'ca', timeout=60)

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
        stored, = self.objects.values()
        self.assertEqual(1, stored['more'])

    def test_refusal_is_reported(self):
        e = self.assertRaises(
            kube.KubeError, client.put_all, self.client,
            [webhooks('a', refuse=True)])
        self.assertEqual(422, e.status)
        self.assertIn('the webhook says no', str(e))
        self.assertIn(self.server.url, str(e))

    def test_server_of_another_authority(self):
        other = self.useFixture(tls_server.TlsServer())
        (self.folder / 'other').write_text(other.ca)
        wary = kube.Endpoint(self.server.url, self.folder / 'other')
        e = self.assertRaises(kube.KubeError, wary.ask, 'GET', '/x')
        self.assertIn('CERTIFICATE_VERIFY_FAILED', str(e))

    def test_environment_is_ignored(self):
        for name, value in (('HTTPS_PROXY', 'http://127.0.0.1:1'),
                            ('REQUESTS_CA_BUNDLE', '/etc/hostname')):
            self.useFixture(fixtures.EnvironmentVariable(name, value))
        self.objects['/x'] = {'a': 1}
        self.assertEqual({'a': 1}, self.client.get('/x'))

    def test_wait_established(self):
        self.objects[client.CRDS] = {'items': [
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
        self.objects['/apis/g/v1'] = {
            'resources': [{'name': 'things'}, {'name': 'things/status'}]}
        served = requirements.served(self.client, [wanted, other])
        self.assertEqual(
            [other], requirements.missing(served, [wanted, other]))


def crd(name, conditions):
    return {'metadata': {'name': name}, 'status': {'conditions': conditions}}
