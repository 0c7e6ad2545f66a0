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

    def test_what_is_reported_without_values_and_manifest(self):
        found = helm.revision(release(version=2))

        self.assertEqual('2: deployed, 2026-01-01T00:00:00Z, '
                         'openstack-cluster 0.1.0: Install complete',
                         str(found))
        self.assertNotIn('hunter2', repr(found))

    def test_what_cannot_be_decoded_is_reported_by_its_labels(self):
        """A bomb does not fill the memory."""
        packed = base64.b64encode(gzip.compress(b'[]')).decode()
        bomb = base64.b64encode(gzip.compress(
            b'{"version": "' + b'0' * (helm.MOST + 1)))
        deep = base64.b64encode(gzip.compress(b'[' * 100_000))
        for data in ('', 'nonsense', '!', None, 'AAAA', packed,
                     base64.b64encode(deep).decode(),
                     base64.b64encode(packed.encode()).decode(),
                     base64.b64encode(bomb).decode()):
            found = helm.revision(secret(data))

            self.assertEqual((1, 'failed'), (found.number, found.status))
            self.assertIn('cannot be decoded', found.description)

    def test_revisions_of_a_cluster_and_its_addons_in_order(self):
        """Only Secrets of Helm are asked for."""
        server = self.useFixture(fake_kube.FakeKube())
        server.serve(SECRETS, release(version=10), release(version=2),
                     release('c1-addon'), release('c10'))

        found = capi.ManagementCluster(server.kubeconfig).releases('c1')

        self.assertEqual({'c1': [2, 10], 'c1-addon': [1]}, {
            name: [r.number for r in revisions]
            for name, revisions in found.items()})
        self.assertEqual(['labelSelector=owner%3Dhelm&limit=500'],
                         server.queries)
