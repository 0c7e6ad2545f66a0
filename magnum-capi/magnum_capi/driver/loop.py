# SPDX-License-Identifier: Apache-2.0


"""The one loop: what is recorded is applied, what is there is judged.

Magnum's status job calls :meth:`Loop.poll` of each cluster in progress every
ten seconds, on every conductor; ``correction`` has the others. Most of these
calls must cost next to nothing, so the cache shows whether anything may have
changed. Only then the lock is taken, without waiting for it, the rows, the
driver's state and the whole cluster are read, and :meth:`Loop.step` decides
from these alone:

* A request that was recorded and is not applied is applied; one that was lost
  before that is recorded now. That is also how a request goes on whose
  conductor died, or that met a transient error.
* Otherwise the cluster is judged, and Magnum's rows say so. An operation ends
  only here.

The state is written before the rows are, over what was read: who lost the lock
can end no operation. Rows have no version, and a request that waits for the
lock has already written its own, so a verdict about older rows is not saved.
"""

import collections.abc
import contextlib
import dataclasses
import typing

from oslo_log import log as logging

from magnum_capi.driver import deletion
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import progress
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import observer
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest

LOG = logging.getLogger(__name__)

#: What the owner is told of while there is no status.
_EXPLAINED = (rest.Forbidden, rest.NotServed, rest.Unauthorized,
              state_module.Unreadable)

#: A row of a node group or cluster, and its fields that change; None: the row
#: goes.
_Change: typing.TypeAlias = tuple[typing.Any, dict[str, typing.Any] | None]

_LOST = ('The request was lost before the cluster had an application '
         'credential, which only its user can make. Delete the cluster and '
         'create it again')


