# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import threading
import time
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from tests.unit.driver import tls_server
from tests.unit.evidence import fake_kube
from tests.unit import loopback

NODES = '/api/v1/nodes'


class ClientTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube(page=2))

    def reader(self):
        return kube.Client(self.kube.kubeconfig)

    def test_reads_all_pages(self):
        self.kube.serve(NODES, *({'n': n} for n in range(5)))

        self.assertEqual([{'n': n} for n in range(5)], self.reader().nodes())
        self.assertEqual(3, len(self.kube.asked))

    def test_an_object_that_is_absent(self):
        self.assertIsNone(self.reader().get('/x'))

    def test_a_refusal_is_not_taken_for_an_absence(self):
        self.kube.answers['/x'] = 403, {}

        error = self.assertRaises(kube.KubeError, self.reader().get, '/x')

        self.assertTrue(error.is_final)

    def test_an_answer_that_is_no_json(self):
        reader = self.reader()
        reader._send = lambda *args: b'<html>'

        self.assertRaises(kube.KubeError, reader.get, '/x')

    def test_does_not_mind_what_the_models_of_the_client_refuse(self):
        self.kube.serve(NODES, {'status': {'conditions': 'nonsense'}})

        self.assertEqual(1, len(self.reader().nodes()))

    def test_finds_the_kinds_of_a_group(self):
        self.kube.serve_group('cluster.x-k8s.io', 'v1beta2',
                              clusters='Cluster', machines='Machine')
        self.kube.serve_group('apps', 'v1', deployments='Deployment')

        self.assertEqual(
            [('cluster.x-k8s.io', 'v1beta2', 'clusters', 'Cluster'),
             ('cluster.x-k8s.io', 'v1beta2', 'machines', 'Machine')],
            self.reader().kinds(lambda g: g.endswith('cluster.x-k8s.io')))

    def test_core_kinds(self):
        for plural in ('secrets', 'serviceaccounts'):
            self.kube.serve(f'/api/v1/{plural}', {'plural': plural})

            self.assertEqual([{'plural': plural}], self.reader().core(plural))

    def test_refusal_carries_the_status(self):
        self.kube.answers[NODES] = 401, {}

        error = self.assertRaises(kube.KubeError, self.reader().nodes)

        self.assertEqual((401, self.kube.url), (error.status, error.where))

    def test_no_answer(self):
        reader = self.reader()
        self.kube.cleanUp()

        error = self.assertRaises(kube.KubeError, reader.nodes)

        self.assertIsNone(error.status)
        self.assertFalse(error.is_final)
        self.assertIn('Connection refused', str(error))
        self.kube.setUp()

    def test_proxies_and_bundles_of_the_environment_do_not_matter(self):
        for name in ('HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy',
                     'https_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(
                name, 'http://127.0.0.1:1'))
        for name in ('REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE',
                     'SSL_CERT_FILE'):
            self.useFixture(fixtures.EnvironmentVariable(name, '/nowhere'))
        for name in ('NO_PROXY', 'no_proxy'):
            self.useFixture(fixtures.EnvironmentVariable(name, None))
        self.kube.serve(NODES)

        self.assertEqual([], self.reader().nodes())


#: Seconds of silence after which these tests stop to follow.
QUIET = 1


class _Stream(loopback.Handler):
    """A log in chunks, then what the path says: an end, a cut, silence."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.send_response(200)
        self.send_header('Transfer-Encoding', 'chunked')
        # Else the next request may go to a connection that is just closed.
        self.send_header('Connection', 'close')
        self.end_headers()
        for text in (b'one\n', b'two\n'):
            self.wfile.write(b'%x\r\n%s\r\n' % (len(text), text))
        if self.path.startswith('/end'):
            self.wfile.write(b'0\r\n\r\n')
        elif self.path.startswith('/late'):
            threading.Event().wait(0.6)
            self.wfile.write(b'6\r\nthree\n\r\n0\r\n\r\n')
        elif self.path.startswith('/quiet'):
            self.rfile.read(1)
        self.close_connection = True


class FollowTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.reader = kube.Endpoint(loopback.start(self, _Stream))

    def follow(self, path):
        """What came, and the class of the error at the end."""
        found = []
        try:
            for piece in self.reader.follow(path, QUIET, follow='true'):
                found.append(piece)
        except kube.KubeError as e:
            return found, type(e)
        return found, None

    def test_every_end(self):
        both = [b'one\n', b'two\n']
        for path, error in (('/end', None), ('/cut', kube.KubeError),
                            ('/quiet', kube.Quiet)):
            self.assertEqual((both, error), self.follow(path), path)

    def test_silence_ends_when_it_was_asked_to(self):
        """It lasted 10 s, the time for a connection, whatever was asked."""
        begin = time.monotonic()

        self.follow('/quiet')

        self.assertLess(time.monotonic() - begin, kube.CONNECT / 2)

    def test_it_may_be_longer_than_a_connection_takes(self):
        self.useFixture(fixtures.MockPatchObject(kube, 'CONNECT', 0.2))

        self.assertEqual(([b'one\n', b'two\n', b'three\n'], None),
                         self.follow('/late'))


class FinalTest(testtools.TestCase):

    def test_refusals_are_final(self):
        for status, final in ((401, True), (403, True), (404, False),
                              (503, False), (None, False)):
            self.assertEqual(final, kube.KubeError(
                'x', status=status).is_final, status)

    def test_a_certificate_of_another_ca_is_final(self):
        error = kube.no_answer(
            OSError('[SSL: CERTIFICATE_VERIFY_FAILED] self signed'), 'here')

        self.assertTrue(error.is_final)
        self.assertIn('self signed', str(error))


class CommandsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.scratch = self.useFixture(fixtures.TempDir()).path
        self.server = self.useFixture(tls_server.TlsServer())
        path = os.path.join(self.scratch, 'kubeconfig')
        kubeconfig.write(path, kubeconfig.document(
            self.server.url, self.server.ca, self.server.certificate,
            self.server.key))
        self.reader = kube.Client(path, scratch=self.scratch)

    def execute(self, stream):
        with mock.patch('kubernetes.stream.stream', stream):
            return self.reader.execute('n', 'p', 'c', ['tar', 'x'])

    def test_key_and_certificate_are_there_while_it_runs(self):
        seen = []

        def stream(call, pod, namespace, **kwargs):
            found = call.__self__.api_client.configuration
            seen.extend((found.key_file, found.cert_file))
            self.assertEqual([self.server.key, self.server.certificate],
                             [pathlib.Path(f).read_text() for f in seen])
            self.assertEqual(('p', 'n', ['tar', 'x']),
                             (pod, namespace, kwargs['command']))
            return b'printed'

        self.assertEqual(b'printed', self.execute(stream))
        self.assertEqual(['kubeconfig'], os.listdir(self.scratch))
        self.assertTrue(all(f.startswith(self.scratch) for f in seen))

    def test_a_failure_has_no_text_of_the_library(self):
        def stream(*args, **kwargs):
            raise ValueError('hunter2')

        error = self.assertRaises(kube.KubeError, self.execute, stream)

        self.assertNotIn('hunter2', str(error))
        self.assertEqual(['kubeconfig'], os.listdir(self.scratch))


class PathsTest(testtools.TestCase):

    def test_names_do_not_lead_elsewhere(self):
        self.assertEqual('/api/v1/namespaces/n/pods/p/log',
                         kube.log_path('n', 'p'))
        self.assertNotIn('?', kube.pod_path('n', 'a?b'))
