# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest leaks``, in a workspace with one user of a cloud."""

import json
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record
from tests.unit.cli import terminal
from tests.unit.workspace import cloud_over_http

MINE = {'uuid': 'mine', 'name': 'name', 'user_id': 'id-alice',
        'project_id': 'p'}
OTHERS = {**MINE, 'uuid': 'others', 'name': 'other'}


class LeaksTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_over_http.Cloud())
        self.cloud.page = 500
        self.cloud.refuse['/compute/v2.1/os-keypairs'] = 403
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.artefacts = self.folder / 'artefacts'
        (self.folder / 'etc').mkdir()
        self.configure()
        (self.folder / 'etc' / 'accounts.yaml').write_text(
            json.dumps([self.cloud.auth('alice')]))

    def configure(self, **options):
        text = ''.join(f'{key} = {value}\n' for key, value in {
            'artifact_dir': self.artefacts, **options}.items())
        (self.folder / 'etc' / 'tempest.conf').write_text(
            '[auth]\nuse_dynamic_credentials = false\ntest_accounts_file = '
            f'etc/accounts.yaml\n[identity]\nuri_v3 = {self.cloud.url}/v3\n'
            f'[magnum_capi]\n{text}')

    def record(self, *idents):
        for ident in idents:
            record.append(self.artefacts, model.Made(
                model.CLUSTER, ident, 'name', 'm.T.test_a'))

    def leaks(self, *words):
        return terminal.command(leaks.Leaks, self.folder, *words)

    def test_nothing_is_left_but_what_others_have(self):
        self.record('mine')
        self.cloud.clusters = [OTHERS]

        code, out, _ = self.leaks()

        self.assertEqual((0, 'Leaks: none'), (code, out.splitlines()[-1]))

    def test_what_is_left_is_named_with_test_and_command(self):
        self.record('mine')
        self.cloud.clusters = [MINE, OTHERS]

        code, out, _ = self.leaks()

        self.assertEqual(1, code)
        self.assertIn('1 left behind:\n  cluster name (mine), owner: user '
                      'id-alice, project p, left by: m.T.test_a\n', out)
        self.assertIn('\n  openstack coe cluster delete mine\n', out)

    def test_what_cannot_be_listed_is_no_all_clear(self):
        self.record('mine')
        self.cloud.refuse['/infra/v1/clusters/detail'] = 500

        code, out, _ = self.leaks()

        self.assertEqual(3, code)
        self.assertIn('It is unknown what is left of: cluster', out)
        self.assertNotIn('Leaks: none', out)

    def test_the_management_cluster_is_looked_at(self):
        self.record('mine')
        self.configure(management_kubeconfig=self.folder / 'missing')

        _, out, _ = self.leaks()

        self.assertIn(f'{model.OBJECT} could not be listed', out)

    def test_where_nothing_says_what_was_created(self):
        for prepare, said in (
                (lambda: None, str(self.artefacts)),
                (lambda: self.configure(artifact_dir=''), '--artefacts'),
                ((self.folder / 'etc/accounts.yaml').unlink, 'no users'),
                ((self.folder / 'etc/tempest.conf').unlink, 'workspace')):
            prepare()
            code, out, err = self.leaks()

            self.assertEqual((2, ''), (code, out), said)
            self.assertIn(said, err)

    def test_another_folder_of_artefacts(self):
        self.record('mine')
        self.configure(artifact_dir='')

        self.assertEqual(0, self.leaks('--artefacts', self.artefacts)[0])

    def test_a_cloud_that_does_not_answer(self):
        self.record('mine')
        self.cloud.refuse['/v3/auth/tokens'] = 401

        self.assertEqual(3, self.leaks()[0])
