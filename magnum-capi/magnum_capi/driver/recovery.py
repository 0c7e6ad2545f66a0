# SPDX-License-Identifier: Apache-2.0

"""Takes up operations again that ended as FAILED, when that is not true.

Magnum's status job asks only for clusters in progress; its health job also
visits those that have failed (magnum 23.0.0, magnum/service/periodic.py), and
there this is called. What is taken up is in progress again, and the next
status ends it as any other operation:

* a creation or update that the status had ended, once all is there. What a
  driver or Magnum refused stays refused: nothing of that comes right by
  itself;
* a deletion, always: it is tried until nothing is left.
"""

from oslo_log import log as logging

from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import status
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lock as lock_module

LOG = logging.getLogger(__name__)


def may_recover(rows: rows_module.Rows, state: state_module.State) -> bool:
    """Whether an operation has ended that may be taken up again.

    A creation or update has when the status ended it and nobody has said
    anything else of the cluster since.
    """
    cluster = rows.cluster
    if rows.operation == 'DELETE':
        return not rows.in_progress and cluster.status != 'DELETE_COMPLETE'
    return ((cluster.status or '').endswith('_FAILED')
            and bool(state.failed) and cluster.status_reason == state.failed)


def recover(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
            state: state_module.State,
            snapshot: snapshot_module.Snapshot) -> None:
    """Take up again what may be. Does not wait for the lock.

    :param rows: as they were when ``snapshot`` was taken.
    """
    if not may_recover(rows, state) or not (
            rows.operation == 'DELETE'
            or _is_all_there(reconciler, rows, state, snapshot)):
        return
    try:
        with reconciler.held(0) as lock:
            _take_up(reconciler, lock)
    except (lock_module.LockBusy, failures.Stopped,
            errors.UsageError) as e:
        LOG.debug('Cluster %s: %s', reconciler.cluster.uuid, e)


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
             lock: lock_module.Lock) -> None:
    rows, state = reconciler.rows(), reconciler.vault.state()
    if not may_recover(rows, state):
        return
    cluster, operation = rows.cluster, rows.operation
    LOG.info('Cluster %s: %s is taken up again: %s', cluster.uuid,
             cluster.status, cluster.status_reason)
    lock.check()
    reconciler.vault.write_state(state_module.begun(
        state, operation, reconciler.runtime.now()))
    # The reason stays for its owner to read, until there is a newer one.
    cluster.status = f'{operation}_IN_PROGRESS'
    reconciler.store.save(cluster)
