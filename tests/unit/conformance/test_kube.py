# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.conformance.running import kube
from magnum_capi_tempest import kubeconfig
from tests.unit.driver import tls_server
from tests.unit.evidence import fake_kube


class TestReader(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.scratch = self.useFixture(fixtures.TempDir()).path
        self.server = self.useFixture(fake_kube.FakeKube(page=2))
        self.reader = kube.Reader(self.server.kubeconfig, self.scratch)

    def test_a_list_of_several_pages(self):
        self.server.serve('/api/v1/nodes', *({'n': n} for n in range(5)))

        self.assertEqual([{'n': n} for n in range(5)],
                         self.reader.items('/api/v1/nodes'))
        self.assertEqual(3, len(self.server.asked))

    def test_what_is_there_and_what_is_not(self):
        self.server.answers['/x'] = 200, {'kind': 'X'}

        self.assertTrue(self.reader.exists('/x'))
        self.assertFalse(self.reader.exists('/y'))

    def test_a_refusal_is_not_taken_for_an_absence(self):
        self.server.answers['/x'] = 403, {}

        error = self.assertRaises(kube.KubeError, self.reader.exists, '/x')
        self.assertTrue(error.final)

    def test_a_failure_that_passes(self):
        self.server.answers['/x'] = 500, {}

        error = self.assertRaises(kube.KubeError, self.reader.get, '/x')
        self.assertEqual((500, False), (error.status, error.final))

    def test_nobody_there(self):
        self.reader.server = 'http://127.0.0.1:1'

        error = self.assertRaises(kube.KubeError, self.reader.get, '/x')
        self.assertIsNone(error.status)

    def test_an_answer_that_is_no_json(self):
        self.reader._get = lambda *args: b'<html>'

        self.assertRaises(kube.KubeError, self.reader.get, '/x')


class TestCommands(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.scratch = self.useFixture(fixtures.TempDir()).path
        self.server = self.useFixture(tls_server.TlsServer())
        path = os.path.join(self.scratch, 'kubeconfig')
        kubeconfig.write(path, kubeconfig.document(
            self.server.url, self.server.ca, self.server.certificate,
            self.server.key))
        self.reader = kube.Reader(path, self.scratch)

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


class TestPaths(testtools.TestCase):

    def test_names_do_not_lead_elsewhere(self):
        self.assertEqual('/api/v1/namespaces/n/pods/p/log',
                         kube.log_path('n', 'p'))
        self.assertNotIn('?', kube.pod_path('n', 'a?b'))
