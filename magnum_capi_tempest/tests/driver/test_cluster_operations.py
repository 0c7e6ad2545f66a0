# SPDX-License-Identifier: Apache-2.0

"""Owners' operations on a running cluster, which must keep working."""

from tempest import config
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

WORKERS = operations.WORKERS


class SharedClusterTest(operations.BaseOperationsTest):
    """Changes that a cluster survives; all tests share one."""

    shares_cluster = True

    def setUp(self) -> None:
        super().setUp()
        if flags.can_resize():
            self.addCleanup(self.restore_size)

    def resize(self, workers: int) -> None:
        """Resize, and check the number of nodes and machines."""
        masters = CONF.magnum_capi.master_count
        cluster = self.resize_cluster(self.cluster, workers, WORKERS)
        self.assert_usable(cluster, workers)
        self.assert_machines(cluster, masters + workers)

    @flags.promise('lifecycle.resize.workers')
    @decorators.idempotent_id('fffac141-434b-46d8-acd9-dc9967d0ca37')
    def test_resize_up_and_down(self) -> None:
        workers = CONF.magnum_capi.node_count

        self.resize(workers + 2)
        self.resize(workers)

    def named_workers(self) -> dict[str, str]:
        """Return what Magnum's API names workers by: by their own names.

        That is the id of the server (nodes_to_remove in
        api-ref/source/parameters.yaml of Magnum).
        """
        return {node.name: node.server or node.name
                for node in self.read_nodes(self.cluster).nodes
                if not node.control_plane}

    @flags.needs(flags.RESIZE, 'workload_api')
    @flags.promise('lifecycle.resize.named-nodes')
    @decorators.idempotent_id('e6c34742-23da-407d-b8d9-97d55a497be7')
    def test_resize_removes_the_nodes_that_it_names(self) -> None:
        workers = CONF.magnum_capi.node_count
        self.resize(workers + 3)
        workers_before = self.named_workers()
        # With so few of so many, a hit by chance is unlikely.
        going = sorted(workers_before)[1:3]
        before = self.waiter.before(self.cluster['uuid'], WORKERS)

        self.magnum.clusters.resize_cluster(
            self.cluster['uuid'], node_count=workers + 1, nodegroup=WORKERS,
            nodes_to_remove=[workers_before[name] for name in going])

        self.waiter.until_updated(self.cluster['uuid'], before, workers + 1)
        self.assert_usable(self.cluster, workers + 1)
        self.assert_removed(going, workers_before)
        self.resize(workers)

    @decorators.attr(type='negative')
    @flags.needs(flags.RESIZE, 'workload_api')
    @flags.promise('lifecycle.resize.named-nodes')
    @decorators.idempotent_id('2c4825f8-5bf1-4e3c-a42e-6803a5c18cea')
    def test_a_resize_that_was_refused_takes_no_node_later(self) -> None:
        workers = CONF.magnum_capi.node_count
        self.resize(workers + 2)
        workers_before = self.named_workers()
        # Of machines with the same mark, Cluster API removes the first.
        spared, *_, going = sorted(workers_before)
        self.refused_resize(workers, [workers_before[spared], 'nobody'])
        before = self.waiter.before(self.cluster['uuid'], WORKERS)

        self.magnum.clusters.resize_cluster(
            self.cluster['uuid'], node_count=workers + 1, nodegroup=WORKERS,
            nodes_to_remove=[workers_before[going]])

        self.waiter.until_updated(self.cluster['uuid'], before, workers + 1)
        self.assert_usable(self.cluster, workers + 1)
        self.assert_removed([going], workers_before)
        self.resize(workers)

    def assert_removed(self, going: list[str], names: dict[str, str]) -> None:
        """Check that a resize has removed the nodes that it named.

        :param going: their names.
        :param names: :meth:`named_workers` before it.
        """
        gone = names.keys() - self.named_workers().keys()
        self.assertEqual(
            set(going), gone, f'the resize was to remove {sorted(going)}, '
            f'and {sorted(gone)} are gone')

    def refused_resize(self, count: int, nodes: list[str]) -> None:
        """Request a resize that must fail, and wait until it has."""
        try:
            self.magnum.clusters.resize_cluster(
                self.cluster['uuid'], node_count=count, nodegroup=WORKERS,
                nodes_to_remove=nodes)
        except lib_exc.BadRequest:
            return
        self.until(self.cluster['uuid'],
                   lambda state: state.status == 'UPDATE_FAILED',
                   f'a resize that names {nodes[-1]} to be refused')

    @flags.promise('lifecycle.resize.node-count')
    @decorators.idempotent_id('a7d2c2a7-b392-41c7-ba15-20897bc80e70')
    def test_update_node_count(self) -> None:
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count

        for count in (workers + 1, workers):
            before = self.waiter.before(self.cluster['uuid'], WORKERS)
            self.magnum.clusters.update_cluster(
                self.cluster['uuid'], [{
                    'op': 'replace', 'path': '/node_count', 'value': count}])
            cluster = self.waiter.until_updated(
                self.cluster['uuid'], before, count)
            self.assert_usable(cluster, count)
            self.assert_machines(cluster, masters + count)

    @flags.promise('lifecycle.credential.rotation')
    @decorators.idempotent_id('7af0be99-f0de-4a71-9232-1690d44ba231')
    def test_rotate_credential(self) -> None:
        self.require_microversions(microversions.CREDENTIALS)
        old = self.application_credentials_of(self.cluster)
        self.assertNotEqual(
            [], old, 'no application credential of the owner has the uuid of '
            f'the cluster, {self.cluster["uuid"]}, in its name')
        before = self.waiter.before(self.cluster['uuid'], WORKERS)

        self.magnum.clusters.rotate_credential(
            self.cluster['uuid'], microversion=microversions.CREDENTIALS)

        waiters.until(
            lambda: self.application_credentials_of(self.cluster),
            lambda found: (len(found) == len(old)
                           and not set(found) & set(old)),
            f'as many application credentials as before, and not {old}')
        state = self.waiter.until_settled(self.cluster['uuid'], WORKERS)
        self.assertRegex(state.status, '_COMPLETE$')
        workers = before.group['node_count']
        self.assert_usable(state.body, workers)
        if flags.can_resize():
            self.resize(workers + 1)
            self.resize(workers)