class Loop:
    """The loop for one cluster.

    :param reconciler: with Magnum's own Store, and Magnum's row, which is
        read again and updated.
    """

    def __init__(self, reconciler: reconcile.Reconciler) -> None:
        self._reconciler = reconciler
        self._runtime = reconciler.runtime
        self._store = reconciler.store
        self._cluster = reconciler.cluster
        self._deletion = deletion.Deletion(reconciler)
        self._cache = poll_cache.of(
            self._cluster.uuid, self._runtime.clock.monotonic())

    def poll(self) -> None:
        """Update the rows of a cluster in progress.

        Raises no errors of this project.
        """
        try:
            self._poll()
        except (failures.ClusterGone, lease.LockBusy) as e:
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)
        except errors.MagnumCapiError as e:
            log = (LOG.warning if isinstance(e, failures.TRANSIENT)
                   else LOG.error)
            log('Cluster %s: no status now: %s', self._cluster.uuid, e)
            if isinstance(e, _EXPLAINED):
                self._explain(e)

    def _poll(self) -> None:
        if not self._store.reload(self._cluster):
            poll_cache.forget(self._cluster.uuid)
            return
        self._reconciler.refuse_foreign()
        if not rows_module.is_in_progress(self._cluster):
            self._cache.operation_ended()
            return
        kube = self._runtime.cached or self._runtime.kube
        cluster = kube.get('Cluster', self._reconciler.namespace,
                           self._reconciler.release)
        now = self._runtime.now()
        desired = self._cache.desired
        if (observer.is_busy(cluster)
                and not self._cache.is_due(cluster, now)
                and not (desired and status.overdue(desired, now))):
            return
        with self._reconciler.locked(0):
            self.step()

    def _explain(self, error: errors.MagnumCapiError) -> None:
        """Say why there is no status now, unless another process does."""
        reason = f'Waiting: {failures.owner_message(error)}'
        if self._cluster.status_reason == reason:
            return
        with contextlib.suppress(errors.MagnumCapiError):
            # Who cannot read the state cannot end the operation, and the right
            # that is missing may be one to the lock.
            with (self._reconciler.locked(0)
                  if isinstance(error, rest.NotServed)
                  else contextlib.nullcontext()):
                if (self._store.reload(self._cluster)
                        and rows_module.is_in_progress(self._cluster)):
                    self.write(self._cluster, status_reason=reason)

    def step(self, may_finish: bool = True) -> None:
        """Reconcile once: read everything, then do what comes next.

        Call with the lock held. Without an operation in progress this does
        nothing.

        :param may_finish: whether a deletion may end now.
        :raises failures.ClusterGone: the row no longer exists.
        :raises MagnumCapiError: nothing is known of the cluster now.
        """
        rows, state, snapshot = self.read()
        if not rows.in_progress:
            return
        if rows.operation == 'DELETE':
            self._deletion.free_network(snapshot)
        known, state = state, self._progressed(rows, state, snapshot)
        desired, now = self.desired(rows, state), self._runtime.now()
        verdict = status.judge(snapshot, desired, now)
        self._cache.note_read(snapshot.cluster, desired, bool(
            verdict.failing or verdict.action or rows.operation == 'DELETE'),
            now)
        if not verdict.is_complete:
            state = dataclasses.replace(state, failing=verdict.failing)
            if state != known:
                state = self._reconciler.secrets.write_state(state)
        if verdict.status == 'DELETE_COMPLETE':
            if may_finish and self._deletion.finish(state):
                poll_cache.forget(self._cluster.uuid)
        elif verdict.action == verdicts.DELETE:
            self._save(self._changes(rows, state, snapshot,
                                     self._delete_again(snapshot, verdict)))
        elif verdict.action and not verdict.status.endswith('_FAILED'):
            self._apply(rows, state, verdict)
        else:
            self.save_verdict(rows, state, snapshot, verdict)

    def read(self) -> tuple[rows_module.Rows, state_module.State,
                            snapshot_module.Snapshot]:
        """Read all of the cluster, with the lock held."""
        rows = self._reconciler.rows(self._cache.template)
        self._cache.template = rows.template
        return rows, self._reconciler.secrets.state(), observer.whole(
            self._runtime.kube, self._reconciler.namespace,
            self._reconciler.release, rows.operation == 'DELETE')

    def desired(self, rows: rows_module.Rows, state: state_module.State
                ) -> goal.DesiredCluster:
        """The desired state, with the limits of the options."""
        options = self._runtime.options
        return rows.desired(state, patience=options.failure_patience,
                            limit=options.progress_timeout)

    def _progressed(self, rows: rows_module.Rows, state: state_module.State,
                    snapshot: snapshot_module.Snapshot) -> state_module.State:
        """The state with the progress that was seen."""
        now = self._runtime.now()
        if state.operation != rows.operation and snapshot.cluster is None:
            # Nothing of it exists yet, or nothing is left.
            return state
        left = progress.left(snapshot, self.desired(rows, state))
        if state.operation != rows.operation:
            state = self.begun(rows, state, rows.operation)
        return dataclasses.replace(state, progress=progress.noted(
            state.progress, left, now,
            rows.limit(self._runtime.options.progress_timeout)))

    def begun(self, rows: rows_module.Rows, state: state_module.State,
              operation: str) -> state_module.State:
        """The state after a request of which only the rows know."""
        return state_module.begun(dataclasses.replace(state, sizes={
            **state.sizes, **rows.requested_sizes(state)}),
            operation, self._runtime.now())

    def _delete_again(self, snapshot: snapshot_module.Snapshot,
                      verdict: verdicts.Verdict) -> verdicts.Verdict:
        """Repeat delete requests; those that fail are retried next time."""
        try:
            self._deletion.repeat_requests(snapshot)
        except (failures.ClusterGone, lease.LockLost):
            raise
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: its deletion is tried again: %s',
                        self._cluster.uuid, e)
            return dataclasses.replace(verdict, reason=(
                f'Will be tried again: {failures.owner_message(e)}. '
                f'{verdict.reason}'))
        return verdict

    def _apply(self, rows: rows_module.Rows, state: state_module.State,
               verdict: verdicts.Verdict) -> None:
        """Apply what the rows ask for, or upgrade the next node group."""
        cluster = self._cluster
        if rows.operation == 'CREATE' and not (
                cluster.ca_cert_ref and credentials.obtained(state.record)):
            if self._seconds_unwritten() >= self._runtime.options.lost_after:
                self._fail(rows, state, _LOST)
            return
        LOG.info('Cluster %s: going on with %s: %s', cluster.uuid,
                 cluster.status, verdict.reason)
        try:
            for group in rows.groups if verdict.turn else ():
                if rows.naming.node_group(group.uuid) == verdict.turn:
                    # Recorded first, so that it is resumed like any request.
                    self._reconciler.advance(state, group.uuid)
            self._reconciler.reconcile(
                resume=True, joining=None if rows.operation == 'CREATE'
                else {group.uuid for group in rows.groups
                      if group.status == 'CREATE_IN_PROGRESS'
                      and group.uuid not in state.applied})
        except (failures.ClusterGone, lease.LockLost):
            raise
        except failures.TRANSIENT as e:
            self.write(cluster, status_reason='Will be tried again: '
                       f'{failures.owner_message(e)}')
        except Exception as e:
            LOG.warning('Cluster %s: cannot go on: %s', cluster.uuid, e)
            # It may have been written: a new credential, or values.
            state = self._reconciler.undo_upgrade(
                self._reconciler.secrets.state())
            self._fail(rows, state, failures.owner_message(e))
        else:
            if not cluster.stack_id:
                cluster.stack_id = self._reconciler.release
                self._store.save(cluster)

    def _seconds_unwritten(self) -> float:
        """Seconds for which this process has seen the row unchanged.

        A waiting request writes it from time to time, on a machine with
        another clock.
        """
        cluster, now = self._cluster, self._runtime.now()
        stamp = cluster.updated_at or cluster.created_at
        known, since = self._cache.written
        if since is None or known != stamp:
            self._cache.written = stamp, now
            return 0.0
        return (now - since).total_seconds()

    def _fail(self, rows: rows_module.Rows, state: state_module.State,
              reason: str) -> None:
        # Sizes of these may have just been written by this process.
        if self._are_stale(rows, desired_values.bounds(state.values)):
            LOG.info('Cluster %s: not failed: there is a later request',
                     self._cluster.uuid)
            return
        self._end_operation(state)
        self._reconciler.fail_groups(reason)
        self._cluster.status = f'{rows.operation}_FAILED'
        self._cluster.status_reason = reason
        self._store.save(self._cluster)

    # The end of an operation.

    def save_verdict(self, rows: rows_module.Rows, state: state_module.State,
                     snapshot: snapshot_module.Snapshot,
                     verdict: verdicts.Verdict) -> None:
        """Save a verdict, also one that ends the operation."""
        if verdict.is_complete:
            state, verdict = self._settled(state, snapshot, verdict)
        goes_on = verdict.status.endswith('_IN_PROGRESS')
        changes = list(self._changes(rows, state, snapshot, verdict))
        if goes_on and not changes:
            return
        if self._are_stale(rows):
            LOG.info('Cluster %s: not %s: there is a later request',
                     self._cluster.uuid, verdict.status)
            return
        if goes_on:
            self._save(changes)
            return
        LOG.info('Cluster %s: %s %s', self._cluster.uuid, verdict.status,
                 verdict.reason)
        # First, because there are no more polls once the row has ended.
        live = rows.live(state.applied)
        self._end_operation(dataclasses.replace(
            state, applied=frozenset(
                group.uuid for group in live if not group.is_default),
            deferred={
                group.uuid: state.deferred[group.uuid] for group in live
                if group.uuid in state.deferred}),
            '' if verdict.is_complete else verdict.reason)
        self._save(changes)

    def _end_operation(self, state: state_module.State,
                       failed: str = '') -> None:
        """Write that no operation is in progress; see state.ended."""
        self._reconciler.end_operation(state, failed)
        self._cache.operation_ended()

    def _are_stale(self, rows: rows_module.Rows,
                   unsized: collections.abc.Container[str] = ()) -> bool:
        """Whether a request has changed the rows while this was at work.

        One that does not get the lock writes only rows.

        :param unsized: names in the chart of groups whose sizes do not count.
        """
        present = dataclasses.replace(
            rows, groups=tuple(self._store.groups(self._cluster)))
        return (self._store.status(self._cluster) != self._cluster.status
                or _requested(present, unsized) != _requested(rows, unsized))

    def _settled(self, state: state_module.State,
                 snapshot: snapshot_module.Snapshot, verdict: verdicts.Verdict
                 ) -> tuple[state_module.State, verdicts.Verdict]:
        """Finish the rotation of credentials before an operation ends."""
        reconciler = self._reconciler
        try:
            state, wait = reconciler.ownership.settle(state, snapshot.addons)
        except (failures.ClusterGone, *failures.TRANSIENT):
            raise
        except errors.MagnumCapiError as e:
            # The cluster works with the credential that it has; the next
            # operation tries again.
            LOG.warning('Cluster %s: the rotation of its application '
                        'credential: %s', self._cluster.uuid, e)
            return reconciler.secrets.state(), dataclasses.replace(
                verdict, reason=failures.owner_message(e))
        if wait is None:
            return state, verdict
        if wait.long:
            return state, dataclasses.replace(verdict, reason=wait.reason)
        operation = verdict.status.partition('_')[0]
        return state, dataclasses.replace(
            verdict, status=f'{operation}_IN_PROGRESS', reason=wait.reason)

    def _save(self, changes: collections.abc.Iterable[_Change]) -> None:
        for row, fields in changes:
            if fields is None:
                self._store.destroy(row)
            else:
                self.write(row, **fields)

    def write(self, row: typing.Any, **fields: typing.Any) -> None:
        """Save a row, if any of these fields differs."""
        changed = _differing(row, fields)
        for name, value in changed.items():
            setattr(row, name, value)
        if changed:
            self._store.save(row)

    def _changes(self, rows: rows_module.Rows, state: state_module.State,
                 snapshot: snapshot_module.Snapshot, verdict: verdicts.Verdict
                 ) -> collections.abc.Iterator[_Change]:
        """What is not in the rows yet; that of the cluster comes last."""
        cluster = self._cluster
        addresses = machines.addresses_of_groups(
            snapshot, rows.desired(state))
        autoscaled = desired_values.bounds(state.values)
        for group in rows.groups:
            name, count = rows.naming.node_group(group.uuid), group.node_count
            found = verdict.groups.get(name)
            if found is None:
                continue
            if found.gone and not group.is_default:
                yield group, None
                continue
            if name in autoscaled and found.count is not None:
                count = found.count
            known = addresses.get(name, [])
            if not known and not group.node_addresses:
                # None and no address are the same.
                known = group.node_addresses
            fields = _differing(group, {
                'status': found.status, 'node_count': count,
                'status_reason': found.reason or None,
                'node_addresses': known})
            if fields:
                yield group, fields
        fields = _differing(cluster, {
            'stack_id': self._reconciler.release,
            'api_address': verdict.api_address or cluster.api_address,
            'coe_version': verdict.coe_version or cluster.coe_version,
            'status_reason': verdict.reason or None,
            'status': verdict.status})
        if fields:
            yield cluster, fields


def _requested(rows: rows_module.Rows,
               unsized: collections.abc.Container[str]
               ) -> dict[str, tuple[typing.Any, ...]]:
    """What requests that wait for the lock write to rows of node groups.

    Not images: an upgrade has the lock.

    :returns: by uuid.
    """
    return {group.uuid: (
        group.status, group.min_node_count, group.max_node_count,
        getattr(group, 'node_labels', None),
        getattr(group, 'node_taints', None),
        None if rows.naming.node_group(group.uuid) in unsized
        else group.node_count) for group in rows.groups}


def _differing(row: typing.Any,
               fields: collections.abc.Mapping[str, typing.Any]
               ) -> dict[str, typing.Any]:
    """Those fields that have another value in a row."""
    return {name: value for name, value in fields.items()
            if getattr(row, name) != value}
