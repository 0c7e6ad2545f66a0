# SPDX-License-Identifier: Apache-2.0

"""Cloud resources that Kubernetes requests are created, and cleaned up.

For nodes that are servers of the cloud: see real_nodes. The resources of the
cloud provider also need pods: where there are none, network.service is in
not_promised.
"""

from tempest import config
from tempest.lib.common.utils import test_utils
from tempest.lib import decorators

from magnum_capi import errors
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import cloud
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: Labels of the cluster, unless the option labels has others: the driver must
#: delete a volume when its claim is deleted.
_RECLAIM = {'csi_cinder_reclaim_policy': 'Delete'}


NEEDS = ('real_nodes', 'workload_api')


def things(case: type[operations.BaseOperationsTest], kind: str
           ) -> frozenset[model.Thing]:
    """Return what the project of a class has of a kind.

    :raises skipException: the cloud does not list it.
    """
    who = case.os_primary.credentials
    found = listing.of_user(
        cloud.getter(case.os_primary, case.magnum), who.user_id,
        who.project_id, {kind})
    if kind in found.unread:
        raise case.skipException(
            f'{kind}s cannot be listed: {found.unread[kind]}')
    return found.things


def wait_for_named(case: type[operations.BaseOperationsTest], kind: str,
                   word: str, count: int, timeout: float | None = None
                   ) -> list[model.Thing]:
    """Wait for this many things with a word in their names.

    The project may be that of others, whose things come and go.

    :param timeout: see :func:`.waiters.until`.
    """
    return waiters.until(
        lambda: sorted(thing for thing in things(case, kind)
                       if word in thing.name),
        lambda found: len(found) == count,
        f'{count} of kind {kind} named after {word}',
        timeout=timeout, describe=operations.listed)


class OpenStackNodesTest(operations.BaseOperationsTest):
    """All tests share a cluster; leftovers are deleted with it."""

    needs = NEEDS

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.cluster = cls.create_class_cluster(cls.create_class_template(
            labels={**_RECLAIM, **CONF.magnum_capi.labels}))
        # Cluster API replaces a server only after it has learned of it. Some
        # drivers report complete clusters before that.
        cls.until(
            cls.cluster['uuid'], lambda state: state.cluster and (
                state.cluster.get('health_status') != 'UNHEALTHY'),
            f'cluster {cls.cluster["uuid"]} not to be UNHEALTHY')

    def setUp(self) -> None:
        super().setUp()
        self.inside = self.workload(self.cluster)

    @flags.promise('network.node.ports')
    @decorators.idempotent_id('8902ec7e-a2c7-46c5-9627-f14d8814c17c')
    def test_nodes_have_ports(self) -> None:
        self.assert_usable(self.cluster)
        nodes = self.read_nodes(self.cluster).nodes

        self.assertEqual([], [node.name for node in nodes if not node.server],
                         'Nodes that are not servers of OpenStack')
        ports = self.os_primary.ports_client
        networks = {
            node.name: {port['network_id'] for port in ports.list_ports(
                device_id=node.server)['ports']}
            for node in nodes}
        own = self.network_of_cluster()
        shared = {own} if own else set.intersection(*networks.values())
        self.assertNotEqual(
            set(), shared, f'No network is that of all nodes: {networks}')
        self.assertEqual(
            [], [node for node, its in networks.items() if not shared <= its],
            f'Nodes whose servers have no port on network {own}: {networks}')

    def network_of_cluster(self) -> str | None:
        """Return the id of the network that the provider has chosen."""
        if not self.management:
            self.not_checked('which network nodes are on',
                             'management_kubeconfig')
            return None
        found = [body.get('status') or {} for _, body in
                 self.management.bodies(
                     ('OpenStackCluster',),
                     observations.stack_id(self.cluster))]
        return next((status['network']['id'] for status in found
                     if status.get('network')), None)

    @flags.promise('resilience.node.replaced')
    @decorators.idempotent_id('7bf3440f-cca1-4eb3-9606-e47bc5c29c60')
    def test_a_server_that_is_deleted_is_replaced(self) -> None:
        state = self.read_nodes(self.cluster)
        workers = [node for node in state.nodes if not node.control_plane]
        self.assertNotEqual([], workers, f'There is no worker, but: {state}')
        lost = workers[0]

        self.os_primary.servers_client.delete_server(lost.server)

        waiters.until(
            lambda: self.read_nodes(self.cluster),
            lambda state: state.nodes and lost.server not in {
                node.server for node in state.nodes},
            f'node {lost.name} to go with its server {lost.server}')
        self.assert_unaffected(self.cluster)

    @flags.promise('network.service.volume')
    @decorators.idempotent_id('3209b8dd-fefb-4fce-af87-66033a62f729')
    def test_a_volume_comes_and_goes(self) -> None:
        things(type(self), model.VOLUME)

        name = capi_objects.new_name('claim')
        self.addCleanup(self.inside.delete_claim, name)
        uid = self.inside.create_claim(name)
        # Volumes are created for the first pod that uses them.
        self.addCleanup(self.inside.delete_pod, name)
        self.inside.create_pod(name, claim=name)

        wait_for_named(type(self), model.VOLUME, uid, 1)
        self.inside.delete_pod(name)
        self.inside.delete_claim(name)
        wait_for_named(type(self), model.VOLUME, uid, 0)


