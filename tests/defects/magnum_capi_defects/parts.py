# SPDX-License-Identifier: Apache-2.0

"""k8s_capi_v1 in parts that a subclass can replace one by one."""

import dataclasses

from magnum.common import context as contexts
import magnum.conf

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import names
from magnum_capi.driver import driver
from magnum_capi.driver.helm import helm
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import reconcile
from magnum_capi.driver import settings
from magnum_capi.driver import status_check
from magnum_capi.driver import store
from magnum_capi.kube import shared

#: Key of the control plane among the sizes of node groups.
MASTER = goal.MASTER


class Seeded(driver.Driver):
    """The driver k8s_capi_v1, with parts that a subclass can replace."""

    #: No cluster type: these drivers are only used by name, and the sandbox's
    #: own drivers are not affected.
    provides = ()

    StatusCheck = status_check.StatusCheck
    Helm = helm.Helm
    Store = store.Store

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        self.StatusCheck(
            self._runtime(), self._store(admin(), cluster), cluster).update()

    def _runtime(self, settings_=None):
        settings_ = settings_ or options()
        kube = shared.kube(settings_)
        return reconcile.Runtime(
            settings_, kube, self.Helm(settings_, kube.kubeconfig),
            kube.now, shared.sightings)

    def _store(self, context, cluster):
        return self.Store(context, options(), cluster.project_id)


class OwnReconciler(Seeded):
    """A driver that reconciles in a slightly different way."""

    def divert(self, reconciler):
        """Change a reconcile.Reconciler before it is used."""
        raise NotImplementedError

    def _operations(self, context, cluster):
        found = super()._operations(context, cluster)
        self.divert(found._reconciler)
        return found


def options():
    """settings.Settings of this Magnum."""
    return settings.Settings.of(magnum.conf.CONF)


def namespace(cluster):
    """Name of the namespace in which the objects of a cluster are."""
    return names.namespace(cluster.project_id, options().namespace_prefix)


def admin():
    """A context that sees the rows of all projects."""
    return contexts.make_admin_context(all_tenants=True)


class FalseVerdict(status_check.StatusCheck):
    """A status check that reports another verdict to Magnum than it found."""

    def told(self, rows, verdict):
        """Return the verdict to report instead.

        :param rows: rows.Rows.
        :param verdict: verdicts.Verdict.
        """
        raise NotImplementedError

    def _differs(self, rows, verdict, thorough):
        return super()._differs(rows, self.told(rows, verdict), thorough)

    def _act(self, rows, snapshot_, verdict, thorough):
        super()._act(rows, snapshot_, self.told(rows, verdict), thorough)


def ended(verdict, how='COMPLETE'):
    """A verdict with nothing in progress.

    :param how: ``COMPLETE`` or ``FAILED``, for the cluster and node groups
        that are not already COMPLETE.
    """
    def end(status):
        operation, _, state = status.partition('_')
        return status if state == 'COMPLETE' else f'{operation}_{how}'
    return dataclasses.replace(
        verdict, status=end(verdict.status), reason='',
        action=verdicts.NOTHING, groups={
            key: dataclasses.replace(group, status=end(group.status),
                                     reason='')
            for key, group in verdict.groups.items()})


def counting(counts):
    """Give node groups another size than Magnum's, and accept it.

    :param counts: function of the name of the release and a dict, number of
        machines by name of the node group (MASTER: the control plane), that
        returns such a dict; omitted groups stay unchanged.
    :returns: classes for Seeded.StatusCheck and Seeded.Helm.
    """
    class StatusCheck(status_check.StatusCheck):

        def _wanted(self, rows):
            wanted = super()._wanted(rows)
            found = counts(wanted.name, {
                _key(group): group.count for group in wanted.groups
                if not group.deleting})
            return dataclasses.replace(wanted, groups=tuple(
                dataclasses.replace(
                    group, count=found.get(_key(group), group.count))
                for group in wanted.groups))

    class Helm(helm.Helm):

        def upgrade(self, release, chart, values, *args, **kwargs):
            plane, groups = values['controlPlane'], values['nodeGroups']
            found = counts(release, {
                MASTER: plane['machineCount'],
                **{group['name']: group['machineCount']
                   for group in groups}})
            values = values | {
                'controlPlane': plane | {'machineCount': found.get(
                    MASTER, plane['machineCount'])},
                'nodeGroups': [
                    group | {'machineCount': found.get(
                        group['name'], group['machineCount'])}
                    for group in groups]}
            return super().upgrade(release, chart, values, *args, **kwargs)

    return StatusCheck, Helm


def valued(change):
    """A class for Seeded.Helm that changes the values of the chart.

    :param change: function of the name of the release and the values that
        returns values; it must not change what it is given.
    """
    class Helm(helm.Helm):

        def upgrade(self, release, chart, values, *args, **kwargs):
            return super().upgrade(release, chart, change(release, values),
                                   *args, **kwargs)

    return Helm


def _key(group):
    return MASTER if group.role == MASTER else group.key
