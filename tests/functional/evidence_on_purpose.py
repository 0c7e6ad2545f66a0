# SPDX-License-Identifier: Apache-2.0

"""Tests that fail on purpose, for ``test_evidence`` to check their evidence.

No loader finds them by their name.
"""

from tempest import config

from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


class OnPurpose(operations.BaseOperationsTest):

    def test_1_a_wrong_expectation(self):
        template = self.create_template(
            flavor_id=CONF.magnum_capi.fault_flavors['failing'])

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
