# SPDX-License-Identifier: Apache-2.0

"""Corrects the rows of a cluster without an operation in progress.

Magnum's health job calls :meth:`Correction.correct` of each of them. Only rows
and credentials change here: an operation that was lost is recorded as one in
progress, and the loop goes on with it.
"""

import typing

from oslo_log import log as logging

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver import loop
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import status
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease

LOG = logging.getLogger(__name__)

#: Why a rotation of the certificate authorities is refused. Magnum stores
#: this as the reason of UPDATE_FAILED (magnum 23.0.0,
#: conductor/handlers/ca_conductor.py), where it is recognized.
ROTATION_REFUSED = ('CA rotation is not supported by this driver; the cluster '
                    'keeps its certificates')


class Correction:
    """The correction of one cluster.

    :param reconciler: see loop.Loop.
    """

    def __init__(self, reconciler: reconcile.Reconciler) -> None:
        self._reconciler = reconciler
        self._runtime = reconciler.runtime
        self._cluster = reconciler.cluster
        self._loop = loop.Loop(reconciler)
        self._cache = poll_cache.of(
            self._cluster.uuid, self._runtime.clock.monotonic())

    def correct(self, rows: rows_module.Rows, state: state_module.State,
                snapshot: snapshot_module.Snapshot) -> None:
        """Correct the rows of a cluster without an operation in progress.

        Does not wait for the lock.

        :param rows, state, snapshot: from the cache; they only show whether
            anything must be corrected.
        """
        if not self._is_needed(rows, state, snapshot):
            return
        try:
            with self._reconciler.locked(0):
                rows, state, snapshot = self._loop.read()
                # A request may have begun in the meantime.
                if not rows.in_progress and self._is_needed(
                        rows, state, snapshot):
                    self._correct(rows, state, snapshot)
        except (lease.LockBusy, failures.ClusterGone, errors.UsageError) as e:
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)

    def _is_needed(self, rows: rows_module.Rows, state: state_module.State,
                   snapshot: snapshot_module.Snapshot) -> bool:
        waited = self._is_pending_too_long(rows, state)
        return (may_still_succeed(rows, state) or waited
                or is_masked(rows, state)
                or is_refused_rotation(rows.cluster)
                or self._is_rotating(state)
                or bool(corrections(rows, state, snapshot)))

    def _is_rotating(self, state: state_module.State) -> bool:
        """Whether an old application credential waits to be removed.

        The operation did not wait: addons had not taken up the new one for
        credential_bound, or Keystone refused to delete the old one.
        """
        used = credentials.in_use(state.record)
        return (len(state.record) > 1 and used == state.record[-1]
                and not used.outgoing and self._runtime.clock.monotonic()
                >= self._cache.settles_at)

    def _finish_rotation(self, state: state_module.State,
                         snapshot: snapshot_module.Snapshot) -> None:
        self._cache.settles_at = (
            self._runtime.clock.monotonic() + poll_cache.UNCHANGED)
        try:
            self._reconciler.ownership.settle(state, snapshot.addons)
        except services.CloudError as e:
            LOG.warning('Cluster %s: the rotation of its application '
                        'credential: %s', self._cluster.uuid, e)

    def _is_pending_too_long(self, rows: rows_module.Rows,
                             state: state_module.State) -> bool:
        """Whether a resize has not begun for longer than a request may take.

        Its conductor died before it called the driver, or waited for the
        lock: Magnum changes the node group before that call, and the cluster
        after it (magnum 23.0.0, magnum/conductor/handlers/
        cluster_conductor.py, cluster_resize and cluster_update).
        """
        if not is_pending(rows, state):
            self._cache.waiting = None
            return False
        request, now = rows.digest(), self._runtime.clock.monotonic()
        if self._cache.waiting is None or self._cache.waiting[0] != request:
            self._cache.waiting = request, now
        return (now - self._cache.waiting[1]
                >= self._runtime.options.lost_after)

    def _correct(self, rows: rows_module.Rows, state: state_module.State,
                 snapshot: snapshot_module.Snapshot) -> None:
        cluster = rows.cluster
        if rows.operation == 'DELETE' or is_pending(rows, state):
            # The row says CREATE until the first change of the cluster.
            operation = 'DELETE' if rows.operation == 'DELETE' else 'UPDATE'
            LOG.info('Cluster %s: its %s is resumed', cluster.uuid, operation)
            self._reconciler.secrets.write_state(
                self._loop.begun(rows, state, operation))
            # The reason stays readable until there is a newer one.
            cluster.status = f'{operation}_IN_PROGRESS'
            self._reconciler.store.save(cluster)
        elif is_masked(rows, state):
            LOG.info('Cluster %s: its UPDATE goes on', cluster.uuid)
            cluster.status = 'UPDATE_IN_PROGRESS'
            self._reconciler.store.save(cluster)
        elif may_still_succeed(rows, state):
            verdict = status.judge(
                snapshot, self._loop.desired(rows, state), self._runtime.now())
            if verdict.is_complete:
                self._loop.save_verdict(rows, state, snapshot, verdict)
        elif is_refused_rotation(cluster):
            # The reason stays readable for the owner.
            cluster.status = 'UPDATE_COMPLETE'
            self._reconciler.store.save(cluster)
        elif self._is_rotating(state):
            self._finish_rotation(state, snapshot)
        for group, fields in corrections(rows, state, snapshot):
            LOG.info('Cluster %s: node group %s is corrected: %s',
                     cluster.uuid, group.name, ', '.join(fields))
            self._loop.write(group, **fields)


