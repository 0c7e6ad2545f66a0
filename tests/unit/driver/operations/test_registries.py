# SPDX-License-Identifier: Apache-2.0

"""Registries of the operator: secrets stay in Secrets, nodes stay, too."""

import base64
import json
import pathlib

import fixtures
import yaml

from magnum_capi.driver import failures
from tests.unit.driver.desired import test_registries
from tests.unit.driver.operations import test_kept
from tests.unit.driver import small_world

_SECRETS = f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
PASSWORD = 'S3cret'
TOLD = {**test_registries.TOLD, 'r.example.org:5000': {
    'ca': test_registries.PEM, 'username': 'puller', 'password': PASSWORD}}


class RegistriesTest(test_kept.Base):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'registries.yaml'
        self.path.touch(mode=0o640)
        self.tell(TOLD)
        self.configure(chart=test_kept.OLD, registries_file=str(self.path))

    def tell(self, told):
        self.path.write_text(yaml.safe_dump(told))

    def names(self):
        return [name for name in self.w.secrets()
                if name.startswith('registries-')]

    def files(self):
        """Files of the nodes in the last revision, of both kinds."""
        values = self.w.helm.upgrades[-1]
        return [values[part].get('kubeadmConfigSpec', {}).get('files')
                for part in ('controlPlane', 'nodeGroupDefaults')]

    def test_secrets_are_in_a_secret_and_in_nothing_else(self):
        self.created()
        self.assertNotIn(PASSWORD, json.dumps(self.w.helm.upgrades))
        name, = self.names()
        data = self.api.objects[f'{_SECRETS}{small_world.RELEASE}-{name}'][
            'data']
        self.assertIn(PASSWORD, base64.b64decode(
            data['registries.toml']).decode())
        memory = self.api.objects[
            f'{_SECRETS}{small_world.RELEASE}-magnum']['data']
        self.assertNotIn(PASSWORD, json.dumps([
            base64.b64decode(text).decode() for text in memory.values()]))
        self.assertNotIn(PASSWORD, self.logger.output)
        self.assertEqual(
            ['https://r.example.org/v2/docker.io',
             'https://s.example.org/v2/docker.io'],
            self.w.helm.upgrades[-1]['registryMirrors']['docker.io'])

    def test_secret_is_there_before_helm_and_the_memory_name_it(self):
        seen = []
        self.w.helm.before = lambda: seen.extend(self.names())
        self.create()
        self.assertEqual(1, len(set(seen)))
        # A conductor that died before helm could have the file no more.
        writes = [body['metadata']['name'] for method, path, _, _, body
                  in self.api.seen
                  if method != 'GET' and '/secrets' in path]
        self.assertLess(
            next(n for n, name in enumerate(writes) if 'registries' in name),
            next(n for n, name in enumerate(writes)
                 if name.endswith('-magnum')))

    def test_new_file_replaces_no_node_of_a_living_cluster(self):
        self.created()
        before, values = self.files(), self.w.helm.upgrades[-1]
        for change in (lambda: self.tell({}), self.path.unlink):
            change()
            self.resize(2)
            self.assertEqual(before, self.files())
            self.assertEqual(values['registryMirrors'],
                             self.w.helm.upgrades[-1]['registryMirrors'])
            self.assertEqual(1, len(self.names()))

    def test_upgrade_brings_the_new_file(self):
        self.created()
        self.tell({'r.example.org': {'username': 'u', 'password': 'p'}})
        self.upgrade()
        self.assertNotIn('registryMirrors', self.w.helm.upgrades[-1])
        # Nodes of the revision before it can still be made.
        self.assertEqual(2, len(self.names()))
        named = {file['contentFrom']['secret']['name']
                 for files in self.files() for file in files}
        self.assertEqual(1, len(named))

    def test_cluster_from_before_there_were_any_is_left_alone(self):
        self.configure(registries_file=None)
        self.created()
        self.configure(registries_file=str(self.path))
        self.resize(2)
        self.assertEqual([None, None], self.files())
        self.upgrade()
        self.assertEqual(1, len(self.names()))

    def test_nothing_is_left_of_them(self):
        self.created()
        self.operations().delete()
        self.check_status(3)
        self.assertEqual([], self.w.left())

    def refused(self):
        text = str(self.assertRaises(failures.Failed, self.create))
        self.assertNotIn(PASSWORD, text + self.logger.output)
        self.assertEqual([], self.w.helm.upgrades)
        return text

    def test_file_that_others_may_read_is_refused(self):
        self.path.chmod(0o644)
        self.assertIn('other users may read it', self.refused())

    def test_file_that_cannot_be_read_is_reported(self):
        for change, words in (
                (lambda: self.path.write_text(f'a: [{PASSWORD}'), 'not YAML'),
                (lambda: self.tell({'r': {'secret': PASSWORD}}),
                 'no such field'),
                (self.path.unlink, 'No such file')):
            change()
            self.assertIn(words, self.refused())

    def test_chart_without_a_value_for_them(self):
        self.configure(chart=test_kept.config.Chart(
            '/charts/sandbox-cluster'))
        self.assertIn('registries_file', self.refused())
