# SPDX-License-Identifier: Apache-2.0

"""Operations that change what they do not name, or show it too early."""

from magnum_capi_defects import taps


class OthersResized(taps.Tapped):
    """A resize resizes all groups of workers."""

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        for group in cluster.nodegroups:
            if group.role != 'master' and (
                    nodegroup and group.uuid != nodegroup.uuid):
                group.node_count = node_count
                group.save()
        super().resize_cluster(context, cluster, resize_manager, node_count,
                               nodes_to_remove, nodegroup)


class OthersStrategyLost(taps.Tapped):
    """A resize gives all groups of workers another rollout strategy."""

    def values(self, method, cluster, values):
        if method == 'resize_cluster':
            for group in values['nodeGroups']:
                group['rolloutStrategy'] = {
                    'type': 'RollingUpdate', 'rollingUpdate': {
                        'maxSurge': 3, 'maxUnavailable': 0}}
        return values


class VersionShownEarly(taps.Tapped):
    """An upgrade shows the new version before any node has it."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        super().upgrade_cluster(context, cluster, cluster_template, *args,
                                **kwargs)
        cluster.coe_version = taps.version_of(context, cluster_template)
        cluster.save()


class ControlPlaneTouched(taps.Tapped):
    """A new node group changes how the control plane is healed."""

    def values(self, method, cluster, values):
        if method == 'create_nodegroup':
            values['controlPlane']['remediationStrategy'] = {'maxRetry': 7}
        return values


class GroupLeavesServerGroup(taps.Tapped):
    """A node group leaves something in the cloud when it is deleted."""

    def create_nodegroup(self, context, cluster, nodegroup):
        super().create_nodegroup(context, cluster, nodegroup)
        self.leave(taps.cloud(context),
                   f'{cluster.stack_id}-{nodegroup.name}', cluster)

    def leave(self, cloud, name, cluster):
        cloud.compute.create_server_group(
            name=name, policies=['anti-affinity'])


class GroupLeavesCredential(GroupLeavesServerGroup):

    def leave(self, cloud, name, cluster):
        cloud.identity.create_application_credential(
            cluster.user_id, name)


class GroupLeavesVolume(GroupLeavesServerGroup):

    def leave(self, cloud, name, cluster):
        cloud.block_storage.create_volume(name=name, size=1)
