# SPDX-License-Identifier: Apache-2.0

"""Passwords of proxies are in Secrets, and nowhere that others read."""

import base64
import json

from magnum_capi.driver import failures
from tests.unit.driver.operations import test_pins
from tests.unit.driver import small_world


URL = 'http://squid:S3cret@proxy.example.org:3128'
_SECRETS = f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
_MEMORY = f'{_SECRETS}{small_world.RELEASE}-magnum'


class Base(test_pins.Base):

    def setUp(self):
        super().setUp()
        self.configure(chart=test_pins.OLD)
        self.proxy(URL)

    def proxy(self, url, template=None):
        """Templates that are given an URL for HTTP."""
        for uuid in ([template] if template else self.w.store.templates):
            self.w.store.templates[uuid]['http_proxy'] = url

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

    def test_nothing_is_left_of_it(self):
        self.created()
        self.operations().delete()
        self.look(3)
        self.assertEqual([], self.w.left())

    def test_proxy_without_a_password_needs_none(self):
        self.proxy('http://proxy.example.org:3128')
        self.created()
        self.assertIn('http://proxy.example.org:3128',
                      self.files()[0]['content'])


class OlderClusterTest(Base):
    """Its nodes must not be replaced: a file that moves does so."""

    def made_before(self, pinned=True):
        """Make one as an earlier release did.

        :param pinned: whether that release remembered what it was made of.
        """
        self.proxy('http://proxy.example.org:3128')
        self.created()
        self.proxy(URL)
        data = self.api.objects[_MEMORY]['data']
        state = json.loads(base64.b64decode(data['state.json']))
        if pinned:
            state['pins'].pop('proxies_in_secret', None)
        else:
            del state['pins']
        data['state.json'] = base64.b64encode(
            json.dumps(state).encode()).decode()

    def test_resize_leaves_the_file(self):
        self.made_before()
        self.resize_twice()

    def test_resize_leaves_the_file_of_one_that_nothing_is_known_of(self):
        self.made_before(pinned=False)
        self.resize_twice()

    def resize_twice(self):
        for count in (2, 3):
            self.resize(count)
            for file in self.files():
                self.assertIn(URL, file['content'])
                self.assertNotIn('contentFrom', file)

    def test_upgrade_moves_the_password(self):
        self.made_before()
        self.upgrade()
        self.assertNotIn('S3cret', json.dumps(self.w.helm.upgrades[-1]))
        self.look(3)
        self.resize(2)
        self.assertIn(URL, self.secret(self.files()[1])[1])

    def test_upgrade_that_fails_leaves_the_file(self):
        self.made_before()
        with self.w.helm.refusing():
            self.assertRaises(failures.Failed, self.upgrade)
        self.resize(2)
        self.assertIn(URL, self.files()[0]['content'])


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
