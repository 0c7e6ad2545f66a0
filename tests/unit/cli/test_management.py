# SPDX-License-Identifier: Apache-2.0

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.cli import management as cli
from tests.unit.cli import terminal


class DownTest(testtools.TestCase):

    def test_without_a_cluster_it_says_so(self):
        folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'none'

        code, out, err = terminal.command(cli.Down, '--directory', folder)

        self.assertEqual((0, ''), (code, out))
        self.assertIn(f'There is no management cluster ({folder})', err)


class CheckTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'kubeconfig'

    def call(self, text):
        """Exit code, and what is said on either stream."""
        self.path.write_text(text)
        code, out, err = terminal.command(
            cli.Check, '--kubeconfig', self.path)
        return code, out + err

    def test_a_file_that_does_not_parse_is_not_quoted(self):
        code, said = self.call(
            'users:\n- name: u\n  user:\n    client-key-data: "hunter2\n')

        self.assertEqual(2, code)
        self.assertNotIn('hunter2', said)
        self.assertRegex(said, r'\Amagnum-capi: [^\n]+\n\Z')
        self.assertIn(str(self.path), said)

    def test_a_key_that_is_not_supported_is_named(self):
        code, said = self.call('''
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: hunter2, as: admin}}]
''')

        self.assertEqual(2, code)
        self.assertIn('"as" of its user', said)
        self.assertNotIn('hunter2', said)
