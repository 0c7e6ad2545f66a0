# SPDX-License-Identifier: Apache-2.0

"""The life of a cluster from its owner's view, with the real driver."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import json_types
from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

MASTERS = 'default-master'
WORKERS = operations.WORKERS


@flags.promise('lifecycle.cluster.life')
class ClusterLifecycleTest(operations.BaseOperationsTest):

    @decorators.idempotent_id('ce6c30f7-1465-45d8-a44d-994ca3ecabe1')
    def test_create_use_resize_delete(self) -> None:
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count
        credentials = self.application_credentials()

        template = self.create_template()
        cluster = self.create_cluster(template)
        self.assert_driver(template)
        self.assert_described(cluster)
        self.assert_node_groups(cluster, masters, workers)
        self.assert_usable(cluster, workers)
        self.assert_refuses_strangers(cluster)

        if flags.can_resize():
            cluster = self.resize_cluster(cluster, workers + 1, WORKERS)
            self.assert_node_groups(cluster, masters, workers + 1)
            self.assert_usable(cluster, workers + 1)

        self.delete_cluster(cluster)
        self.assert_unknown_to_magnum(cluster)
        self.assert_nothing_left_in_management_cluster(cluster)
        self.assert_no_credential_left(cluster['uuid'], credentials)

    def assert_driver(self, template: json_types.Object) -> None:
        if CONF.magnum_capi.driver:
            self.assertEqual(CONF.magnum_capi.driver, template['driver'])

    def assert_described(self, cluster: json_types.Object) -> None:
        self.assertRegex(cluster['api_address'] or '', r'^https://.+')
        self.assertRegex(cluster['coe_version'] or '', r'^v\d+\.\d+\.\d+')

    def assert_node_groups(self, cluster: json_types.Object, masters: int,
                           workers: int) -> None:
        groups = self.magnum.nodegroups.list_nodegroups(cluster['uuid'])
        self.assertEqual(
            {MASTERS: ('master', masters), WORKERS: ('worker', workers)},
            {group['name']: (group['role'], group['node_count'])
             for group in groups['nodegroups']})

    def assert_refuses_strangers(self, cluster: json_types.Object) -> None:
        if not CONF.magnum_capi_feature_enabled.workload_api:
            self.not_checked('whether clusters refuse strangers',
                             'workload_api')
            return
        authority = self.magnum.certificates.show_ca_certificate(
            cluster['uuid'])
        self.assertIn(workload.status_without_certificate(
            cluster['api_address'], authority['pem']), (401, 403))

    def assert_unknown_to_magnum(self, cluster: json_types.Object) -> None:
        self.assertRaises(lib_exc.NotFound, self.magnum.clusters.show_cluster,
                          cluster['uuid'])
        listed = self.magnum.clusters.list_clusters(
            **base_client.NEWEST_FIRST)['clusters']
        self.assertNotIn(cluster['uuid'], [c['uuid'] for c in listed])
