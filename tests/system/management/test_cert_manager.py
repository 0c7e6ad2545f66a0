# SPDX-License-Identifier: Apache-2.0
"""The stand-in for cert-manager, with a real API server and no pods."""

import base64
import os
import pathlib
import subprocess

from cryptography import x509
import fixtures
import testtools
import yaml

from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import toolchain
from tests.functional import boxes
from tools.offline.management import repository
from tools.offline import pins

PORT_BASE = 26500

#: Like those of Cluster API's providers, see core/config/certmanager.
ISSUER = {'apiVersion': 'cert-manager.io/v1', 'kind': 'Issuer',
          'metadata': {'name': 'self', 'namespace': 'default'},
          'spec': {'selfSigned': {}}}
CERTIFICATE = {'apiVersion': 'cert-manager.io/v1', 'kind': 'Certificate',
               'metadata': {'name': 'serving', 'namespace': 'default'},
               'spec': {'dnsNames': ['webhook.default.svc'],
                        'secretName': 'serving-cert',
                        'issuerRef': {'kind': 'Issuer', 'name': 'self'}}}
HOOK = {'apiVersion': 'admissionregistration.k8s.io/v1',
        'kind': 'ValidatingWebhookConfiguration',
        'metadata': {'name': 'hook', 'annotations': {
            'cert-manager.io/inject-ca-from': 'default/serving'}},
        'webhooks': [{
            'name': 'hook.example.org', 'sideEffects': 'None',
            'admissionReviewVersions': ['v1'], 'failurePolicy': 'Ignore',
            'clientConfig': {'service': {'name': 'webhook',
                                         'namespace': 'default'}}}]}


@boxes.LONG
class StandInTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        tools = toolchain.ensure(
            ['cert-manager', 'helm', 'kubectl'], progress.Silent(),
            pins.load())
        self.repository = self.base / 'repository'
        self.repository.mkdir()
        repository.make(self.repository, tools)
        directory = self.base / 'cluster'
        self.addCleanup(standalone.down, directory)
        self.plane = standalone.up(
            directory, progress.Silent(), port_base=PORT_BASE)
        self.api = kube.Client(self.plane.kubeconfig)
        self.define()
        for mode in ('controller', 'cainjector'):
            self.start(tools['cert-manager'], mode)

    def define(self):
        manifests, = self.repository.glob('cert-manager/*/*.yaml')
        crds = [o for o in yaml.load_all(
            manifests.read_text(), yaml.CSafeLoader)
            if o['kind'] == 'CustomResourceDefinition']
        client.put_all(self.api, crds)
        client.wait_established(
            self.api, [o['metadata']['name'] for o in crds], 30)

    def start(self, program, mode):
        log = open(self.base / f'{mode}.log', 'w+')
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [program, mode], stdout=log, stderr=log,
            env={'KUBECONFIG': str(self.plane.kubeconfig),
                 'PATH': os.defpath, 'POD_NAMESPACE': 'default'})
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        self.addOnException(lambda info: self.addDetail(
            mode, testtools.content.content_from_file(log.name)))

    def test_certificate_is_signed_and_injected(self):
        namespace = '/namespaces/default'
        client.put_all(self.api, [HOOK])
        for o, plural in ((ISSUER, 'issuers'),
                          (CERTIFICATE, 'certificates')):
            self.api.ask(
                'POST', f'/apis/cert-manager.io/v1{namespace}/{plural}', o)

        secret = waiting.wait_for(
            lambda: self.api.get(f'/api/v1{namespace}/secrets/serving-cert'),
            done=lambda o: o and o['data'].get('tls.crt'), timeout=600,
            what='the certificate to be signed')
        hook = waiting.wait_for(
            lambda: self.api.get(f'{client.collection(HOOK)}/hook'),
            done=lambda o: o['webhooks'][0]['clientConfig'].get('caBundle'),
            timeout=600, what='the authority to be injected')

        signed = x509.load_pem_x509_certificate(
            base64.b64decode(secret['data']['tls.crt']))
        names = signed.extensions.get_extension_for_class(
            x509.SubjectAlternativeName).value
        self.assertEqual(['webhook.default.svc'],
                         names.get_values_for_type(x509.DNSName))
        self.assertEqual(secret['data']['ca.crt'],
                         hook['webhooks'][0]['clientConfig']['caBundle'])
