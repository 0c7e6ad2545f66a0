# SPDX-License-Identifier: Apache-2.0

"""Operations that change what they do not name, or show it too early."""

from magnum_capi_defects import taps


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'has changed what it does not name.*node_count of node group '
              'default-worker')
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


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'has changed what it does not name.*MachineDeployment .'
              '*strategy')
class OthersStrategyLost(taps.Tapped):
    """A resize gives all groups of workers another rollout strategy."""

    def values(self, method, cluster, values):
        if method == 'resize_cluster':
            for group in values['nodeGroups']:
                group['rolloutStrategy'] = {
                    'type': 'RollingUpdate', 'rollingUpdate': {
                        'maxSurge': 3, 'maxUnavailable': 0}}
        return values


@taps.seen_by('CompleteTest.test_upgrade',
              'Magnum shows v.* although nodes are older')
class VersionShownEarly(taps.Tapped):
    """An upgrade shows the new version before any node has it."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        super().upgrade_cluster(context, cluster, cluster_template, *args,
                                **kwargs)
        cluster.coe_version = taps.version_of(context, cluster_template)
        cluster.save()


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'the spec of KubeadmControlPlane .* has changed: remediation')
class ControlPlaneTouched(taps.Tapped):
    """A new node group changes how the control plane is healed."""

    def values(self, method, cluster, values):
        if method == 'create_nodegroup':
            values['controlPlane']['remediationStrategy'] = {'maxRetry': 7}
        return values


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'nothing of the deleted node group more to be left in the cloud.'
              '*server group')
class GroupLeavesServerGroup(taps.Tapped):
    """A node group that is deleted leaves a server group."""

    def create_nodegroup(self, context, cluster, nodegroup):
        super().create_nodegroup(context, cluster, nodegroup)
        self.leave(taps.cloud(context),
                   f'{cluster.stack_id}-{nodegroup.name}', cluster)

    def leave(self, cloud, name, cluster):
        cloud.compute.create_server_group(
            name=name, policies=['anti-affinity'])


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'nothing of the deleted node group more to be left in the cloud.'
              '*application credential')
class GroupLeavesCredential(GroupLeavesServerGroup):
    """A node group that is deleted leaves an application credential."""

    def leave(self, cloud, name, cluster):
        cloud.identity.create_application_credential(
            cluster.user_id, name)


@taps.seen_by('NodeGroupsTest.test_create_resize_delete',
              'nothing of the deleted node group more to be left in the cloud.'
              '*volume')
class GroupLeavesVolume(GroupLeavesServerGroup):
    """A node group that is deleted leaves a volume."""

    def leave(self, cloud, name, cluster):
        cloud.block_storage.create_volume(name=name, size=1)
