# SPDX-License-Identifier: Apache-2.0
"""Operations that exceed create_timeout, or fail temporarily, succeed.

create_timeout is a minute here, the minimum of Magnum.
"""

import typing

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

#: Minutes.
CREATE_TIMEOUT = 1

#: Seconds: longer than drivers leave a failure to self-healing in a sandbox
#: (failure_patience of k8s_capi_v1).
OLD = 25

FAILURE = 'failed by a test'


#: Of machines that are slow to come and to go.
LATE = 'fault_flavors.late'


def request_short_cluster(case: type[operations.BaseOperationsTest],
                          **template: typing.Any) -> str:
    """Request a cluster with the shortest create_timeout, for a class."""
    uuid = case.request_class_cluster(
        case.create_class_template(**template), create_timeout=CREATE_TIMEOUT)
    # Resources created for it are not a leak of the current test.
    with case.explained([uuid]):
        case.new_waiter().until_handed_over(uuid)
    return uuid


def create_late_group(test: operations.BaseOperationsTest,
                      cluster: json_types.Object) -> json_types.Object:
    """Request a node group whose machine is slow to become ready."""
    group: json_types.Object = test.magnum.nodegroups.create_nodegroup(
        cluster['uuid'], name='late', node_count=1,
        flavor_id=flags.value(LATE))
    return group


def assert_group_created(test: operations.BaseOperationsTest,
                         cluster: json_types.Object, group: json_types.Object
                         ) -> None:
    state = test.waiter.until_settled(cluster['uuid'], group['uuid'])
    test.assertEqual(
        ('UPDATE_COMPLETE', 'CREATE_COMPLETE'),
        (state.status, state.group_status), state.status_reason)
    test.assert_nodes_now(state.body, CONF.magnum_capi.node_count + 1)


class LateClusterTest(operations.BaseOperationsTest):
    """The workers of these clusters are slow to come and to go."""

    needs = (LATE,)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls.failing, cls.doomed = (
            request_short_cluster(
                cls, flavor_id=flags.value(LATE))
            for _ in range(2))

    @flags.needs('magnum.cluster.failed-polled')
    @flags.promise('lifecycle.cluster.failure-ends')
    @decorators.idempotent_id('5d0a6f5e-9b1f-4c3f-8d27-6c1e2f0b7a94')
    def test_a_creation_that_failed_is_complete_in_the_end(self) -> None:
        self.explain({'uuid': self.failing})
        state = self.waiter.until_settled(self.failing)
        self.assertEqual('CREATE_FAILED', state.status)

        cluster = self.until_complete(self.failing)

        self.assertEqual('CREATE_COMPLETE', cluster['status'])
        self.assert_nodes_now(cluster)

    @flags.needs('magnum.cluster.failed-polled')
    @flags.promise('lifecycle.cluster.late-deletion')
    @decorators.idempotent_id('c1f3b7d2-0e64-4a58-9f8b-3b7d5e2a9c16')
    def test_a_deletion_takes_as_long_as_it_needs(self) -> None:
        self.explain({'uuid': self.doomed})
        # Machines that do not exist yet would be deleted quickly.
        self.until_complete(self.doomed)
        before = self.waiter.before(self.doomed)

        self.magnum.clusters.delete_cluster(self.doomed)

        self.waiter.until_deleted(self.doomed, before)


@flags.promise('lifecycle.cluster.complete-means-ready')
class LateGroupTest(operations.BaseOperationsTest):

    needs = (LATE,)

    @decorators.idempotent_id('8e2b4c90-7d15-4f6a-b3c8-d94f1a60e75b')
    def test_an_update_takes_as_long_as_it_needs(self) -> None:
        uuid = request_short_cluster(type(self))
        self.explain({'uuid': uuid})
        cluster = self.until_complete(uuid)

        group = create_late_group(self, cluster)

        assert_group_created(self, cluster, group)


@flags.promise('resilience.machine.late-failure')
class MachineFailsTest(operations.BaseOperationsTest):

    needs = (*remediation.NEEDS, LATE)

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        # So that the failure lasts long enough to be seen.
        cls.cluster = cls.create_class_cluster(cls.create_class_template(
            labels={**CONF.magnum_capi.labels,
                    'auto_healing_enabled': 'false'}))

    @decorators.idempotent_id('2f96d0a3-5c7e-4b81-a64d-0f8e3c95b172')
    def test_a_machine_that_fails_late_is_left_to_be_replaced(self) -> None:
        lost, _ = remediation.Machines(self.cluster).running()
        group = create_late_group(self, self.cluster)
        uuid = self.cluster['uuid']
        waiters.until_over(
            OLD, lambda: self.waiter.observe(uuid), waiters.ended_early(),
            'the update to stay in progress')

        remediation.management().fail_machine(lost.path, FAILURE)
        # Until Magnum reports the failure, or the update is over.
        self.until(
            uuid, lambda state: not state.trouble and (
                FAILURE in (state.status_reason or '')
                or not observations.is_in_progress(state.status)),
            'status_reason to mention the failure')
        remediation.management().delete(lost.path)

        assert_group_created(self, self.cluster, group)
