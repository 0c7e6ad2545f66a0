# SPDX-License-Identifier: Apache-2.0

"""Node groups that are deleted behind Magnum's back."""

from tempest.lib import decorators

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common.management import remediation
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.common import waiters
from magnum_capi_tempest.tests.driver import test_cluster_health

WORKERS = operations.WORKERS


@flags.promise('resilience.group.lost-shown')
class LostGroupTest(operations.BaseOperationsTest):

    # Magnum shows health to an admin; see wait_for_health.
    credentials = ['primary', 'admin']
    needs = (*remediation.NEEDS, flags.RESIZE)

    @decorators.idempotent_id('a21c9dd0-9326-479e-bc5d-bf23b5382cf5')
    def test_it_is_shown_and_a_resize_brings_it_back(self) -> None:
        cluster = self.create_cluster(self.create_template())
        test_cluster_health.wait_for_health(self, cluster, 'HEALTHY')
        before = self.waiter.before(cluster['uuid'], WORKERS)
        lost, = self.deployments(cluster)

        remediation.management().delete(lost.path)

        self.assert_shown_or_back(cluster, lost)
        workers = before.group['node_count'] + 1
        self.magnum.clusters.resize_cluster(
            cluster['uuid'], node_count=workers, nodegroup=WORKERS)
        cluster = self.waiter.until_updated(cluster['uuid'], before, workers)
        self.assert_usable(cluster, workers)
        test_cluster_health.wait_for_health(self, cluster, 'HEALTHY')

    def deployments(self, cluster: json_types.Object
                    ) -> list[capi_objects.Found]:
        return [found for found in remediation.management().objects(
            observations.stack_id(cluster), ('MachineDeployment',))
            if not found.going]

    def assert_shown_or_back(self, cluster: json_types.Object,
                             lost: capi_objects.Found) -> None:
        """Wait until health names the group, or it is there again.

        With a ClusterClass, Cluster API makes it again within seconds.
        """
        def observe() -> tuple[bool, object, str]:
            body = self.new_waiter(self.admin_magnum).observe(
                cluster['uuid']).cluster or {}
            back = any(found.body['metadata']['uid']
                       != lost.body['metadata']['uid']
                       for found in self.deployments(cluster))
            return (back, body.get('health_status'),
                    str(body.get('health_status_reason')))

        waiters.until(
            observe, lambda seen: seen[0] or (
                seen[1] == 'UNHEALTHY' and WORKERS in seen[2]),
            f'cluster {cluster["uuid"]} to be UNHEALTHY, and its '
            f'health_status_reason to name {WORKERS}, which was deleted',
            describe=lambda seen: f'{seen[1]} {seen[2]}')
