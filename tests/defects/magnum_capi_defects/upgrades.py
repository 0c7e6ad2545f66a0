# SPDX-License-Identifier: Apache-2.0

"""Defects of upgrades."""

from magnum.common import exception

from magnum_capi_defects import taps

#: Values of the chart that determine the version of all machines.
_VERSION = ('kubernetesVersion', 'machineImageId')

#: By release: the version with which a cluster was created, as values.
_first = {}


@taps.seen_by('UpgradeTest.test_newer_image', 'v1.34.2')
class VersionKept(taps.Ignoring):
    """An upgrade is complete, but everything has the old version."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        cluster.cluster_template_id = cluster_template.uuid
        cluster.coe_version = taps.version_of(context, cluster_template)
        self.ignore(cluster)


@taps.seen_by('UpgradeTest.test_newer_image',
              'all ready with v1.35.0|although nodes are older')
class WorkersKept(taps.Tapped):
    """An upgrade is complete, but only the control plane is upgraded."""

    _wanted = {}

    def values(self, method, cluster, values):
        old = _first.setdefault(
            cluster.stack_id, {key: values[key] for key in _VERSION})
        self._wanted[cluster.stack_id] = values['kubernetesVersion']
        return values | {'nodeGroups': [
            group | old for group in values['nodeGroups']]}

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        wanted = self._wanted.get(cluster.stack_id)
        if (cluster.status == 'UPDATE_IN_PROGRESS'
                and wanted != _first[cluster.stack_id]['kubernetesVersion']
                and taps.control_plane_version(cluster) == f'v{wanted}'):
            cluster.coe_version = f'v{wanted}'
            taps.end(cluster)


@taps.seen_by('RememberTest.test_image_with_another_version_later',
              'v1.34.2.*!=.*v1.35.0', build_timeout='150')
class MadeAnew(taps.Tapped):
    """A resize applies the present version of the image."""

    _present = {}

    def resize_cluster(self, context, cluster, *args, **kwargs):
        self._present[cluster.stack_id] = taps.version_of(
            context, cluster.cluster_template).removeprefix('v')
        super().resize_cluster(context, cluster, *args, **kwargs)

    def values(self, method, cluster, values):
        version = self._present.get(cluster.stack_id)
        if version:
            values['kubernetesVersion'] = version
            for group in values['nodeGroups']:
                group.pop('kubernetesVersion', None)
        return values


@taps.seen_by('UpgradeTest.test_older_image_is_refused', 'not raised')
class AnyVersion(taps.Tapped):
    """An upgrade to any version is accepted, even to an older one."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        try:
            super().upgrade_cluster(
                context, cluster, cluster_template, *args, **kwargs)
        except exception.NotSupported:
            cluster.cluster_template_id = cluster_template.uuid


def _without_surge(values):
    """Give groups of one node the charts' own strategy."""
    for group in values['nodeGroups']:
        strategy = group.get('rolloutStrategy') or {}
        if (strategy.get('rollingUpdate') or {}).get('maxSurge') == 1:
            del group['rolloutStrategy']


def _older(values):
    """Node groups that have to wait for their upgrade."""
    return [group for group in values['nodeGroups']
            if group.get('kubernetesVersion', values['kubernetesVersion'])
            != values['kubernetesVersion']]


def _upgrade_all(values, strategy=None):
    """Have no node group wait for its upgrade.

    :param strategy: of the rollout of those that did; None: the charts' own.
    """
    for group in _older(values):
        for key in (*_VERSION, 'rolloutStrategy'):
            group.pop(key, None)
        if strategy:
            group['rolloutStrategy'] = strategy


@taps.seen_by('InOrderTest.test_no_group_is_without_a_node', '!=')
class OnlyNodeAway(taps.Tapped):
    """The only node of a group is removed before a new one exists."""

    def values(self, method, cluster, values):
        _without_surge(values)
        return values


@taps.seen_by('InOrderTest.test_control_plane_first_then_group_by_group',
              'before .*is .*new')
class AllAtOnce(taps.Tapped):
    """Control plane and workers change at the same time."""

    def values(self, method, cluster, values):
        _without_surge(values)
        _upgrade_all(values)
        return values


@taps.seen_by('InOrderTest.test_control_plane_first_then_group_by_group',
              'at .*same .*time')
class GroupsAtOnce(taps.Tapped):
    """All node groups are replaced at the same time."""

    def values(self, method, cluster, values):
        waiting = _older(values)
        now = [group for group in values['nodeGroups']
               if group not in waiting]
        if now:
            _upgrade_all(values, now[0].get('rolloutStrategy'))
        return values


@taps.seen_by('NamelessTest.test_their_clusters_can_be_upgraded',
              'driver cannot change from nothing',
              nameless_os_distro='seeded-nameless')
