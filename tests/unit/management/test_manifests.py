# SPDX-License-Identifier: Apache-2.0

import io
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi import progress
from magnum_capi_tempest.management import manifests

BASE, CA = 'https://127.77.0.1:25943', 'Q0E='


def crd(name='clusters.x', webhook=True):
    o = {'apiVersion': 'apiextensions.k8s.io/v1',
         'kind': 'CustomResourceDefinition',
         'metadata': {'name': name, 'annotations': {
             'cert-manager.io/inject-ca-from': 'a/b', 'kept': 'yes'}},
         'spec': {}}
    if webhook:
        o['spec']['conversion'] = {
            'strategy': 'Webhook', 'webhook': {
                'clientConfig': service('/convert'),
                'conversionReviewVersions': ['v1']}}
    return o


def service(path):
    return {'service': {'name': 's', 'namespace': 'n', 'path': path}}


def hooks():
    return {'apiVersion': 'admissionregistration.k8s.io/v1',
            'kind': 'ValidatingWebhookConfiguration',
            'metadata': {'name': 'v'},
            'webhooks': [{'name': 'a', 'clientConfig': service('/a')},
                         {'name': 'b', 'clientConfig': service('/b')}]}


class RewriteTest(testtools.TestCase):

    def test_select_keeps_the_api_only(self):
        found = manifests.select([crd(), hooks(), {'kind': 'Deployment'}])
        self.assertEqual(['clusters.x'], manifests.names(found['crds']))
        self.assertEqual(['v'], manifests.names(found['webhooks']))

    def test_select_drops_the_mark_of_cert_manager(self):
        found, = manifests.select([crd()])['crds']
        self.assertEqual({'kept': 'yes'}, found['metadata']['annotations'])

    def test_aim_conversion(self):
        aimed = manifests.aim(crd(), BASE, CA)
        self.assertEqual(
            {'url': f'{BASE}/convert', 'caBundle': CA},
            aimed['spec']['conversion']['webhook']['clientConfig'])

    def test_aim_without_conversion(self):
        o = crd(webhook=False)
        self.assertEqual(o, manifests.aim(o, BASE, CA))
        o['spec']['conversion'] = {'strategy': 'None'}
        self.assertEqual(o, manifests.aim(o, BASE, CA))

    def test_aim_webhooks(self):
        aimed = manifests.aim(hooks(), BASE, CA)
        self.assertEqual(
            [f'{BASE}/a', f'{BASE}/b'],
            [w['clientConfig']['url'] for w in aimed['webhooks']])


class CacheTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'manifests'
        self.said = io.StringIO()
        self.rendered = {'crds': [crd()], 'webhooks': [hooks()]}
        self.render = self.useFixture(fixtures.MockPatchObject(
            manifests, 'render', mock.Mock(
                return_value=self.rendered))).mock

    def load(self):
        return manifests.load('capi', progress.Progress(self.said),
                              self.directory)

    def test_rendered_once(self):
        self.assertEqual([self.rendered] * 2, [self.load(), self.load()])
        self.assertEqual(1, self.render.call_count)

    def test_broken_file_is_rendered_again(self):
        self.load()
        path, = self.directory.iterdir()
        for broken in (b'', path.read_bytes()[:-1], b'{}',
                       path.read_bytes().replace(b'clusters', b'clusterz')):
            path.write_bytes(broken)
            self.assertEqual(self.rendered, self.load())
        self.assertEqual(5, self.render.call_count)
        self.assertIn(str(path), self.said.getvalue())
