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

"""What Magnum says of a cluster is true, and what cannot be is refused."""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests import base
from magnum_capi_tempest.tests import flags
from magnum_capi_tempest.tests import operations

CONF = config.CONF


class CompleteTest(operations.BaseOperationsTest):

    required_options = (*base.TEMPLATE_OPTIONS, 'slow_flavor')
    required_flags = ('complete_means_ready', 'workload_api')

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('f8817ce7-dc5c-4f16-ad0d-a8d9c7e4323a')
    def test_complete_when_slow_workers_are_ready(self):
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count

        cluster = self.create_cluster(self.create_template(
            flavor_id=CONF.magnum_capi.slow_flavor))
        self.assert_nodes_now(cluster, masters, workers)

        if CONF.magnum_capi_feature_enabled.resize:
            cluster = self.resize_cluster(
                cluster, workers + 1, operations.WORKERS)
            self.assert_nodes_now(cluster, masters, workers + 1)


class FailureTest(operations.BaseOperationsTest):

    required_options = (*base.TEMPLATE_OPTIONS, 'failing_flavor')
    required_flags = ('failures_reported',)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('47f92ea8-77d2-4245-afe3-28e5b37a5666')
    def test_workers_of_a_new_cluster(self):
        template = self.create_template(
            flavor_id=CONF.magnum_capi.failing_flavor)

        uuid = self.request_cluster(template, keypair=self.create_keypair())

        look = self.waiter.until_settled(uuid)
        self.assertEqual('CREATE_FAILED', look.status)
        self.assertTrue(look.status_reason)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('601ac9e9-e84c-4634-8a01-117daecc74c2')
    def test_a_new_node_group(self):
        cluster = self.create_cluster(self.create_template())

        group = self.magnum.nodegroups.create_nodegroup(
            cluster['uuid'], name='failing', node_count=1,
            flavor_id=CONF.magnum_capi.failing_flavor)

        look = self.waiter.until_settled(cluster['uuid'], group['uuid'])
        self.assertEqual(('UPDATE_FAILED', 'CREATE_FAILED'),
                         (look.status, look.group_status))
        self.assertTrue(look.status_reason)


class RefusalTest(operations.BaseOperationsTest):

    @decorators.attr(type=['slow', 'life', 'negative'])
    @flags.promised('network_driver_refused')
    @decorators.idempotent_id('d9d7482d-25ac-4275-b156-98cd9e32f80e')
    def test_network_driver(self):
        # Magnum's own default, which no chart of Cluster API drivers knows.
        self.assertIn('flannel', self.refusal(network_driver='flannel'))

    @decorators.attr(type=['slow', 'life', 'negative'])
    @flags.promised('labels_checked')
    @decorators.idempotent_id('a987e204-f517-4459-818d-f75bee6edd75')
    def test_malformed_label(self):
        self.assertIn('auto_healing_enabled', self.refusal(labels={
            **CONF.magnum_capi.labels, 'auto_healing_enabled': 'flase'}))

    @decorators.attr(type=['slow', 'life', 'negative'])
    @flags.promised('labels_checked')
    @decorators.idempotent_id('44326193-cb5b-4b94-8cf3-a0cb674492ca')
    def test_unknown_label(self):
        self.assertIn('auto_haeling_enabled', self.refusal(labels={
            **CONF.magnum_capi.labels, 'auto_haeling_enabled': 'true'}))
