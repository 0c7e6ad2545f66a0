# SPDX-License-Identifier: Apache-2.0

import base64
import gzip
import json

import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import helm
from tests.unit.evidence import fake_kube

SECRETS = '/api/v1/secrets'


def release(name='c1', version=1, **changes):
    """Return the Secret of a revision as Helm 3 writes it."""
    content = {
        'name': name, 'version': version,
        'info': {'status': 'deployed', 'description': 'Install\ncomplete',
                 'last_deployed': '2026-01-01T00:00:00Z'},
        'chart': {'metadata': {'name': 'openstack-cluster',
                               'version': '0.1.0'},
                  'values': {'password': 'hunter2'}},
        'config': {'password': 'hunter2'}, 'manifest': 'hunter2', **changes}
    packed = gzip.compress(json.dumps(content).encode())
    return secret(base64.b64encode(base64.b64encode(packed)).decode(), name,
                  version)


def secret(data, name='c1', version=1):
    return {'metadata': {
        'name': f'sh.helm.release.v1.{name}.v{version}', 'namespace': 'n',
        'labels': {'owner': 'helm', 'name': name, 'status': 'failed',
                   'version': str(version)}}, 'data': {'release': data}}


class RevisionTest(testtools.TestCase):

    def test_what_is_told(self):
        self.assertEqual(
            '2: deployed, 2026-01-01T00:00:00Z, openstack-cluster 0.1.0: '
            'Install complete', str(helm.revision(release(version=2))))

    def test_values_and_manifests_never_leave(self):
        self.assertNotIn('hunter2', repr(helm.revision(release())))

    def test_what_cannot_be_decoded_is_told_by_its_labels(self):
        packed = base64.b64encode(gzip.compress(b'[]')).decode()
        for data in ('', 'nonsense', '!', None, 'AAAA', packed,
                     base64.b64encode(packed.encode()).decode()):
            found = helm.revision(secret(data))

            self.assertEqual((1, 'failed'), (found.number, found.status))
            self.assertIn('cannot be decoded', found.description)

    def test_a_bomb_does_not_fill_the_memory(self):
        packed = gzip.compress(b'{"version": "' + b'0' * (helm.MOST + 1))
        bomb = secret(base64.b64encode(base64.b64encode(packed)).decode())

        self.assertIn('cannot be decoded', helm.revision(bomb).description)


class HistoryTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.management = capi.ManagementCluster(self.kube.kubeconfig)

    def test_revisions_of_this_cluster_and_its_addons_in_order(self):
        self.kube.serve(SECRETS, release(version=10), release(version=2),
                        release('c1-addon'), release('c10'))

        found = self.management.releases('c1')

        self.assertEqual({'c1': [2, 10], 'c1-addon': [1]}, {
            name: [r.number for r in revisions]
            for name, revisions in found.items()})

    def test_only_secrets_of_helm_are_asked_for(self):
        self.kube.serve(SECRETS)

        self.management.releases('c1')

        self.assertEqual(['labelSelector=owner%3Dhelm&limit=500'],
                         self.kube.queries)
