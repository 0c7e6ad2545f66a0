# SPDX-License-Identifier: Apache-2.0

"""Passwords of proxies are in Secrets, and nowhere that others read."""

import base64
import json

from tests.unit.driver.operations import test_desired_values
from tests.unit.driver import small_world


URL = 'http://squid:S3cret@proxy.example.org:3128'
_SECRETS = f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
_MEMORY = f'{_SECRETS}{small_world.RELEASE}-magnum'


class Base(test_desired_values.Base):

    def setUp(self):
        super().setUp()
        self.configure(chart=test_desired_values.OLD)
        self.proxy(URL)

    def proxy(self, url, template=None):
        """Templates that are given an URL for HTTP."""
        for uuid in ([template] if template else self.w.rows.templates):
            self.w.rows.templates[uuid]['http_proxy'] = url

    def files(self):
        """Files of the nodes in the last revision, of both kinds."""
        values = self.w.helm.upgrades[-1]
        return [values[part]['kubeadmConfigSpec']['files'][0]
                for part in ('controlPlane', 'nodeGroupDefaults')]

    def secret(self, file):
        """The Secret that a file of nodes is in, and its content there."""
        reference = file['contentFrom']['secret']
        found = self.api.objects[_SECRETS + reference['name']]
        return found, base64.b64decode(
            found['data'][reference['key']]).decode()


class NewClusterTest(Base):

    def test_password_is_in_a_secret_only(self):
        self.created()
        for values in self.w.helm.upgrades:
            self.assertNotIn('S3cret', json.dumps(values))
        for file in self.files():
            self.assertNotIn('content', file)
            secret, content = self.secret(file)
            self.assertIn(f'HTTP_PROXY={URL}', content)
            self.assertEqual(
                (small_world.RELEASE, ''),
                (secret['metadata']['labels']['cluster.x-k8s.io/cluster-name'],
                 secret['metadata']['labels'][
                     'clusterctl.cluster.x-k8s.io/move']))

    def test_secret_is_there_before_helm_is_run(self):
        seen = []
        self.w.helm.before = lambda: seen.extend(self.w.secrets())
        self.create()
        self.assertTrue([name for name in seen
                         if name.startswith('proxies-')], seen)

    def test_resize_names_the_same_secret(self):
        self.created()
        before = self.files()
        self.resize(2)
        self.assertIn('contentFrom', before[0])
        self.assertEqual(before, self.files())

    def test_proxy_without_a_password_needs_none(self):
        self.proxy('http://proxy.example.org:3128')
        self.created()
        self.assertIn('http://proxy.example.org:3128',
                      self.files()[0]['content'])


class LostMemoryTest(Base):

    def test_resize_names_the_same_secret(self):
        self.created()
        before = self.files()
        del self.api.objects[_MEMORY]
        self.resize(2)
        self.assertEqual(before, self.files())


class OtherPasswordTest(Base):

    def test_upgrade_names_another_secret(self):
        self.created()
        before = self.files()[0]
        self.proxy(URL.replace('S3cret', 'N3w'), small_world.NEWER)
        self.upgrade()
        after = self.files()[0]
        self.assertNotEqual(before, after)
        self.assertIn('N3w', self.secret(after)[1])
        # Nodes that are still of the old revision may be made again.
        self.assertIn('S3cret', self.secret(before)[1])

    def test_upgrade_with_the_same_one_names_the_same_secret(self):
        self.created()
        before = self.files()
        self.upgrade()
        self.assertEqual(before, self.files())
