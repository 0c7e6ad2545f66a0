# SPDX-License-Identifier: Apache-2.0

"""Requests that overtake each other: the last one wins."""

import uuid

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

WORKERS = operations.WORKERS


@flags.promise('lifecycle.cluster.delete-during-create')
class DeleteDuringCreateTest(operations.BaseOperationsTest):

    @decorators.idempotent_id('e6f44f89-3c5a-48b8-896a-e928e5bdc788')
    def test_nothing_is_left(self) -> None:
        credentials = self.application_credentials()
        # Short enough that no driver truncates it: objects are found by it.
        name = f'n{uuid.uuid4().hex[:20]}'
        cluster = self.request_cluster(
            self.create_template(), keypair=self.create_keypair(), name=name)

        self.delete_cluster({'uuid': cluster})

        self.assert_nothing_comes_back(cluster, name)
        self.assert_no_credential_left(cluster, credentials)


@flags.promise('lifecycle.resize.last-wins')
class ResizesTest(operations.BaseOperationsTest):

    needs = (flags.RESIZE,)

    @decorators.idempotent_id('95dc57bb-9547-4932-ad7c-5256623a3c4c')
    def test_the_last_of_three_counts(self) -> None:
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count
        cluster = self.create_cluster(self.create_template())
        before = self.waiter.before(cluster['uuid'], WORKERS)

        for count in (workers + 2, workers, workers + 1):
            self.magnum.clusters.resize_cluster(
                cluster['uuid'], node_count=count, nodegroup=WORKERS)
            self.waiter.until_counted(cluster['uuid'], WORKERS, count)

        cluster = self.waiter.until_updated(
            cluster['uuid'], before, workers + 1)
        self.assert_usable(cluster, workers + 1)
        self.assert_machines(cluster, masters + workers + 1)