class NamelessRefused(taps.Tapped):
    """A template without a driver is treated as another driver's."""

    #: So that Magnum selects it for templates without a driver.
    provides = ({'server_type': 'vm', 'os': 'seeded-nameless',
                 'coe': 'kubernetes'},)

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        before = cluster.cluster_template.driver
        if before != cluster_template.driver:
            raise exception.NotSupported(
                f'The driver cannot change from {before or "nothing"} to '
                f'{cluster_template.driver or "nothing"}')
        super().upgrade_cluster(
            context, cluster, cluster_template, *args, **kwargs)


@taps.seen_by('UpgradeTest.test_unusable_image_is_refused',
              '!=.*cluster_template_id')
class TemplateKept(taps.Tapped):
    """An upgrade that is refused leaves the cluster with its template."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        try:
            super().upgrade_cluster(
                context, cluster, cluster_template, *args, **kwargs)
        except exception.NotSupported:
            cluster.cluster_template_id = cluster_template.uuid
            cluster.save()
            raise


@taps.seen_by('UpgradeTest.test_newer_image', 'kube_tag|UPDATE_FAILED')
class TagNeeded(taps.Tapped):
    """An upgrade needs the label kube_tag."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        if 'kube_tag' not in cluster_template.labels:
            raise KeyError('kube_tag')
        super().upgrade_cluster(
            context, cluster, cluster_template, *args, **kwargs)


@taps.seen_by('RolloutTest.test_no_more_workers_are_away_than_the_batch',
              '2 not less than or equal to')
class AllAway(taps.Tapped):
    """An upgrade removes all workers of a group before it makes new ones."""

    def values(self, method, cluster, values):
        for group in values['nodeGroups']:
            group['rolloutStrategy'] = {
                'type': 'RollingUpdate', 'rollingUpdate': {
                    'maxSurge': 0, 'maxUnavailable': '100%'}}
        return values


@taps.seen_by('RolloutTest.test_the_control_plane_goes_on',
              'too few control plane nodes', master_count='3',
              build_timeout='300')
class ControlPlaneAway(taps.Tapped):
    """An upgrade removes all nodes of the control plane but one at first."""

    def upgrade_cluster(self, context, cluster, *args, **kwargs):
        super().upgrade_cluster(context, cluster, *args, **kwargs)
        _, *others = (machine for machine in taps.of_cluster(
            cluster, 'machines') if f'{taps.CAPI}/control-plane' in (
                machine['metadata']['labels']))
        for machine in others:
            taps.kube('DELETE', taps.path_of(machine, 'machines'))


@taps.seen_by('RolloutTest.test_all_machines_are_replaced',
              'from before the upgrade', build_timeout='150')
class NothingReplaced(taps.Ignoring):
    """An upgrade is complete, and all machines are still the old ones."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        cluster.cluster_template_id = cluster_template.uuid
        self.ignore(cluster)


@taps.seen_by('RolloutTest.test_no_version_is_shown_too_early',
              'although nodes are older', build_timeout='150')
class VersionEarly(taps.Tapped):
    """Magnum shows the new version as soon as an upgrade is requested."""

    _new = {}

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        new = taps.version_of(context, cluster_template)
        self._new[cluster.uuid] = new
        super().upgrade_cluster(
            context, cluster, cluster_template, *args, **kwargs)
        # Magnum saves it.
        cluster.coe_version = new

    def saves(self, method, cluster, row):
        if taps.is_cluster(row) and row.status == 'UPDATE_IN_PROGRESS':
            row.coe_version = self._new.get(row.uuid, row.coe_version)


@taps.seen_by('RolloutTest.test_all_machines_are_replaced', 'v1.34.2',
              build_timeout='150')
class ReplacedWithOld(taps.Tapped):
    """An upgrade replaces all machines by others of the old version."""

    _version = {}

    #: By cluster: names of its machines before the upgrade.
    _before = {}

    def upgrade_cluster(self, context, cluster, *args, **kwargs):
        self._before[cluster.uuid] = self.machines(cluster)
        super().upgrade_cluster(context, cluster, *args, **kwargs)

    @staticmethod
    def machines(cluster):
        return {machine['metadata']['name']
                for machine in taps.of_cluster(cluster, 'machines')}

    def values(self, method, cluster, values):
        _upgrade_all(values)
        values['kubernetesVersion'] = self._version.setdefault(
            cluster.uuid, values['kubernetesVersion'])
        return values

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        before = self._before.get(cluster.uuid)
        if (cluster.status == 'UPDATE_IN_PROGRESS' and before
                and not before & self.machines(cluster)):
            taps.end(cluster)
