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

"""What owners do to a cluster that works: it goes on working."""

from tempest import config
from tempest.lib.common import api_version_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests import flags
from magnum_capi_tempest.tests import operations
from magnum_capi_tempest import waiting

CONF = config.CONF

WORKERS = operations.WORKERS

#: The operations on credentials, and the one on the CA.
CREDENTIALS = '1.12'


class SharedClusterTest(operations.BaseSharedClusterTest):
    """Changes that a cluster survives, all of one cluster."""

    def resize(self, workers):
        """Resize, and see the nodes and machines of that number."""
        masters = CONF.magnum_capi.master_count
        cluster = self.resize_cluster(self.cluster, workers, WORKERS)
        self.assert_usable(cluster, masters, workers)
        self.assert_machines(cluster, masters + workers)

    @decorators.attr(type=['slow', 'life'])
    @flags.promised('resize')
    @decorators.idempotent_id('fffac141-434b-46d8-acd9-dc9967d0ca37')
    def test_resize_up_and_down(self):
        workers = CONF.magnum_capi.node_count

        self.resize(workers + 2)
        self.resize(workers)

    @decorators.attr(type=['slow', 'life'])
    @flags.promised('credential_rotation')
    @decorators.idempotent_id('7af0be99-f0de-4a71-9232-1690d44ba231')
    def test_rotate_credential(self):
        api_version_utils.check_skip_with_microversion(
            CREDENTIALS, 'latest', CONF.magnum_capi.min_microversion,
            CONF.magnum_capi.max_microversion)
        old = self.application_credentials()
        before = self.waiter.before(self.cluster['uuid'], WORKERS)

        self.magnum.clusters.rotate_credential(
            self.cluster['uuid'], microversion=CREDENTIALS)

        waiting.wait_for(
            self.application_credentials,
            done=lambda found: (len(found) == len(old)
                                and not set(found) & set(old)),
            timeout=CONF.magnum_capi.build_timeout,
            what=f'as many application credentials as before, and not {old}',
            describe=str)
        look = self.waiter.until_settled(self.cluster['uuid'], WORKERS)
        self.assertRegex(look.status, '_COMPLETE$')
        workers = before.nodegroup['node_count']
        self.assert_usable(look.cluster, CONF.magnum_capi.master_count,
                           workers)
        if CONF.magnum_capi_feature_enabled.resize:
            self.resize(workers + 1)
            self.resize(workers)


class RotateAuthorityTest(operations.BaseOperationsTest):
    """Rotation of the CA has a cluster of its own: it may be its end."""

    required_flags = ('ca_rotation_safe',)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('f4fbe34c-a5fc-4f37-95eb-908fdc35fa97')
    def test_the_cluster_can_be_used_afterwards(self):
        cluster = self.create_cluster(self.create_template())

        try:
            self.magnum.certificates.rotate_ca_certificate(cluster['uuid'])
        except lib_exc.ClientRestClientException:
            # Refused. That must not have changed anything.
            pass

        # When it is refused, Magnum itself makes the cluster UPDATE_FAILED
        # (magnum/conductor/handlers/ca_conductor.py, rotate_ca_certificate).
        self.waiter.until_settled(cluster['uuid'])
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count
        self.assert_usable(cluster, masters, workers)
        if CONF.magnum_capi_feature_enabled.resize:
            cluster = self.resize_cluster(cluster, workers + 1, WORKERS)
            self.assert_usable(cluster, masters, workers + 1)


class ThreeMastersTest(operations.BaseOperationsTest):

    required_flags = ('three_masters',)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('48e0beec-282c-4e8c-bc97-fe7b0ecf0d4b')
    def test_create_and_delete(self):
        workers = CONF.magnum_capi.node_count

        cluster = self.create_cluster(
            self.create_template(master_lb_enabled=True), master_count=3)
        self.assertEqual((3, workers),
                         (cluster['master_count'], cluster['node_count']))
        self.assert_usable(cluster, 3, workers)
        self.assert_machines(cluster, 3 + workers)

        self.delete_cluster(cluster)
        self.assert_nothing_left_in_management_cluster(cluster)
