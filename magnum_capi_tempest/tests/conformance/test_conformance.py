# SPDX-License-Identifier: Apache-2.0


"""Do Magnum's clusters conform to Kubernetes, and stay conformant?"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import conformance
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


@flags.promise('lifecycle.cluster.conformance')
class ConformanceTest(operations.BaseOperationsTest):

    needs = ('conformance_plan',)

    @decorators.attr(type='conformance')
    @decorators.idempotent_id('d3a29b0e-60b4-4f0c-9c5e-2e1f6a7c8d41')
    def test_conformance(self) -> None:
        cluster = self.create_cluster(self.create_template())
        # Other tests judge whether a complete cluster has all of its nodes.
        self.assert_usable(cluster)

        self.useFixture(conformance.Inside(self)).assert_conforms(cluster)


@flags.promise('lifecycle.cluster.conformance')
class ConformanceLifeTest(operations.BaseOperationsTest):
    """A cluster conforms and serves, whatever happens to it."""

    needs = ('conformance_plan', 'upgrade_image_id', flags.RESIZE,
             'workload_api')
    # Nodes are created for an upgrade and for a node group, and the
    # conformance tests run twice.
    TIMEOUT_SCALING_FACTOR = 6

    @decorators.attr(type='conformance')
    @decorators.idempotent_id('7c2f4f0a-6f0b-4b0e-9a53-3f1f0b7a9c64')
    def test_life(self) -> None:
        workers = CONF.magnum_capi.node_count
        inside = self.useFixture(conformance.Inside(self))
        # Both are created before the cluster, and so deleted after it.
        older = self.create_template()
        newer = self.create_template(
            **factories.upgrade_changes(CONF))
        with inside.phase('create'):
            cluster = self.create_cluster(older)
            self.assert_usable(cluster, workers)

        with inside.phase('workload'):
            workload = inside.start_workload(cluster)
            inside.assert_serves(workload)
        with inside.phase('conformance'):
            inside.assert_conforms(cluster, 'created')

        with inside.phase('upgrade'), inside.answering(workload):
            upgraded = self.with_new_version(
                self.upgrade_cluster(cluster, newer))
            self.assert_usable(upgraded, workers)
        self.assertNotEqual(cluster['coe_version'], upgraded['coe_version'])
        inside.assert_serves(workload)
        with inside.phase('conformance after the upgrade'):
            inside.assert_conforms(upgraded, 'upgraded')

        with inside.phase('node group added'):
            group = self.create_group(upgraded, name='more', node_count=1)
            self.assert_usable(upgraded, workers + 1)
            inside.assert_serves(workload)
        with inside.phase('node group removed'):
            self.delete_group(upgraded, group)
            self.assert_usable(upgraded, workers)
            inside.assert_serves(workload)

        with inside.phase('delete'):
            # Leftovers fail this test, like every other one.
            self.delete_cluster(upgraded)
