# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver adopt`` where Magnum is, but not its configuration."""

import os
import pathlib
import subprocess

import fixtures
import testtools

from tests.functional.driver import test_contract

_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: a, user: {token: x}}]
"""


class AdoptSetupTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.python = test_contract.installed(self.folder)
        self.etc = self.folder / 'etc'
        (self.etc / 'magnum.d').mkdir(parents=True)

    def call(self, *words):
        """Exit code, output, and the errors, which are one line."""
        ended = subprocess.run(
            [self.python, '-W', 'ignore', '-m', 'magnum_capi.cli.main',
             'driver', 'adopt', '--all', *words],
            capture_output=True, text=True, timeout=600,
            env={**os.environ, 'PYTHONPATH': str(self.folder),
                 'HOME': str(self.folder)})
        self.assertEqual(
            [], ended.stderr.splitlines()[1:], ended.stderr[-3000:])
        return ended.returncode, ended.stdout, ended.stderr

    def write(self, name='magnum.conf', database=None):
        (self.folder / 'kubeconfig').write_text(_KUBECONFIG)
        (self.etc / name).write_text(
            f'[k8s_capi]\nkubeconfig_file = {self.folder}/kubeconfig\n'
            + (f'[database]\nconnection = {database}\n'
               if database else ''))

    def test_there_is_no_configuration(self):
        code, _, error = self.call()

        self.assertEqual(2, code)
        self.assertIn('names no database', error)
        self.assertIn('--config-file', error)

    def test_it_names_no_database(self):
        """Magnum's default is a new file beside its own modules."""
        self.write()

        code, _, error = self.call('--config-dir', self.etc)

        self.assertEqual(2, code)
        self.assertIn('names no database', error)
        self.assertIn(str(self.etc), error)

    def test_the_database_is_empty(self):
        self.write(database=f'sqlite:///{self.folder}/empty')

        code, out, error = self.call('--config-dir', self.etc)

        self.assertEqual((3, ''), (code, out))
        self.assertIn('no such table', error)
        self.assertNotIn('SELECT', error)

    def test_a_folder_wins_over_a_file(self):
        self.write(database='sqlite:////nonexistent/x')
        self.assertIn('unable to open', self.call(
            '--config-file', self.etc / 'magnum.conf')[2])
        self.write('magnum.d/90-set.conf', f'sqlite:///{self.folder}/empty')

        _, _, error = self.call('--config-file', self.etc / 'magnum.conf',
                                '--config-dir', self.etc / 'magnum.d')

        self.assertIn('no such table', error)
