# SPDX-License-Identifier: Apache-2.0

"""Defects of the size of clusters and of their node groups.

These drivers lose their memory when Magnum restarts, and then do not show
their defect with older clusters.
"""

from magnum.common import exception
from magnum import objects

from magnum_capi_defects import taps

#: Annotation of a Machine that is removed first.
MARK = f'{taps.CAPI}/delete-machine'


@taps.seen_by('SharedClusterTest.test_resize_up_and_down',
              '1 control plane nodes and 3 workers')
class ResizeIgnored(taps.Ignoring):
    """A resize is complete without any change of nodes."""

    def resize_cluster(self, context, cluster, *args, **kwargs):
        self.ignore(cluster)


@taps.seen_by('SharedClusterTest.test_update_node_count',
              '1 control plane nodes and 2 workers')
class NodeCountIgnored(taps.Ignoring):
    """An update of node_count is complete without any change of nodes."""

    def update_cluster(self, context, cluster, *args, **kwargs):
        self.ignore(cluster)


@taps.seen_by('AutoscalingTest.'
              'test_a_resize_counts_and_the_autoscaler_goes_on',
              'to be updated|1 control plane nodes and')
class AutoscaledResizeIgnored(taps.Ignoring):
    """A resize of an autoscaled node group is complete without effect."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        if nodegroup is not None and nodegroup.max_node_count:
            self.ignore(cluster)
        else:
            super().resize_cluster(context, cluster, resize_manager,
                                   node_count, nodes_to_remove, nodegroup)


@taps.seen_by('NodeGroupsApartTest.'
              'test_a_resize_leaves_the_nodes_of_others_alone', 'are gone')
class WrongGroup(taps.Tapped):
    """Each group of workers has the size that the next one should have."""

    def sees(self, method, cluster, row):
        if taps.is_worker(row) and not row.status.startswith('DELETE_'):
            groups = [group for group in objects.NodeGroup.list(
                row._context, row.cluster_id) if taps.is_worker(group)]
            groups.sort(key=lambda group: group.name)
            names = [group.name for group in groups]
            row.node_count = groups[
                (names.index(row.name) + 1) % len(groups)].node_count


@taps.seen_by('ThreeMastersTest.test_create_and_delete',
              '3 control plane nodes')
class OneMaster(taps.Tapped):
    """Every cluster has one control plane node."""

    def sees(self, method, cluster, row):
        if isinstance(row, objects.NodeGroup) and row.role == 'master':
            row.node_count = 1


@taps.seen_by('ZeroNodesTest.test_create_grow_and_shrink',
              '1 control plane nodes and 0 workers')
class NeverEmpty(taps.Tapped):
    """Every group of workers has at least one node."""

    def sees(self, method, cluster, row):
        if taps.is_worker(row):
            row.node_count = max(row.node_count, 1)


@taps.seen_by('SharedClusterTest.test_resize_removes_the_nodes_that_it_names',
              'the resize was to remove')
class NamedNodesIgnored(taps.Tapped):
    """A resize removes any nodes, not those that it names."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               (), nodegroup)


@taps.seen_by('SharedClusterTest.'
              'test_a_resize_that_was_refused_takes_no_node_later',
              'the resize was to remove')
class MarksKept(taps.Tapped):
    """Nodes named in a refused resize are removed by the next one."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        for machine in taps.of_cluster(cluster, 'machines'):
            provider = machine['spec'].get('providerID') or ''
            if provider.rpartition('/')[2] in (nodes_to_remove or ()):
                taps.kube('PATCH', taps.path_of(machine, 'machines'), {
                    'metadata': {'annotations': {MARK: 'true'}}})
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               nodes_to_remove, nodegroup)


@taps.seen_by('ResizesTest.test_the_last_of_three_counts',
              '1 control plane nodes and 2 workers')
class ResizeLost(taps.Tapped):
    """A resize during another one is accepted, but lost."""

    #: By cluster: the node group that is resized, and its new size.
    _busy = {}

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        if cluster.uuid in self._busy:
            return
        self._busy[cluster.uuid] = nodegroup.uuid, node_count
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               nodes_to_remove, nodegroup)

    def sees(self, method, cluster, row):
        group, count = self._busy.get(cluster.uuid, (None, None))
        if row.uuid == group:
            row.node_count = count

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status == 'UPDATE_COMPLETE':
            self._busy.pop(row.uuid, None)


@taps.seen_by('ResizesTest.test_the_last_of_three_counts',
              'to be updated.*node group default-worker with 3 nodes|to want .'
              ' nodes')
class RowsOverwritten(taps.Tapped):
    """A check saves the sizes that were there when an operation began."""

    #: By cluster: sizes by node group.
    _began = {}

    def resize_cluster(self, context, cluster, *args, **kwargs):
        # Before the driver waits: later requests change the rows then.
        self._began.setdefault(cluster.uuid, {
            group.uuid: group.node_count for group in cluster.nodegroups})
        super().resize_cluster(context, cluster, *args, **kwargs)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        began = self._began.get(cluster.uuid, {})
        for group in cluster.nodegroups:
            if began.get(group.uuid, group.node_count) != group.node_count:
                group.node_count = began[group.uuid]
                group.save()
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status != 'UPDATE_IN_PROGRESS':
            self._began.pop(cluster.uuid, None)


@taps.seen_by('SharedClusterTest.test_resize_up_and_down',
              'node group default-worker with 3 nodes UPDATE_IN_PROGRESS')
class GroupUnfinished(taps.Tapped):
    """A cluster is complete, but its node group is in progress forever."""

    def saves(self, method, cluster, row):
        if taps.is_worker(row) and row.status == 'UPDATE_COMPLETE':
            row.status = 'UPDATE_IN_PROGRESS'


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              '1 control plane nodes and 1 workers')
class GroupKept(taps.Ignoring):
    """A node group is deleted in Magnum, but its nodes stay."""

    def delete_nodegroup(self, context, cluster, nodegroup):
        nodegroup.destroy()
        self.ignore(cluster)


@taps.seen_by('NodeGroupsTest.test_create_resize_delete', 'to be deleted')
class GroupRowKept(taps.Tapped):
    """A node group stays in Magnum when its nodes are gone."""

    def removes(self, method, cluster, group):
        return False


@taps.seen_by('NodeGroupsTest.test_create_resize_delete', 'DELETE_FAILED')
class GroupDeletionFails(taps.Tapped):
    """Node groups cannot be deleted."""

    def delete_nodegroup(self, context, cluster, nodegroup):
        raise exception.NodeGroupNotFound(nodegroup=nodegroup.uuid)


@taps.seen_by('SharedClusterTest.test_update_node_count', 'UPDATE_FAILED')
class UpdateUnsupported(taps.Tapped):
    """Clusters cannot be updated, only resized."""

    def update_cluster(self, context, cluster, scale_manager=None,
                       rollback=False):
        raise NotImplementedError('update_cluster')


@taps.seen_by('AutoscalingTest.test_a_size_out_of_bounds_is_refused',
              'resize_cluster.*returned')
class BoundsForgotten(taps.Tapped):
    """The bounds of a new node group are those of nobody."""

    def create_nodegroup(self, context, cluster, nodegroup):
        super().create_nodegroup(context, cluster, nodegroup)
        nodegroup.min_node_count, nodegroup.max_node_count = 0, 99
        nodegroup.save()
