# SPDX-License-Identifier: Apache-2.0

"""Defects of upgrades."""

from magnum.common import exception

from magnum_capi.driver.desired import pins
from magnum_capi.driver import driver
from magnum_capi.driver import status_check
from magnum_capi.driver import store
from magnum_capi.driver import upgrading
from magnum_capi_defects import parts
from magnum_capi_defects import taps

#: Values of the chart that determine the version of all machines.
_VERSION = ('kubernetesVersion', 'machineImageId')

_first = {}


def _old(release, values):
    """The version with which a cluster was created, as values."""
    return _first.setdefault(
        release, {key: values[key] for key in _VERSION})


class VersionKept(parts.Seeded):
    """An upgrade is complete, but everything has the old version."""

    Helm = parts.valued(lambda release, values: (
        values | _old(release, values)))


class WorkersKept(parts.Seeded):
    """An upgrade is complete, but only the control plane is upgraded."""

    Helm = parts.valued(lambda release, values: values | {'nodeGroups': [
        group | _old(release, values) for group in values['nodeGroups']]})


class MadeAnew(parts.OwnReconciler):
    """A resize applies present settings, not those of the cluster."""

    def divert(self, reconciler):
        reconciler.pins = lambda state: pins.Pins()


class _Upgrading(parts.Seeded):
    """A driver with its own Upgrade."""

    Upgrade = upgrading.Upgrade

    def upgrade_cluster(self, context, cluster, cluster_template,
                        max_batch_size, nodegroup, scale_manager=None,
                        rollback=False):
        with driver._told():
            self.Upgrade(
                self._runtime(), self._store(context, cluster), cluster,
                cluster_template, nodegroup or cluster.default_ng_worker,
                max_batch_size).run()


class AnyVersion(_Upgrading):
    """An upgrade to any version is tried, even to an older one."""

    class Upgrade(upgrading.Upgrade):

        def _refuse(self, rows, state):
            """Do nothing: every request counts as viable."""

        def _held(self, rows, state):
            # Newer workers that wait for their turn would be refused.
            return {}


def _without_surge(_release, values):
    """Values with the charts' own strategy for groups of one node."""
    def changed(group):
        rolling = group.get('rolloutStrategy', {}).get('rollingUpdate', {})
        if rolling.get('maxSurge') != 1:
            return group
        return {k: v for k, v in group.items() if k != 'rolloutStrategy'}
    return values | {'nodeGroups': list(map(changed, values['nodeGroups']))}


class OnlyNodeAway(parts.Seeded):
    """The only node of a group is removed before a new one exists."""

    Helm = parts.valued(_without_surge)


class AllAtOnce(_Upgrading):
    """Control plane and workers change at the same time."""

    Helm = parts.valued(_without_surge)

    class Upgrade(upgrading.Upgrade):

        def _held(self, rows, state):
            return {}


class GroupsAtOnce(parts.Seeded):
    """All node groups are replaced at the same time."""

    class StatusCheck(status_check.StatusCheck):

        def _advance(self, rows, verdict):
            for group in rows.groups:
                self._reconciler.advance(group.uuid)
            super()._advance(rows, verdict)


class NamelessRefused(_Upgrading):
    """A template without a driver is treated as another driver's."""

    #: So that Magnum selects it for templates without a driver.
    provides = ({'server_type': 'vm', 'os': 'seeded-nameless',
                 'coe': 'kubernetes'},)

    class Store(store.Store):

        def driver_of(self, template):
            return template.driver


class TemplateKept(parts.Seeded):
    """An upgrade that is refused leaves the cluster with its template."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        try:
            super().upgrade_cluster(
                context, cluster, cluster_template, *args, **kwargs)
        except exception.NotSupported:
            cluster.cluster_template_id = cluster_template.uuid
            self._store(context, cluster).save(cluster)
            raise


class TagNeeded(parts.Seeded):
    """An upgrade needs the label kube_tag."""

    def upgrade_cluster(self, context, cluster, cluster_template, *args,
                        **kwargs):
        if 'kube_tag' not in cluster_template.labels:
            raise KeyError('kube_tag')
        super().upgrade_cluster(
            context, cluster, cluster_template, *args, **kwargs)


class AllAway(taps.Tapped):
    """An upgrade removes all workers of a group before it makes new ones."""

    def values(self, method, cluster, values):
        for group in values['nodeGroups']:
            group['rolloutStrategy'] = {
                'type': 'RollingUpdate', 'rollingUpdate': {
                    'maxSurge': 0, 'maxUnavailable': '100%'}}
        return values
