# SPDX-License-Identifier: Apache-2.0


import fixtures
import testtools

from magnum_capi_tempest.kubeclient import kube
from tests.unit.evidence import fake_kube

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

    def test_changes_since_a_version(self):
        for how in ('ADDED', 'MODIFIED', 'DELETED'):
            self.kube.change(NODES, how, {'metadata': {'name': 'n'}})
        self.kube.serve(NODES)
        reader = self.reader()

        found, version = reader.changes(NODES, '1', 1)

        self.assertEqual(['MODIFIED', 'DELETED'], [how for how, _ in found])
        self.assertEqual(('3', '3'), (version, reader.version(NODES)))
        self.assertEqual(([], '3'), reader.changes(NODES, version, 1))

    def test_changes_that_the_server_has_no_more(self):
        self.kube.history[NODES] = [('ERROR', {
            'code': 410, 'message': 'too old resource version'})]

        error = self.assertRaises(
            kube.KubeError, self.reader().changes, NODES, '0', 1)

        self.assertEqual(410, error.status)
        self.assertIn('too old', str(error))

    def test_a_bookmark_is_only_a_version(self):
        self.kube.change(NODES, 'BOOKMARK', {'metadata': {}})

        self.assertEqual(([], '1'), self.reader().changes(NODES, '0', 1))

    def test_what_is_no_watch(self):
        reader = self.reader()
        reader._send = lambda *args: b'{"type": "ADDED"}'

        self.assertRaises(kube.KubeError, reader.changes, NODES, '0', 1)

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


class PathsTest(testtools.TestCase):

    def test_names_do_not_lead_elsewhere(self):
        self.assertEqual('/api/v1/namespaces/n/pods/p/log',
                         kube.log_path('n', 'p'))
        self.assertNotIn('?', kube.pod_path('n', 'a?b'))