def may_still_succeed(rows: rows_module.Rows,
                      state: state_module.State) -> bool:
    """Whether an operation ended as FAILED that may still succeed.

    A deletion always does. A creation or update does if the loop ended it:
    once all is there, it is complete after all. What a request was refused for
    stays refused, because it cannot heal itself.
    """
    cluster = rows.cluster
    if rows.operation == 'DELETE':
        return not rows.in_progress and cluster.status != 'DELETE_COMPLETE'
    return ((cluster.status or '').endswith('_FAILED')
            and bool(state.failed) and cluster.status_reason == state.failed)


def is_pending(rows: rows_module.Rows, state: state_module.State) -> bool:
    """Whether a request changed a node group, and nothing was recorded of it.

    Magnum marks the node group that it resizes, but not the default workers
    in an update of node_count.
    """
    sizes = {group['name']: group.get('machineCount')
             for group in desired_values.groups(state.values)
             if not group.get('autoscale')}
    return (rows.operation != 'DELETE'
            and (rows.cluster.status or '').endswith('_COMPLETE')
            and any((group.status or '').endswith('_IN_PROGRESS')
                    or sizes.get(rows.naming.node_group(group.uuid))
                    not in (None, group.node_count)
                    for group in rows.groups))


def is_masked(rows: rows_module.Rows, state: state_module.State) -> bool:
    """Whether a later failure masks an update that is in progress.

    During an update, node groups can be made and changed. If such a request is
    refused, Magnum saves UPDATE_FAILED (magnum 23.0.0, magnum/conductor/
    handlers/nodegroup_conductor.py), and its status job leaves the cluster
    alone, so the steps of an upgrade that are left would not be taken.
    """
    return (rows.cluster.status == 'UPDATE_FAILED'
            and state.operation == 'UPDATE')


def is_refused_rotation(cluster: typing.Any) -> bool:
    """Whether UPDATE_FAILED only means that a rotation was refused.

    Magnum only rotates certificates of a complete cluster, and the driver has
    undone the change, so the cluster is still complete.
    """
    return (cluster.status == 'UPDATE_FAILED'
            and ROTATION_REFUSED in (cluster.status_reason or ''))


def corrections(rows: rows_module.Rows, state: state_module.State,
                snapshot: snapshot_module.Snapshot
                ) -> list[tuple[typing.Any, dict[str, typing.Any]]]:
    """Node groups that changed without an operation.

    The autoscaler changes sizes, and machines that are replaced have other
    addresses.

    :returns: pairs of row and its fields that are no longer true.
    """
    if rows.in_progress or rows.operation == 'DELETE':
        return []
    found = []
    autoscaled = desired_values.bounds(state.values)
    addresses = machines.addresses_of_groups(
        snapshot, rows.desired(state))
    for group in rows.groups:
        name = rows.naming.node_group(group.uuid)
        fields: dict[str, typing.Any] = {}
        deployment = snapshot.machine_deployments.get(name)
        if (deployment is not None and name in autoscaled
                # A request may have just written its size.
                and not (group.status or '').endswith('_IN_PROGRESS')):
            count = conditions.replicas(deployment).desired
            if count is not None and count != group.node_count:
                fields['node_count'] = count
        if addresses.get(name, []) != (group.node_addresses or []):
            fields['node_addresses'] = addresses.get(name, [])
        if fields:
            found.append((group, fields))
    return found
