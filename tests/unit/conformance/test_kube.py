# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


import os
import pathlib
import sys
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi_tempest.conformance.running import kube
from magnum_capi_tempest import errors
from magnum_capi_tempest import kubeconfig
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


class TestKubeconfig(testtools.TestCase):

    def write(self, text):
        folder = self.useFixture(fixtures.TempDir()).path
        self.path = pathlib.Path(folder, 'kubeconfig')
        self.path.write_text(text)
        return self.path, folder

    def test_a_broken_file_is_not_quoted(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, kube.Reader,
            *self.write('users: {hunter2: ]'))

        self.assertNotIn('hunter2', str(error))

    def test_a_missing_file(self):
        self.assertRaises(errors.EnvironmentProblem, kube.Reader,
                          '/nowhere', '/tmp')

    def test_without_the_library(self):
        with mock.patch.dict(sys.modules, {'kubernetes': None}):
            error = self.assertRaises(errors.EnvironmentProblem,
                                      kube.Reader, '/x', '/tmp')
        self.assertIn('[conformance]', str(error))

    def configuration(self, path, folder):
        with mock.patch('kubernetes.client.ApiClient') as api:
            kube.Reader(path, folder)
        return api.call_args.args[0]

    def test_a_token_is_sent_and_keys_stay_in_the_private_folder(self):
        document = kubeconfig.document('https://192.0.2.1', 'CA', 'CERT',
                                       'KEY')
        document['users'][0]['user']['token'] = 'secret'
        path, folder = self.write(yaml.safe_dump(document))

        found = self.configuration(path, folder)
        self.assertEqual('Bearer secret',
                         found.auth_settings()['BearerToken']['value'])
        for file in found.key_file, found.cert_file, found.ssl_ca_cert:
            self.assertEqual(folder, os.path.dirname(file))
            self.assertEqual(0o600, os.stat(file).st_mode & 0o777)

    def test_a_second_run_finds_its_keys_although_the_first_removed_them(
            self):
        path, folder = self.write(yaml.safe_dump(kubeconfig.document(
            'https://192.0.2.1', 'CA2', 'CERT2', 'KEY2')))
        os.remove(self.configuration(path, folder).key_file)

        self.assertTrue(os.path.exists(
            self.configuration(path, folder).key_file))


class TestPaths(testtools.TestCase):

    def test_names_do_not_lead_elsewhere(self):
        self.assertEqual('/api/v1/namespaces/n/pods/p/log',
                         kube.log_path('n', 'p'))
        self.assertNotIn('?', kube.pod_path('n', 'a?b'))
