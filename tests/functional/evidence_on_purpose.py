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

"""Tests that fail, to see what they carry: ``test_evidence`` runs them.

No loader finds them by their name.
"""

from tempest import config

from magnum_capi_tempest.tests import operations

CONF = config.CONF


class OnPurpose(operations.BaseOperationsTest):

    def test_1_a_wrong_expectation(self):
        template = self.create_template(
            flavor_id=CONF.magnum_capi.failing_flavor)

        uuid = self.request_cluster(template, keypair=self.create_keypair())

        look = self.waiter.until_settled(uuid)
        self.assertEqual('CREATE_COMPLETE', look.status)

    def test_2_a_leak(self):
        self.create_cluster(self.create_template())

        self.os_primary.application_credentials_client \
            .create_application_credential(
                self.os_primary.credentials.user_id, name='left')

    def test_3_no_failure(self):
        self.create_template()
