# SPDX-License-Identifier: Apache-2.0

"""Resumes operations that have ended as FAILED, or have not begun.

Magnum's status job only covers clusters in progress; its health job also
covers those that have failed (magnum/service/periodic.py; not before 22), and
calls this. A resumed operation is in progress again, and the next status check
ends it like any other:

* a creation or update that the status had ended, once everything exists. What
  the driver or Magnum refused stays refused, because it cannot heal itself;
* a deletion, always: it is retried until nothing is left;
* a resize whose conductor died before it called the driver. Magnum marks the
  node group before that call, and the cluster after it (magnum 23.0.0,
  magnum/conductor/handlers/cluster_conductor.py, cluster_resize), so the
  status job would never check the cluster.
"""

import threading
import typing

from oslo_log import log as logging

from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import status
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease

LOG = logging.getLogger(__name__)

#: By uuid of clusters whose resize has not begun: the request, and since when
#: this process has seen it unchanged, monotonic time in seconds.
_standing: dict[str, tuple[typing.Any, float]] = {}
_standing_lock = threading.Lock()


def may_recover(rows: rows_module.Rows, state: state_module.State) -> bool:
    """Whether an operation has ended or not begun, and may be resumed.

    A creation or update qualifies if the status ended it and nothing else has
    changed the status reason since.
    """
    cluster = rows.cluster
    if rows.operation == 'DELETE':
        return not rows.in_progress and cluster.status != 'DELETE_COMPLETE'
    return has_not_begun(rows) or (
        (cluster.status or '').endswith('_FAILED')
        and bool(state.failed) and cluster.status_reason == state.failed)


def has_not_begun(rows: rows_module.Rows) -> bool:
    """Whether a node group is in progress, but its cluster is not."""
    return (rows.operation != 'DELETE'
            and (rows.cluster.status or '').endswith('_COMPLETE')
            and any((group.status or '').endswith('_IN_PROGRESS')
                    for group in rows.groups))


def recover(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
            state: state_module.State,
            snapshot: snapshot_module.Snapshot) -> None:
    """Resume an operation if possible. Does not wait for the lock.

    :param rows: as they were when ``snapshot`` was taken.
    """
    lost = _stands_still(reconciler, rows)
    if not may_recover(rows, state):
        return
    if has_not_begun(rows):
        due = lost
    else:
        due = rows.operation == 'DELETE' or _is_all_there(
            reconciler, rows, state, snapshot)
    if not due:
        return
    try:
        with reconciler.held(0) as lock:
            _take_up(reconciler, lock)
    except (lease.LockBusy, failures.ClusterGone,
            errors.UsageError) as e:
        LOG.debug('Cluster %s: %s', reconciler.cluster.uuid, e)


def _stands_still(reconciler: reconcile.Reconciler,
                  rows: rows_module.Rows) -> bool:
    """Whether a resize has not begun for longer than a request may take."""
    uuid, now = rows.cluster.uuid, reconciler.runtime.clock.monotonic()
    with _standing_lock:
        if not has_not_begun(rows):
            _standing.pop(uuid, None)
            return False
        asked = rows.digest()
        known, since = _standing.setdefault(uuid, (asked, now))
        if known != asked:
            _standing[uuid] = asked, now
            return False
        return now - since >= reconciler.runtime.options.lost_after


def _is_all_there(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
                  state: state_module.State,
                  snapshot: snapshot_module.Snapshot) -> bool:
    wanted = rows.wanted(state)
    known: frozenset[str] = frozenset()
    while True:
        verdict = status.judge(snapshot, wanted, reconciler.runtime.now())
        if not verdict.unseen or verdict.unseen == known:
            return verdict.status.endswith('_COMPLETE')
        known = verdict.unseen
        snapshot = observer.read(
            reconciler.runtime.kube, reconciler.namespace, reconciler.release,
            snapshot, known)


def _take_up(reconciler: reconcile.Reconciler,
             lock: lease.Lock) -> None:
    rows, state = reconciler.rows(), reconciler.vault.state()
    if not may_recover(rows, state):
        return
    cluster = rows.cluster
    operation = rows.operation
    if has_not_begun(rows):
        # The row says CREATE until the first change of the cluster.
        operation = 'UPDATE'
        LOG.info('Cluster %s: a resize that has not begun is carried out',
                 cluster.uuid)
    else:
        LOG.info('Cluster %s: %s is taken up again: %s', cluster.uuid,
                 cluster.status, cluster.status_reason)
    lock.check()
    reconciler.vault.write_state(state_module.begun(
        state, operation, reconciler.runtime.now()))
    # The reason stays readable until there is a newer one.
    cluster.status = f'{operation}_IN_PROGRESS'
    reconciler.store.save(cluster)