@flags.promise('network.service.balancer')
class BalancersTest(operations.BaseOperationsTest):
    """Whether all go with the cluster is checked at the end of the class.

    Promises that other tests judge must not fail for it.
    """

    needs = NEEDS

    #: Part of the names of load balancers that may be left.
    left = ''

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # Before the cluster, so that it runs after its deletion, or when that
        # has failed: a load balancer that stays keeps the network.
        cls.addClassResourceCleanup(cls.remove_balancers)
        cls.cluster = cls.create_class_cluster(cls.create_class_template())

    @classmethod
    def remove_balancers(cls) -> None:
        """Delete what outlived its cluster, and fail for it."""
        if not cls.left:
            return
        try:
            wait_for_named(
                cls, model.BALANCER, cls.left, 0, timeout=watch.COLLECTED)
        except errors.WaitTimeout as e:
            client = cloud.octavia(cls.os_primary, cls.magnum.clusters.region)
            for thing in e.state:
                test_utils.call_and_ignore_notfound_exc(
                    client.delete, f'v2.0/lbaas/loadbalancers/{thing.ident}'
                    '?cascade=true')
            raise
        except cls.skipException:
            # The class says at its end that it could not list them.
            return

    def setUp(self) -> None:
        super().setUp()
        self.inside = self.workload(self.cluster)

    @decorators.idempotent_id('236dfd4a-8f70-424d-9d6e-8d582a948bf6')
    def test_a_load_balancer_comes_and_goes(self) -> None:
        things(type(self), model.BALANCER)

        # The name of its load balancer ends with that of the service.
        name = capi_objects.new_name('service')
        self.addCleanup(self.inside.delete_service, name)
        self.inside.create_service(name)

        wait_for_named(type(self), model.BALANCER, name, 1)
        waiters.until(lambda: self.inside.balancer_address(name), bool,
                      f'service {name} to have an address')
        self.inside.delete_service(name)
        wait_for_named(type(self), model.BALANCER, name, 0)

    @decorators.idempotent_id('c95cf11e-8e04-4de5-a622-4848f776a690')
    def test_a_load_balancer_goes_with_its_cluster(self) -> None:
        # The class checks for it when its cluster is gone.
        things(type(self), model.BALANCER)
        name = capi_objects.new_name('service')
        type(self).left = name

        self.inside.create_service(name)

        wait_for_named(type(self), model.BALANCER, name, 1)
