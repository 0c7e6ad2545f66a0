# SPDX-License-Identifier: Apache-2.0

"""An operator of another project changes a cluster of a user.

The real Keystone and Nova answer for the project of whoever asks.
"""

import base64

import yaml

from magnum_capi import waiting
from tests.functional import cloud
from tests.proofs.robustness import base
from tests.proofs.robustness import box


class OperatorTest(base.RobustnessTest):

    def setUp(self):
        super().setUp()
        self.operator = cloud.Cloud(self.box.sandbox, box.DRIVER, 'admin')
        self.uuid = self.user.create('of-a-user')
        self.addCleanup(self.delete_as_operator)
        self.release = self.user.wait_created(self.uuid).stack_id

    def delete_as_operator(self):
        self.operator.ask('DELETE', f'clusters/{self.uuid}')
        self.user.wait_gone(self.uuid)
        self.assertEqual(([], []), (
            self.groups(self.user), self.groups(self.operator)))

    def upgrade(self):
        self.operator.upgrade(self.uuid, self.operator.make_template(
            'ubuntu-capi-1.35', public=True))
        self.follow(self.uuid, lambda state: state.status == 'UPDATE_COMPLETE',
                    'the upgrade to be complete')

    def groups(self, user):
        """The server groups of a user's project."""
        answer = user.user.request('compute', 'GET', 'os-server-groups')
        answer.raise_for_status()
        return answer.json()['server_groups']

    def auth(self):
        """The application credential that the cluster reads."""
        found, = [
            secret for secret in self.box.api.items('/api/v1/secrets')
            if secret['metadata']['name'] == (
                f'{self.release}-cloud-credentials')]
        read = yaml.safe_load(base64.b64decode(found['data']['clouds.yaml']))
        return read['clouds']['openstack']['auth']

    def in_use(self):
        """Its id."""
        return self.auth()['application_credential_id']

    def token(self, auth):
        """Status code of the request for a token."""
        return self.user.user.request('identity', 'POST', 'auth/tokens', {
            'auth': {'identity': {
                'methods': ['application_credential'],
                'application_credential': {
                    'id': auth['application_credential_id'],
                    'secret': auth['application_credential_secret']}}}}
        ).status_code

    def test_upgraded_its_server_groups_stay_in_its_project(self):
        self.assertEqual(1, len(self.groups(self.user)))
        self.upgrade()
        self.assertEqual((1, 0), (
            len(self.groups(self.user)), len(self.groups(self.operator))))

    def test_upgraded_it_gets_no_credential_of_the_operator(self):
        auth = self.auth()
        before = auth['application_credential_id']
        # As if its owner had left.
        answer = self.user.user.request(
            'identity', 'DELETE', f'users/{self.user.user.id}/'
            f'application_credentials/{before}')
        self.assertEqual(204, answer.status_code, answer.text)
        waiting.wait_for(
            lambda: self.token(auth), done=lambda status: status in (401, 404),
            timeout=cloud.PATIENCE, what='Keystone to refuse the credential')
        self.upgrade()
        self.assertEqual((before, set()), (
            self.in_use(), self.operator.credentials()))

        self.user.resize(self.uuid, 1)()
        self.assertEqual({self.in_use()}, self.user.credentials())
