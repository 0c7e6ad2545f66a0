# SPDX-License-Identifier: Apache-2.0

"""Lost machines and nodes are replaced, and others stay.

The tests follow the specs md_remediations, kcp_remediations and node_drain of
Cluster API's own end-to-end tests, through Magnum.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

WORKERS = operations.WORKERS

#: When it drains a node, Cluster API waits for pods with this label (its book,
#: "Machine deletions").
WAITED_FOR = {'cluster.x-k8s.io/drain': 'wait-completed'}

#: Seconds for which a pod holds up a resize: more than one status tick.
HELD = 15


class WorkersTest(operations.BaseOperationsTest):
    """All tests share a cluster, whose workers they delete."""

    shares_cluster = True
    needs = (*remediation.NEEDS, 'workload_api')

    def setUp(self) -> None:
        super().setUp()
        self.machines = remediation.Machines(self.cluster)
        self.workers = CONF.magnum_capi.node_count
        if flags.can_resize():
            self.addCleanup(self.restore_size)

    def assert_replaced(self, lost: capi_objects.Machine, before: set[str]
                        ) -> None:
        came = self.machines.until_replaced(lost, before)
        self.assertNotEqual(lost.node, came.node)
        self.assert_unaffected(self.cluster)

    @flags.promise('resilience.machine.comes-back')
    @decorators.idempotent_id('bd7c8492-2428-4644-b83d-9f925dee05b0')
    def test_a_machine_that_is_deleted_comes_back(self) -> None:
        lost, before = self.machines.running()

        self.machines.api.delete(lost.path)

        self.assert_replaced(lost, before)

    @flags.promise('resilience.node.replaced')
    @decorators.idempotent_id('e00fe04e-3af5-4078-a7bb-4620761a41c1')
    def test_a_node_that_fails_is_replaced(self) -> None:
        lost, before = self.machines.running()

        self.machines.fail_until_noticed(lost, self.workload(self.cluster))

        self.assert_replaced(lost, before)

    @flags.promise('resilience.node.replaced')
    @decorators.idempotent_id('de65094e-2152-4243-8305-e4fd8abfb0b3')
    def test_a_node_that_is_deleted_is_replaced(self) -> None:
        lost, before = self.machines.running()

        self.workload(self.cluster).delete_node(lost.node)

        self.assert_replaced(lost, before)

    @flags.needs(flags.RESIZE)
    @flags.promise('lifecycle.resize.drain-awaited')
    @decorators.idempotent_id('e56852bb-38b5-471e-bf23-3737d765b3f0')
    def test_a_resize_waits_for_the_drain(self) -> None:
        self.resize_cluster(self.cluster, self.workers + 1, WORKERS)
        inside = self.workload(self.cluster)
        # It is unknown which node will go, so there is a pod on each.
        pods = self.create_pods(inside)
        before = self.waiter.before(self.cluster['uuid'], WORKERS)

        self.magnum.clusters.resize_cluster(
            self.cluster['uuid'], node_count=self.workers, nodegroup=WORKERS)

        going = self.wait_for_one_to_go()
        self.assert_held(going)
        for pod in pods:
            self.assertTrue(inside.has_pod(pod), f'{pod} was evicted')
            inside.delete_pod(pod)
        cluster = self.waiter.until_updated(
            self.cluster['uuid'], before, self.workers)
        self.assert_nodes_now(cluster)

    def create_pods(self, inside: capi_objects.Workload) -> list[str]:
        pods = []
        for machine in self.machines.all():
            if not machine.control_plane:
                pods.append(capi_objects.new_name('held'))
                self.addCleanup(inside.delete_pod, pods[-1])
                inside.create_pod(pods[-1], machine.node, WAITED_FOR)
        return pods

    def wait_for_one_to_go(self) -> capi_objects.Machine:
        machines = waiters.until(
            self.machines.all, lambda found: any(m.going for m in found),
            'a machine to go', describe=operations.listed)
        return next(m for m in machines if m.going)

    def assert_held(self, going: capi_objects.Machine) -> None:
        """Assert that a machine stays for some time, and Magnum shows it."""
        ended = waiters.ended_early()

        def wrong(state: observations.Observation) -> str | None:
            if going.name not in self.machines.names():
                return f'{going.name} is gone, with a pod on its node'
            return ended(state)

        last = waiters.until_over(
            HELD, lambda: self.waiter.observe(self.cluster['uuid'], WORKERS),
            wrong, f'{going.name} to stay as long as a pod holds it')
        self.assertEqual('UPDATE_IN_PROGRESS', last.status)

    @flags.needs(flags.RESIZE)
    @flags.promise('lifecycle.node-group.apart')
    @decorators.idempotent_id('c177bf16-1976-4f99-9d5a-7cb5adba2aed')
    def test_others_stay_when_groups_come_and_go(self) -> None:
        # One may still be going because an earlier test has failed.
        self.assert_machines(self.cluster, sum(self.sizes()))
        names = self.machines.names()

        group = self.create_group(self.cluster, node_count=1)
        self.resize_cluster(self.cluster, 2, group['uuid'])
        self.delete_group(self.cluster, group)

        self.assert_machines(self.cluster, sum(self.sizes()))
        self.assertEqual(names, self.machines.names())


@flags.promise('resilience.node.replaced')
class ControlPlaneTest(operations.BaseOperationsTest):
    """A control plane of three nodes survives the loss of one."""

    needs = (*remediation.NEEDS, 'three_masters', 'workload_api')

    @decorators.idempotent_id('eab64fd5-b099-4d4d-b678-8f5ad9b702ef')
    def test_nodes_that_fail_or_are_deleted_are_replaced(self) -> None:
        workers = CONF.magnum_capi.node_count
        cluster = self.create_cluster(
            self.create_template(master_lb_enabled=True), master_count=3)

        machines = remediation.Machines(cluster)
        lost, before = machines.running(control_plane=True)
        machines.fail_until_noticed(lost, self.workload(cluster))
        machines.until_replaced(lost, before)
        self.assert_unaffected(cluster, workers, masters=3)

        lost, before = machines.running(control_plane=True)
        machines.api.delete(lost.path)
        machines.until_replaced(lost, before)
        self.assert_unaffected(cluster, workers, masters=3)
