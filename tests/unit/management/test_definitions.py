# SPDX-License-Identifier: Apache-2.0

"""CRDs from the cache."""

import base64
import json
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.management import definitions
from magnum_capi_tempest.management import manifests
from tests.unit.toolchain import base

#: As etcd has it; Cluster API's have a few hundred lines.
STORED = {
    'apiVersion': 'apiextensions.k8s.io/v1beta1',
    'metadata': {'name': 'clusters.cluster.x-k8s.io', 'uid': 'old',
                 'creationTimestamp': '2026-01-01T00:00:00Z'},
    'spec': {'conversion': {
        'strategy': 'Webhook', 'conversionReviewVersions': ['v1'],
        'webhookClientConfig': {'url': 'https://127.77.0.1:1/convert',
                                'caBundle': 'b2xk'}}},
    'status': {'storedVersions': ['v1beta2']}}


class Etcd:
    """What etcd's JSON gateway answers, as version 3.6.16 does."""

    def __init__(self, *crds):
        self.values = {
            f'{definitions.PREFIX}{crd["metadata"]["name"]}': crd
            for crd in crds}

    def ask(self, method, path, body):
        if path == '/v3/kv/put':
            key, value = (base64.b64decode(body[k]) for k in ('key', 'value'))
            self.values[key.decode()] = json.loads(value)
            return {'header': {}}
        found = {'header': {}}
        if self.values:
            found['count'] = str(len(self.values))
            if not body.get('count_only'):
                found['kvs'] = [
                    {'value': base64.b64encode(json.dumps(v).encode())}
                    for v in self.values.values()]
        return found


class DefinitionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'stored.json'
        self.notes = base.Recorder()

    def restore(self, etcd):
        aimed = manifests.aim({
            'kind': 'CustomResourceDefinition',
            'metadata': {'name': 'clusters.cluster.x-k8s.io'},
            'spec': {'conversion': {'webhook': {'clientConfig': {
                'service': {'path': '/convert'}}}}}},
            'https://127.78.0.1:2', 'bmV3')
        return definitions.restore(etcd, self.file, [aimed], self.notes)

    def test_nothing_of_the_first_cluster_remains(self):
        definitions.save(Etcd(STORED), self.file, self.notes)
        for text in ('old', '2026-01', '127.77', 'b2xk'):
            self.assertNotIn(text, self.file.read_text())
        etcd = Etcd()
        self.assertTrue(self.restore(etcd))
        (key, crd), = etcd.values.items()
        self.assertEqual(f'{definitions.PREFIX}clusters.cluster.x-k8s.io', key)
        self.assertEqual(
            {'strategy': 'Webhook', 'conversionReviewVersions': ['v1'],
             'webhookClientConfig': {
                 'url': 'https://127.78.0.1:2/convert', 'caBundle': 'bmV3'}},
            crd['spec']['conversion'])
        self.assertEqual(STORED['status'], crd['status'])
        self.assertNotIn(crd['metadata']['uid'], ('', 'old'))

    def test_another_storage_version_is_not_kept(self):
        definitions.save(
            Etcd({**STORED, 'apiVersion': 'apiextensions.k8s.io/v1'}),
            self.file, self.notes)
        self.assertFalse(self.file.exists())
        self.assertIn('another version', self.notes.lines[0])

    def test_without_a_file_nothing_is_written(self):
        etcd = Etcd()
        self.assertFalse(self.restore(etcd))
        self.assertEqual(({}, []), (etcd.values, self.notes.lines))

    def test_nor_from_a_damaged_one(self):
        definitions.save(Etcd(STORED), self.file, self.notes)
        self.file.write_bytes(self.file.read_bytes()[:-1])
        etcd = Etcd()
        self.assertFalse(self.restore(etcd))
        self.assertEqual({}, etcd.values)
        self.assertIn(str(self.file), self.notes.lines[0])

    def test_a_cache_that_cannot_be_written_is_no_failure(self):
        self.file.write_text('not a folder')
        definitions.save(
            Etcd(STORED), self.file / 'stored.json', self.notes)
        self.assertIn('cannot be kept', self.notes.lines[-1])

    def test_another_api_server_has_another_file(self):
        paths = {definitions.path(crds, server)
                 for crds in ([], [STORED])
                 for server in ('/1.36.3/kube-apiserver',
                                '/1.36.4/kube-apiserver')}
        self.assertEqual(4, len(paths))
