# SPDX-License-Identifier: Apache-2.0

"""An upgrade replaces machines a few at a time, while the API stays up.

The tests follow the specs md_rollout and kcp_md_rollout of Cluster API's own
end-to-end tests, with Magnum's max_batch_size.
"""

import time

from tempest import config
from tempest.lib import decorators

from magnum_capi import waiting
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import machine_watch
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common.management import upgrade_order
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF

WORKERS = operations.WORKERS

#: Nodes that may be replaced at once, out of twice as many.
BATCH = 2


class BaseRolloutTest(remediation.BaseManagementTest):
    """A cluster that is upgraded and observed before the tests.

    :cvar node_count: number of default workers.
    :cvar groups: bodies of additional node groups.
    :cvar before: list of capi_objects.Machine.
    :cvar seen: such lists, one for each change during the upgrade.
    """

    required_options = (*base.TEMPLATE_OPTIONS, 'management_kubeconfig',
                        'upgrade_image_id')
    groups = ()

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        old = cls.create_class_template()
        new = cls.create_class_template(
            **factories.upgrade_changes(CONF))
        cls.masters = CONF.magnum_capi.master_count
        cls.cluster = cls.create_class_cluster(
            old, node_count=cls.node_count)
        cls.stack_id = observations.stack_id(cls.cluster)
        with cls.explained([cls.cluster['uuid']]):
            for group in cls.groups:
                made = cls.magnum.nodegroups.create_nodegroup(
                    cls.cluster['uuid'], **group)
                cls.new_waiter().until_group_created(
                    cls.cluster['uuid'], made['uuid'])
            cls.before = cls.machines_in_service()
            cls.upgraded, cls.seen = cls.upgrade(new)

    @classmethod
    def machines_in_service(cls):
        """Wait until all machines are in service, and return them.

        Some drivers report complete clusters before that, which is left to the
        tests of complete-means-ready.
        """
        workers = cls.node_count + sum(
            group['node_count'] for group in cls.groups)
        return waiting.wait_for(
            lambda: cls.cluster_api.machines(cls.stack_id),
            done=lambda machines: (cls.masters, workers) == tuple(
                capi_objects.in_service(machines, control_plane)
                for control_plane in (True, False)),
            timeout=CONF.magnum_capi.build_timeout,
            describe=lambda machines: ', '.join(
                f'{machine.name} {machine.phase}' for machine in machines),
            what=f'{cls.masters + workers} machines of the cluster '
            f'{cls.cluster["uuid"]} to be running')

    @classmethod
    def upgrade(cls, template):
        """Upgrade the cluster and observe it.

        :returns: the cluster, and lists of capi_objects.Machine, one for each
            change.
        """
        uuid, waiter = cls.cluster['uuid'], cls.new_waiter()
        watch = machine_watch.MachineWatch(
            cls.cluster_api, cls.before[0].path.rpartition('/')[0],
            cls.stack_id)
        before = waiter.before(uuid, WORKERS)
        update = waiter.update(before, cls.node_count)
        cls.magnum.clusters.upgrade_cluster(
            uuid, cluster_template=template['uuid'], max_batch_size=BATCH)

        def poll():
            nonlocal update
            watch.read()
            update = update.after(
                waiter.look(uuid, WORKERS), time.monotonic())
            return update

        def over(update):
            # Some drivers report COMPLETE before anything has happened, which
            # is left to the tests of complete-means-ready.
            return update.is_over() and cls.is_replaced(watch.moments[-1])

        return waiter.outcome(waiting.wait_for(
            poll, done=over, failed=observations.Update.failure,
            timeout=CONF.magnum_capi.build_timeout, describe=str,
            what=f'cluster {uuid} to be upgraded, and its machines replaced',
            # The watch itself waits.
            pace=waiting.Pace(first=0.2, most=0.5))), watch.moments

    @classmethod
    def is_replaced(cls, machines):
        """Return whether all machines were replaced by as many others."""
        return len(machines) == len(cls.before) and not (
            {m.name for m in machines} & {m.name for m in cls.before})

    def setUp(self):
        super().setUp()
        self.explain(self.cluster)


class RolloutTest(BaseRolloutTest):

    node_count = 2 * BATCH

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('upgrade.rollout.complete')
    @decorators.idempotent_id('a5c1c1c8-b1a0-4923-a188-3596d95242ef')
    def test_all_machines_are_replaced(self):
        after = self.machines(self.cluster)

        self.assertEqual(set(), {m.name for m in after}
                         & {m.name for m in self.before})
        self.assertEqual(len(self.before), len(after))
        cluster = self.with_new_version(self.upgraded)
        self.assertEqual({cluster['coe_version']}, {m.version for m in after})
        self.assert_usable(cluster, self.masters, 2 * BATCH)

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('upgrade.rollout.control-plane-stays')
    @decorators.idempotent_id('31886a27-00f9-48e0-8b10-f85bd2afad8f')
    def test_the_control_plane_goes_on(self):
        self.assertEqual(self.masters, min(
            capi_objects.in_service(machines, True) for machines in self.seen))

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('upgrade.rollout.batch-kept')
    @decorators.idempotent_id('f6908894-7fb1-486f-816d-104627a01c2e')
    def test_no_more_workers_are_away_than_the_batch(self):
        self.assertLessEqual(BATCH, min(
            capi_objects.in_service(machines, False)
            for machines in self.seen))

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('upgrade.rollout.in-order')
    @decorators.idempotent_id('1698f242-6bf6-45db-84db-fc855e4aea70')
    def test_no_worker_is_newer_than_the_control_plane(self):
        self.assertEqual([], upgrade_order.skew(self.seen))

    @decorators.attr(type=['slow', 'life'])
    @flags.promise('upgrade.rollout.batch-used')
    @decorators.idempotent_id('d7f8709a-4cb8-4829-8350-66ec2d08e3b6')
    def test_as_many_workers_are_away_as_the_batch(self):
        self.assertEqual(BATCH, min(
            capi_objects.in_service(machines, False)
            for machines in self.seen))


@flags.promise('upgrade.rollout.in-order')
class InOrderTest(BaseRolloutTest):
    """Node groups of one node each, so any disorder interrupts workloads."""

    node_count = 1
    groups = ({'name': 'second', 'node_count': 1},)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('0b3582be-e257-4917-947f-059af325365c')
    def test_control_plane_first_then_group_by_group(self):
        self.assertEqual([], upgrade_order.disorder(self.before, self.seen))

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('4302eeb2-35b2-4479-9b32-40d0e333dc33')
    def test_no_group_is_without_a_node(self):
        fewest = upgrade_order.fewest(self.seen)

        self.assertEqual([1, 1], sorted(fewest.values()), fewest)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('54348b06-764b-4b08-97fe-85ad2d050b8e')
    def test_all_nodes_are_new_in_the_end(self):
        cluster = self.with_new_version(self.upgraded)

        self.assertEqual({cluster['coe_version']}, {
            machine.version for machine in self.machines(self.cluster)})
        self.assert_usable(cluster, self.masters, 2)
