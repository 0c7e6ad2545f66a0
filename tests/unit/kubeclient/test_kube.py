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

    def test_a_refusal_is_not_taken_for_an_absence(self):
        self.kube.answers['/x'] = 403, {}

        error = self.assertRaises(kube.KubeError, self.reader().get, '/x')

        self.assertTrue(error.is_final)

    def test_an_answer_that_is_no_json(self):
        reader = self.reader()
        reader._send = lambda *args: b'<html>'

        self.assertRaises(kube.KubeError, reader.get, '/x')

    def test_who_is_patient_asks_a_busy_server_again(self):
        self.kube.serve(NODES, {'n': 1})
        for status in (429, 503):
            self.kube.busy.append(status)
            self.assertEqual(status, self.assertRaises(
                kube.KubeError, self.reader().nodes).status)

            self.kube.busy.append(status)
            self.assertEqual([{'n': 1}], kube.Client(
                self.kube.kubeconfig, patient=True).nodes())

    def test_who_is_patient_changes_nothing_twice(self):
        self.kube.refuse += [503, 503]

        error = self.assertRaises(
            kube.KubeError, kube.Client(self.kube.kubeconfig, patient=True)
            .create, NODES, {'metadata': {'name': 'n'}})

        self.assertEqual((503, [503]), (error.status, self.kube.refuse))

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


class ReplaceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.writer = kube.Client(self.kube.kubeconfig)
        self.kube.answers['/x'] = 200, {'size': 1}

    def grow(self, body):
        body['size'] += 1

    def fails(self, *statuses):
        self.kube.refuse = [*statuses]
        return self.assertRaises(
            kube.KubeError, self.writer.replace, '/x', self.grow)

    def test_a_change_that_another_one_overtook_is_made_again(self):
        self.kube.refuse = [409, 409]

        self.assertEqual({'size': 2}, self.writer.replace('/x', self.grow))

    def test_not_for_ever(self):
        self.assertEqual(409, self.fails(*[409] * 9).status)
        self.assertEqual(5, len(self.kube.written))

    def test_a_refusal_says_what_the_api_said(self):
        error = str(self.fails(403))

        self.assertIn('403 to PUT /x', error)
        self.assertIn('no, no', error)

    def test_a_server_without_subresources(self):
        self.writer.replace('/x', self.grow, '/status')

        self.assertEqual(['/x/status', '/x'], self.kube.written)
        self.assertEqual({'size': 2}, self.kube.answers['/x'][1])

    def test_a_server_with_subresources(self):
        self.kube.answers['/x/status'] = 200, {}

        self.writer.replace('/x', self.grow, '/status')

        self.assertEqual({'size': 2}, self.kube.answers['/x/status'][1])


class FinalTest(testtools.TestCase):

    def test_a_certificate_of_another_ca_is_final(self):
        error = kube.no_answer(
            OSError('[SSL: CERTIFICATE_VERIFY_FAILED] self signed'), 'here')

        self.assertTrue(error.is_final)
        self.assertIn('self signed', str(error))

    def test_refusals_are_final(self):
        for status, final in ((401, True), (403, True), (404, False),
                              (503, False), (None, False)):
            self.assertEqual(final, kube.KubeError(
                'x', status=status).is_final, status)


class PathsTest(testtools.TestCase):

    def test_names_do_not_lead_elsewhere(self):
        self.assertEqual('/api/v1/namespaces/n/pods/p/log',
                         kube.log_path('n', 'p'))
        self.assertNotIn('?', kube.pod_path('n', 'a?b'))