@flags.promise('lifecycle.authority.rotation-safe')
class RotateAuthorityTest(operations.BaseOperationsTest):
    """Rotation of the CA needs its own cluster, as it may destroy it."""

    @decorators.idempotent_id('f4fbe34c-a5fc-4f37-95eb-908fdc35fa97')
    def test_the_cluster_can_be_used_afterwards(self) -> None:
        cluster = self.create_cluster(self.create_template())

        try:
            self.magnum.certificates.rotate_ca_certificate(cluster['uuid'])
        except lib_exc.ClientRestClientException:
            # Refused. In that case nothing may have changed.
            pass

        # If the driver refuses it, Magnum itself sets UPDATE_FAILED
        # (magnum/conductor/handlers/ca_conductor.py, rotate_ca_certificate).
        self.waiter.until_settled(cluster['uuid'])
        workers = CONF.magnum_capi.node_count
        self.assert_usable(cluster, workers)
        if flags.can_resize():
            cluster = self.resize_cluster(cluster, workers + 1, WORKERS)
            self.assert_usable(cluster, workers + 1)

    @flags.needs('magnum.cluster.failed-polled')
    @flags.promise('lifecycle.authority.refusal-passes')
    @decorators.idempotent_id('19a09d61-f46e-44c6-9f0b-9f3b6376949c')
    def test_a_refusal_is_no_failure_of_the_cluster(self) -> None:
        cluster = self.create_cluster(self.create_template())

        try:
            self.magnum.certificates.rotate_ca_certificate(cluster['uuid'])
        except lib_exc.ClientRestClientException:
            pass
        else:
            self.waiter.until_settled(cluster['uuid'])
            self.skipTest('The driver rotates certificate authorities')

        # Magnum itself sets UPDATE_FAILED first, see above.
        self.until_complete(cluster['uuid'])


@flags.promise('lifecycle.cluster.three-masters')
class ThreeMastersTest(operations.BaseOperationsTest):

    needs = ('three_masters',)

    @decorators.idempotent_id('48e0beec-282c-4e8c-bc97-fe7b0ecf0d4b')
    def test_create_and_delete(self) -> None:
        workers = CONF.magnum_capi.node_count

        cluster = self.create_cluster(
            self.create_template(master_lb_enabled=True), master_count=3)
        self.assertEqual((3, workers),
                         (cluster['master_count'], cluster['node_count']))
        self.assert_usable(cluster, workers, masters=3)
        self.assert_machines(cluster, 3 + workers)

        self.delete_cluster(cluster)
        self.assert_nothing_left_in_management_cluster(cluster)
