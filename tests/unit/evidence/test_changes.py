# SPDX-License-Identifier: Apache-2.0

"""What exists only during an operation is recorded."""

import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.kubeclient import kube
from tests.unit.evidence import fake_kube

SECRETS = '/api/v1/secrets'


def secret(name):
    return {'metadata': {'name': name, 'namespace': 'n'}}


class ChangesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve(SECRETS)
        self.kube.change(SECRETS, 'ADDED', secret('c1-before'))
        self.cluster = capi.ManagementCluster(self.kube.kubeconfig)

    def test_changes_of_the_secrets_of_a_cluster(self):
        with self.cluster.changes_of('c1') as changes:
            self.kube.change(SECRETS, 'MODIFIED', secret('c1-a'))
            self.kube.change(SECRETS, 'MODIFIED', secret('c2-a'))
            self.kube.change(SECRETS, 'DELETED', secret('c1-a'))

        changes.check()
        self.assertEqual(
            [('MODIFIED', 'c1-a'), ('DELETED', 'c1-a')],
            [(how, obj['metadata']['name']) for how, obj in changes.found])

    def test_a_recording_that_ended_early(self):
        with self.cluster.changes_of('c1') as changes:
            self.kube.history[SECRETS].append(('ERROR', {'code': 410}))

        self.assertRaises(kube.KubeError, changes.check)
