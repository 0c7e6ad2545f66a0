# SPDX-License-Identifier: Apache-2.0

"""Defects of the size of clusters and of their node groups.

These drivers lose their memory when Magnum restarts, and then do not show
their defect with older clusters.
"""

import dataclasses
import threading

from magnum.common import exception

from magnum_capi.driver.desired import names
from magnum_capi.driver.helm import helm
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import reconcile
from magnum_capi.driver import store
from magnum_capi_defects import parts
from magnum_capi_defects import taps

_first = {}


def _as_it_was(release, counts):
    """The sizes with which node groups were created."""
    known = _first.setdefault(release, {})
    return {key: known.setdefault(key, count)
            for key, count in counts.items()}


class ResizeIgnored(parts.Seeded):
    """A resize is complete without any change of nodes."""

    StatusCheck, Helm = parts.counting(_as_it_was)


def _mixed_up(_release, counts):
    """Each group of workers has the size that the next one should have."""
    workers = sorted(counts.keys() - {parts.MASTER})
    return dict(zip(workers, (counts[key] for key in (
        *workers[1:], *workers[:1]))))


class WrongGroup(parts.Seeded):
    """A resize changes the wrong node group."""

    StatusCheck, Helm = parts.counting(_mixed_up)


class OneMaster(parts.Seeded):
    """Every cluster has one control plane node."""

    StatusCheck, Helm = parts.counting(
        lambda _release, _counts: {parts.MASTER: 1})


class NeverEmpty(parts.Seeded):
    """Every group of workers has at least one node."""

    StatusCheck, Helm = parts.counting(lambda _release, counts: {
        key: max(count, 1) for key, count in counts.items()})


class NamedNodesIgnored(parts.Seeded):
    """A resize removes any nodes, not those that it names."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               (), nodegroup)


class AutoscaledResizeIgnored(parts.Seeded):
    """A resize of an autoscaled node group is complete without effect."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        self._operations(context, cluster).change(
            group=nodegroup or cluster.default_ng_worker,
            remove=tuple(nodes_to_remove or ()))


class MarksKept(parts.Seeded):
    """Nodes named in a refused resize are removed by the next one."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        reconciler = reconcile.Reconciler(
            self._runtime(), self._store(context, cluster), cluster)
        kube = reconciler.runtime.kube
        for machine in kube.list('Machine', reconciler.namespace, {
                names.CAPI_CLUSTER_NAME: reconciler.release}):
            node = (machine.get('status') or {}).get('nodeRef') or {}
            if node.get('name') in (nodes_to_remove or ()):
                kube.mark_for_deletion(
                    reconciler.namespace, machine['metadata']['name'])
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               nodes_to_remove, nodegroup)


class _Held:
    """Sizes that do not follow Magnum's in some clusters."""

    def __init__(self):
        self._applied, self._held = {}, {}

    def __call__(self, release, counts):
        if release in self._held:
            return self._held[release]
        self._applied[release] = counts
        return counts

    def hold(self, release):
        """Keep the sizes of a cluster, whatever Magnum says from now on."""
        self._held[release] = self._applied.get(release, {})

    def let_go(self, release):
        self._held.pop(release, None)


class NodeCountIgnored(parts.Seeded):
    """An update of node_count is complete without any change of nodes."""

    _sizes = _Held()
    StatusCheck, Helm = parts.counting(_sizes)

    def update_cluster(self, context, cluster, scale_manager=None,
                       rollback=False):
        self._sizes.hold(cluster.stack_id)
        super().update_cluster(context, cluster, scale_manager, rollback)

    def resize_cluster(self, context, cluster, *args, **kwargs):
        self._sizes.let_go(cluster.stack_id)
        super().resize_cluster(context, cluster, *args, **kwargs)


class ResizeLost(parts.Seeded):
    """A resize during another one is accepted, but lost."""

    _sizes, _busy, _guard = _Held(), set(), threading.Lock()
    _Watch, Helm = parts.counting(_sizes)

    class StatusCheck(_Watch):

        def _end(self, *args):
            super()._end(*args)
            ResizeLost._busy.discard(self._cluster.uuid)

    def resize_cluster(self, context, cluster, *args, **kwargs):
        with self._guard:
            if cluster.uuid in self._busy:
                self._sizes.hold(cluster.stack_id)
                return
            self._busy.add(cluster.uuid)
            self._sizes.let_go(cluster.stack_id)
        super().resize_cluster(context, cluster, *args, **kwargs)


class GroupUnfinished(parts.Seeded):
    """A cluster is complete, but its node group is in progress forever."""

    class StatusCheck(parts.FalseVerdict):

        def told(self, rows, verdict):
            if verdict.status != 'UPDATE_COMPLETE':
                return verdict
            return dataclasses.replace(verdict, groups={
                key: dataclasses.replace(
                    group, status='UPDATE_IN_PROGRESS')
                if group.status == 'UPDATE_COMPLETE' else group
                for key, group in verdict.groups.items()})


class GroupKept(parts.Seeded):
    """A node group is deleted in Magnum, but its nodes stay."""

    _groups = {}

    class Helm(helm.Helm):

        def upgrade(self, release, chart, values, *args, **kwargs):
            known = GroupKept._groups.setdefault(release, {})
            known |= {group['name']: group for group in values['nodeGroups']}
            return super().upgrade(
                release, chart, values | {'nodeGroups': list(known.values())},
                *args, **kwargs)

    class StatusCheck(parts.FalseVerdict):

        def _wanted(self, rows):
            wanted = super()._wanted(rows)
            if wanted.operation == 'DELETE':
                return wanted
            groups = tuple(
                dataclasses.replace(group, status='UPDATE_COMPLETE')
                if group.deleting else group for group in wanted.groups)
            keys = {group.key for group in groups}
            worker = next(g for g in groups if g.role != parts.MASTER)
            return dataclasses.replace(wanted, groups=groups + tuple(
                dataclasses.replace(
                    worker, key=key, name=key, status='UPDATE_COMPLETE',
                    count=group['machineCount'])
                for key, group in GroupKept._groups.get(
                    wanted.name, {}).items() if key not in keys))

        def told(self, rows, verdict):
            if rows.operation == 'DELETE':
                return verdict
            going = [group for group in super()._wanted(rows).groups
                     if group.deleting]
            return dataclasses.replace(verdict, groups=verdict.groups | {
                group.key: verdicts.GroupVerdict('DELETE_COMPLETE', gone=True)
                for group in going})


class GroupRowKept(parts.Seeded):
    """A node group stays in Magnum when its nodes are gone."""

    class Store(store.Store):

        def destroy(self, row):
            """Nothing."""


class GroupDeletionFails(parts.Seeded):
    """Node groups cannot be deleted."""

    def delete_nodegroup(self, context, cluster, nodegroup):
        raise exception.NodeGroupNotFound(nodegroup=nodegroup.uuid)


class UpdateUnsupported(parts.Seeded):
    """Clusters cannot be updated, only resized."""

    def update_cluster(self, context, cluster, scale_manager=None,
                       rollback=False):
        raise NotImplementedError('update_cluster')


class BoundsForgotten(taps.Tapped):
    """The bounds of a new node group are those of nobody."""

    def create_nodegroup(self, context, cluster, nodegroup):
        super().create_nodegroup(context, cluster, nodegroup)
        nodegroup.min_node_count, nodegroup.max_node_count = 0, 99
        nodegroup.save()
