# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
from tests.unit.driver import tls_server
from tests.unit.evidence import fake_kube
from tests.unit import loopback

MASTER = {
    'metadata': {'name': 'c1-cp', 'labels': {
        'node-role.kubernetes.io/control-plane': '', 'arch': 'amd64'}},
    'status': {'nodeInfo': {'kubeletVersion': 'v1.34.2'},
               'conditions': [{'type': 'DiskPressure', 'status': 'False'},
                              {'type': 'Ready', 'status': 'True'}]}}
WORKER = {'metadata': {'name': 'a-worker'},
          'status': {'nodeInfo': {'kubeletVersion': 'v1.34.2'},
                     'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}}


class NodesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())

    def test_nodes(self):
        self.kube.serve('/api/v1/nodes', MASTER, WORKER)

        self.assertEqual(
            [workload.Node('a-worker', False, 'v1.34.2'),
             workload.Node('c1-cp', True, 'v1.34.2', ('control-plane',))],
            workload.nodes(self.kube.kubeconfig))

    def test_control_plane_is_told_by_role(self):
        self.assertTrue(workload.node(MASTER).control_plane)
        self.assertFalse(workload.node(WORKER).control_plane)

    def test_labels_and_taints(self):
        found = workload.node({**MASTER, 'spec': {'taints': [
            {'key': 'gpu', 'value': 'yes', 'effect': 'NoSchedule'},
            {'key': 'old', 'effect': 'NoExecute'}]}})

        self.assertEqual('amd64', found.labels['arch'])
        self.assertEqual((('gpu', 'yes', 'NoSchedule'),
                          ('old', None, 'NoExecute')), found.taints)

    def test_server_of_a_node(self):
        for provider, server in (
                ('openstack:///0f8fad5b', '0f8fad5b'),
                ('openstack://RegionOne/0f8fad5b', '0f8fad5b'),
                ('docker:////n1', ''), (None, '')):
            found = workload.node({**MASTER, 'spec': {'providerID': provider}})
            self.assertEqual(server, found.server, provider)

    def test_node_without_status_is_not_ready(self):
        self.assertEqual(workload.Node('n', False, ''),
                         workload.node({'metadata': {'name': 'n'}}))

    def test_refusal(self):
        self.kube.answers['/api/v1/nodes'] = 401, {}

        error = self.assertRaises(
            kube.KubeError, workload.nodes, self.kube.kubeconfig)

        self.assertEqual(401, error.status)


class Refuses(loopback.Handler):

    def do_GET(self):
        self.answer(401 if self.path == '/api/v1/nodes' else 500)


class StrangerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(tls_server.TlsServer(handler=Refuses))

    def test_status(self):
        self.assertEqual(401, workload.status_without_certificate(
            self.server.url, self.server.ca))

    def test_refusal_of_another_server_does_not_count(self):
        other = self.useFixture(tls_server.TlsServer())

        error = self.assertRaises(
            kube.KubeError, workload.status_without_certificate,
            self.server.url, other.ca)

        self.assertTrue(error.untrusted, str(error))

    def test_no_answer(self):
        error = self.assertRaises(
            kube.KubeError, workload.status_without_certificate,
            'https://127.0.0.1:1', self.server.ca)

        self.assertFalse(error.is_final)
