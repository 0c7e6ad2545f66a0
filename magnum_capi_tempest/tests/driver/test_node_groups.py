# SPDX-License-Identifier: Apache-2.0

"""Node groups of a running cluster, from creation to deletion."""

import uuid

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import operations

CONF = config.CONF


@flags.promise('lifecycle.node-group.life')
class NodeGroupsTest(operations.BaseOperationsTest):
    shares_cluster = True

    # Groups without nodes came with 1.10.
    min_microversion = '1.10'
    needs = (flags.RESIZE,)

    def assert_more_nodes(self, count: int) -> None:
        """Assert this many nodes in addition to the default ones."""
        masters = CONF.magnum_capi.master_count
        workers = CONF.magnum_capi.node_count + count
        self.assert_usable(self.cluster, workers)
        self.assert_machines(self.cluster, masters + workers)

    @decorators.idempotent_id('db5ff19e-8d8d-4008-b267-eb17f2b4675d')
    def test_create_resize_delete(self) -> None:
        group = self.create_group(
            self.cluster, name='more', node_count=1, min_node_count=0)
        self.assertEqual(
            ('more', 'worker', 1, False),
            tuple(group[key] for key in
                  ('name', 'role', 'node_count', 'is_default')))
        self.assert_more_nodes(1)

        for count in (0, 2):
            self.resize_cluster(self.cluster, count, group['uuid'])
            self.assert_more_nodes(count)

        self.delete_group(self.cluster, group)
        self.assert_more_nodes(0)

    @flags.promise('lifecycle.node-group.labels-and-taints')
    @decorators.idempotent_id('2bf8b222-247c-4ad0-abe8-a4b3a0f812b1')
    def test_labels_and_taints(self) -> None:
        self.require_microversions(microversions.NODE_LABELS)
        # Two nodes: each must have them.
        group = self.create_group(
            self.cluster, name='marked', node_count=2,
            microversion=microversions.NODE_LABELS,
            node_labels={'example.com/disk': 'fast'},
            node_taints=[{'key': 'example.com/gpu', 'value': 'yes',
                          'effect': 'NoSchedule'}])
        self.addCleanup(self.delete_group, self.cluster, group)
        self.assert_more_nodes(2)

        marked = [node for node in self.read_nodes(self.cluster).nodes
                  if node.labels.get('example.com/disk') == 'fast']

        self.assertEqual(
            [True, True], [('example.com/gpu', 'yes', 'NoSchedule')
                           in node.taints for node in marked])


@flags.promise('lifecycle.cluster.any-name')
class HardNamesTest(operations.BaseOperationsTest):
    """Names that are valid for Magnum, but not for Kubernetes."""

    @decorators.idempotent_id('79b50f04-e63e-44b0-8029-477e24c494df')
    def test_cluster(self) -> None:
        # Drivers truncate names, so that a hyphen may become the last
        # character in front of another hyphen: magnum-capi-helm does so at 30.
        name = f'N{uuid.uuid4().hex[:28]}-._--odd_'

        cluster = self.create_cluster(self.create_template(), name=name)

        self.assertEqual(name, cluster['name'])
        self.assert_usable(cluster)

    @decorators.idempotent_id('1d6da142-9461-47b0-bb49-4084b9e05b32')
    def test_node_groups(self) -> None:
        # Short; equal except for characters that Kubernetes forbids; not
        # ASCII; long: a driver may look for a machine deployment whose name
        # its chart truncated, as magnum-capi-helm and capi-helm-charts do at
        # 63.
        names = ('x', 'A_b', 'a-b', 'gr\u00f6\u00dfe 1', 'long' * 20)
        cluster = self.create_cluster(self.create_template())

        groups = [self.create_group(cluster, name=name, node_count=1)
                  for name in names]

        self.assertEqual(names, tuple(group['name'] for group in groups))
        self.assert_usable(cluster, CONF.magnum_capi.node_count + len(names))
