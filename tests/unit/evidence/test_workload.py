# SPDX-License-Identifier: Apache-2.0

import datetime
import http.server
import ipaddress
import os
import ssl

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509.oid import NameOID
import fixtures
import testtools

from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest.kubeclient import kube
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


class TlsServer(fixtures.Fixture):
    """Answers 401 with a certificate of a CA of its own, ``ca``."""

    def _setUp(self):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.ca = self._certificate(x509.BasicConstraints(True, None))
        folder = self.useFixture(fixtures.TempDir()).path
        path = os.path.join(folder, 'server.pem')
        with open(path, 'w') as f:
            f.write(self._key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()).decode() + self.ca)
        server = http.server.HTTPServer(('127.0.0.1', 0), Refuses)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.url = f'https://127.0.0.1:{server.server_port}'
        loopback.serve(self, server)

    def _certificate(self, constraints):
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, 'ca')])
        now = datetime.datetime.now(datetime.timezone.utc)
        day = datetime.timedelta(days=1)
        return x509.CertificateBuilder(
            name, name, self._key.public_key(),
            x509.random_serial_number(), now - day, now + day
        ).add_extension(constraints, True).add_extension(
            x509.SubjectAlternativeName([
                x509.IPAddress(ipaddress.ip_address('127.0.0.1'))]), False
        ).sign(self._key, hashes.SHA256()).public_bytes(
            serialization.Encoding.PEM).decode()


class Refuses(http.server.BaseHTTPRequestHandler):

    def do_GET(self):
        self.send_response(401 if self.path == '/api/v1/nodes' else 500)
        self.end_headers()

    def log_message(self, *args):
        pass


class StrangerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(TlsServer())

    def test_status(self):
        self.assertEqual(401, workload.status_without_certificate(
            self.server.url, self.server.ca))

    def test_refusal_of_another_server_does_not_count(self):
        other = self.useFixture(TlsServer())

        error = self.assertRaises(
            kube.KubeError, workload.status_without_certificate,
            self.server.url, other.ca)

        self.assertTrue(error.untrusted, str(error))

    def test_no_answer(self):
        error = self.assertRaises(
            kube.KubeError, workload.status_without_certificate,
            'https://127.0.0.1:1', self.server.ca)

        self.assertFalse(error.is_final)
