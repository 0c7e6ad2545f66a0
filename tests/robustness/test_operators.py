# SPDX-License-Identifier: Apache-2.0
"""An operator of another project changes a cluster of a user.

With the driver k8s_capi_v1, and the real Keystone and Nova, which answer for
the project of whoever asks.
"""

import base64

import yaml

from magnum_capi import waiting
from magnum_capi_tempest import resources
from tests.functional import cloud
from tests.robustness import base


class OperatorTest(base.SandboxTest):

    profile = 'embedded'
    driver = 'k8s_capi_v1'
    install = (str(resources.find(f'drivers/{driver}')),)

    def setUp(self):
        super().setUp()
        self.operator = cloud.Cloud(self.box, self.driver, 'admin')
        self.uuid = self.cloud.create('of-a-user')
        self.addCleanup(self.delete_as_operator)
        self.release = self.cloud.wait_created(self.uuid).stack_id

    def delete_as_operator(self):
        answer = self.operator.magnum('DELETE', f'clusters/{self.uuid}')
        self.assertEqual(204, answer.status_code, answer.text)
        self.cloud.wait_gone(self.uuid, cloud.PATIENCE)
        self.assertEqual(([], []), (
            self.groups(self.cloud), self.groups(self.operator)))

    def upgrade(self):
        newer = self.operator.make_template('ubuntu-capi-1.35', public=True)
        answer = self.operator.magnum(
            'POST', f'clusters/{self.uuid}/actions/upgrade',
            {'cluster_template': newer, 'max_batch_size': 1})
        self.assertEqual(202, answer.status_code, answer.text)
        waiting.wait_for(
            lambda: self.cloud.look(self.uuid).cluster,
            done=lambda found: found['status'] == 'UPDATE_COMPLETE',
            failed=lambda found: found['status'] == 'UPDATE_FAILED'
            and found['status_reason'],
            timeout=cloud.PATIENCE, what='the upgrade to be complete')

    def groups(self, user):
        """The server groups of a user's project."""
        answer = user.user.request('compute', 'GET', 'os-server-groups')
        answer.raise_for_status()
        return answer.json()['server_groups']

    def auth(self):
        """The application credential that the cluster reads."""
        found, = [
            secret for secret in self.api.items('/api/v1/secrets')
            if secret['metadata']['name'] == (
                f'{self.release}-cloud-credentials')]
        read = yaml.safe_load(base64.b64decode(found['data']['clouds.yaml']))
        return read['clouds']['openstack']['auth']

    def in_use(self):
        """Its id."""
        return self.auth()['application_credential_id']

    def token(self, auth):
        """Status code of the request for a token."""
        return self.cloud.user.request('identity', 'POST', 'auth/tokens', {
            'auth': {'identity': {
                'methods': ['application_credential'],
                'application_credential': {
                    'id': auth['application_credential_id'],
                    'secret': auth['application_credential_secret']}}}}
        ).status_code

    def test_upgraded_its_server_groups_stay_in_its_project(self):
        self.assertEqual(1, len(self.groups(self.cloud)))
        self.upgrade()
        self.assertEqual((1, 0), (
            len(self.groups(self.cloud)), len(self.groups(self.operator))))

    def test_upgraded_it_gets_no_credential_of_the_operator(self):
        auth = self.auth()
        before = auth['application_credential_id']
        # As if its owner had left.
        answer = self.cloud.user.request(
            'identity', 'DELETE', f'users/{self.cloud.user.id}/'
            f'application_credentials/{before}')
        self.assertEqual(204, answer.status_code, answer.text)
        waiting.wait_for(
            lambda: self.token(auth), done=lambda status: status in (401, 404),
            timeout=cloud.PATIENCE, what='Keystone to refuse the credential')
        self.upgrade()
        self.assertEqual((before, set()), (
            self.in_use(), self.operator.credentials()))

        self.cloud.resize(self.uuid, 1)()
        self.assertEqual({self.in_use()}, self.cloud.credentials())
