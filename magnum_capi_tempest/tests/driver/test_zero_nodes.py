# SPDX-License-Identifier: Apache-2.0

"""Clusters without workers: created empty, grown, and shrunk to none."""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

WORKERS = operations.WORKERS


@flags.promise('lifecycle.cluster.zero-workers')
class ZeroNodesTest(operations.BaseOperationsTest):

    # Groups without nodes came with 1.10.
    min_microversion = '1.10'
    needs = (flags.RESIZE,)

    @decorators.idempotent_id('d0c3a404-1294-4059-ae14-76ba970004fc')
    def test_create_grow_and_shrink(self) -> None:
        masters = CONF.magnum_capi.master_count

        cluster = self.create_cluster(self.create_template(), node_count=0)

        self.assertEqual(0, cluster['node_count'])
        self.assert_usable(cluster, 0)
        for count in (1, 0):
            cluster = self.resize_cluster(cluster, count, WORKERS)
            self.assertEqual(count, cluster['node_count'])
            self.assert_usable(cluster, count)
            self.assert_machines(cluster, masters + count)
