# SPDX-License-Identifier: Apache-2.0

"""A change of one node group does not affect the others.

Counting the nodes of a cluster is not enough: a driver that mixes up two
groups keeps the sum.
"""

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


@flags.promise('lifecycle.node-group.apart')
class NodeGroupsApartTest(operations.BaseOperationsTest):
    shares_cluster = True

    # Groups without nodes came with 1.10.
    min_microversion = '1.10'
    needs = (flags.RESIZE, 'workload_api')

    def wait_for_nodes(self, count: int) -> set[str]:
        """Wait for this many additional nodes; return the names of all."""
        self.assert_usable(self.cluster, CONF.magnum_capi.node_count + count)
        return {node.name for node in self.read_nodes(self.cluster).nodes}

    @decorators.idempotent_id('efbe4ec9-a8b5-4ea5-8c35-2faf863a5653')
    def test_a_resize_leaves_the_nodes_of_others_alone(self) -> None:
        others = self.wait_for_nodes(0)
        group = self.create_group(
            self.cluster, name='apart', node_count=2, min_node_count=0)
        self.addCleanup(self.delete_group, self.cluster, group)
        self.assertEqual(set(), others - self.wait_for_nodes(2),
                         'Nodes of other groups are gone')

        self.resize_cluster(self.cluster, 0, group['uuid'])

        self.assertEqual(others, self.wait_for_nodes(0),
                         'Nodes of other groups are gone')
