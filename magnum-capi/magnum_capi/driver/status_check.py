# SPDX-License-Identifier: Apache-2.0


"""The periodic status of a cluster: observe, judge, save, resume.

Magnum calls this every ten seconds, on every conductor, in another process
than those that carry out requests. So most calls must cost next to nothing: no
request and no lock while the cached Cluster shows that it is not finished.
Anything else is read from the server. When there is something to save or to
do, the lock is taken without waiting for it, and the rows are read again; if
they changed since they were judged, the next call will judge them.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import threading
import typing

from oslo_log import log as logging

from magnum_capi.driver import deletion
from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import kept as kept_module
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import rotation
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import attention as attention_module
from magnum_capi.driver.observed import progress
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import status
from magnum_capi.driver.observed import verdicts
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi.driver import upgrading
from magnum_capi import errors
from magnum_capi.kube import client
from magnum_capi.kube import lease
from magnum_capi.kube import rest

LOG = logging.getLogger(__name__)

#: See attention.
THOROUGH = attention_module.THOROUGH

#: Judging with more parts may require further parts; limit of rounds.
_ROUNDS = 5

_LOST = ('The request was lost before the cluster had an application '
         'credential, which only its user can make. Delete the cluster and '
         'create it again')


#: Seconds after which a process forgets a cluster that Magnum no longer asks
#: about: another conductor has seen the end of the operation.
_KEPT = 600


@dataclasses.dataclass
class CheckCache:
    """What one process keeps between two checks of a cluster.

    :param state: without secrets; None when it must be read.
    :param key: of the operation that ``state`` belongs to.
    :param template: see reconcile.Reconciler.rows.
    :param used_at: monotonic time in seconds of the last check.
    :param looking: held while a thread checks the cluster.
    :param written: when the row of the cluster was last written, by the
        writer's clock, and when this process first saw that, by the clock of
        the management cluster.
    """

    state: state_module.State | None = None
    key: str = ''
    attention: attention_module.Attention = dataclasses.field(
        default_factory=attention_module.Attention)
    template: typing.Any = None
    used_at: float = 0.0
    looking: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    written: tuple[datetime.datetime | None,
                   datetime.datetime | None] = (None, None)


_caches: dict[str, CheckCache] = {}
_caches_lock = threading.Lock()


def cache_of(uuid: str, now: float) -> CheckCache:
    """This process's CheckCache of a cluster; drops expired ones of others.

    :param now: monotonic time in seconds.
    """
    with _caches_lock:
        for other, kept in list(_caches.items()):
            if now - kept.used_at >= _KEPT and not kept.looking.locked():
                del _caches[other]
        found = _caches.setdefault(uuid, CheckCache())
        found.used_at = now
        return found


def forget(uuid: str) -> None:
    with _caches_lock:
        _caches.pop(uuid, None)


class StatusCheck:
    """One check of a cluster.

    :param store: Magnum's own.
    :param cluster: Magnum's row; it is read again and updated.
    """

    def __init__(self, runtime: reconcile.Runtime, store: reconcile.Store,
                 cluster: typing.Any) -> None:
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._reconciler = reconcile.Reconciler(runtime, store, cluster)
        self._deletion = deletion.Deletion(self._reconciler)
        self._cache = cache_of(cluster.uuid, runtime.clock.monotonic())
        self._state = state_module.State()

    def update(self) -> None:
        """Update Magnum's rows. Raises no errors of this project.

        Magnum starts each check in a new thread without waiting for the last
        one; a second thread leaves the cluster to the first.
        """
        if not self._cache.looking.acquire(blocking=False):
            LOG.debug('Cluster %s: another thread looks at it',
                      self._cluster.uuid)
            return
        try:
            self._look()
        except failures.ClusterGone:
            pass
        except state_module.Unreadable as e:
            LOG.error('Cluster %s: no status: %s', self._cluster.uuid, e)
            self._tell_unlocked(failures.owner_message(e))
        except errors.MagnumCapiError as e:
            LOG.error('Cluster %s: no status: %s', self._cluster.uuid, e)
        finally:
            self._cache.looking.release()

    def _look(self) -> None:
        if not self._store.reload(self._cluster):
            forget(self._cluster.uuid)
            return
        try:
            self._reconciler.refuse_foreign()
        except errors.UsageError as e:
            LOG.error('Cluster %s: %s', self._cluster.uuid, e)
            return
        rows = self._rows(self._cache.template)
        if not rows.in_progress:
            forget(self._cluster.uuid)
            return
        try:
            self._update(rows)
        except lease.LockBusy as e:
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)
        except failures.TRANSIENT as e:
            LOG.warning('Cluster %s: no status now: %s', self._cluster.uuid, e)
            if isinstance(e, rest.NotServed):
                self._tell(rows, f'Waiting: {failures.owner_message(e)}')

    def _update(self, rows: rows_module.Rows) -> None:
        # An UPDATE right after an UPDATE is recognized under the lock.
        if self._cache.state is None or self._cache.key != rows.operation:
            self._read_state()
            self._cache.key = rows.operation
        else:
            self._state = self._cache.state
        snapshot = self._glance(self._runtime.looks)
        busy = observer.is_busy(snapshot.cluster)
        thorough = self._cache.attention.next(
            snapshot.cluster, rows.operation == 'DELETE' or not busy)
        # An upgrade is recorded and waits for its first look.
        thorough |= self._state.former is not None
        # A short look must not end an operation.
        wanted = self._wanted(rows)
        thorough |= bool(status.overdue(wanted, self._runtime.now()))
        if self._runtime.looks:
            if busy and not thorough and self._is_nothing_new(
                    rows, wanted, snapshot):
                return
            snapshot = self._glance()
            busy = observer.is_busy(snapshot.cluster)
        snapshot, verdict = self._judged(
            rows, wanted, snapshot, busy, thorough)
        left = progress.left(snapshot, wanted) if thorough else {}
        if thorough:
            self._cache.attention.found(
                restless=bool(verdict.failing or verdict.action))
        if rows.operation == 'DELETE' and thorough:
            self._deletion.free_network(snapshot)
        seen = self._progressed(rows, snapshot, left)
        if not _is_complete(verdict):
            seen = dataclasses.replace(seen, failing=verdict.failing)
        if seen == self._state and not self._differs(
                rows, verdict, thorough):
            return
        judged = digest(rows), self._state.held
        with self._reconciler.held(0):
            rows = self._rows()
            self._read_state()
            known = self._state
            if (digest(rows), known.held) != judged:
                return
            # Only now the times of the operation are reliable.
            self._keep(self._progressed(rows, snapshot, left))
            wanted = self._wanted(rows)
            verdict = status.judge(snapshot, wanted, self._runtime.now())
            if verdict.status == 'DELETE_COMPLETE':
                # The last holder of the lock may have changed something.
                snapshot, verdict = self._judged(
                    rows, wanted, self._glance(), busy=False, thorough=True)
            if not _is_complete(verdict):
                self._keep(dataclasses.replace(
                    self._state, failing=verdict.failing))
                if self._state != known:
                    self._keep(self._reconciler.vault.write_state(
                        self._state))
            self._act(rows, snapshot, verdict, thorough)

    def _is_nothing_new(self, rows: rows_module.Rows,
                        wanted: goal.DesiredCluster,
                        snapshot: snapshot_module.Snapshot) -> bool:
        """Whether a short look changes nothing."""
        verdict = status.judge(snapshot, wanted, self._runtime.now())
        seen = dataclasses.replace(
            self._progressed(rows, snapshot, {}), failing=verdict.failing)
        return (not _is_complete(verdict) and seen == self._state
                and not self._differs(rows, verdict, thorough=False))

    def _read_state(self) -> None:
        self._keep(self._reconciler.vault.state())

    def _keep(self, state: state_module.State) -> None:
        self._state = state
        # Without secrets: the process that ends the operation cannot make
        # others forget.
        self._cache.state = dataclasses.replace(state, secrets={})

    def _tell(self, rows: rows_module.Rows, reason: str) -> None:
        """Report why there is no status now, unless another process does."""
        if self._cluster.status_reason == reason:
            return
        try:
            with self._reconciler.held(0):
                if digest(self._rows()) == digest(rows):
                    self._cluster.status_reason = reason
                    self._store.save(self._cluster)
        except (failures.ClusterGone, *failures.TRANSIENT) as e:
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)

    def _tell_unlocked(self, reason: str) -> None:
        """The same where no process can end the operation."""
        if self._cluster.status_reason != reason:
            self._cluster.status_reason = reason
            with contextlib.suppress(failures.ClusterGone):
                self._store.save(self._cluster)

    def _glance(self, kube: client.Kube | None = None
                ) -> snapshot_module.Snapshot:
        """A snapshot of the Cluster alone."""
        return observer.look(
            kube or self._runtime.kube, self._reconciler.namespace,
            self._reconciler.release, parts=())

    def _rows(self, template: typing.Any = None) -> rows_module.Rows:
        rows = self._reconciler.rows(template)
        self._cache.template = rows.template
        return rows

    def _wanted(self, rows: rows_module.Rows) -> goal.DesiredCluster:
        options = self._runtime.options
        return rows.wanted(self._state,
                           patience=options.failure_patience,
                           limit=options.progress_timeout)

    def _judged(self, rows: rows_module.Rows, wanted: goal.DesiredCluster,
                snapshot: snapshot_module.Snapshot, busy: bool, thorough: bool
                ) -> tuple[snapshot_module.Snapshot, verdicts.Verdict]:
        """A snapshot with all parts that the verdict needs, and that."""
        kube, reconciler = self._runtime.kube, self._reconciler
        verdict = status.judge(snapshot, wanted, self._runtime.now())
        if busy and not thorough:
            return snapshot, verdict
        for _round in range(_ROUNDS):
            if not verdict.unseen:
                break
            snapshot = observer.read(
                kube, reconciler.namespace, reconciler.release, snapshot,
                verdict.unseen)
            verdict = status.judge(snapshot, wanted, self._runtime.now())
        if thorough and not _is_complete(verdict):
            # If helm died half-way, the Cluster never changes. And without a
            # network plugin no node of a new one is ever ready.
            parts = ['events'] + [part for part in (
                'control_plane', 'machine_deployments', 'machines',
                *(('addons',) if wanted.creating and wanted.addons else ()),
                *(('machine_sets',) if rows.operation != 'DELETE' else ()),
                *(('release',) if wanted.digest else ()))
                if not snapshot.seen(part) and snapshot.cluster]
            snapshot = observer.read(
                kube, reconciler.namespace, reconciler.release, snapshot,
                parts)
            verdict = status.judge(snapshot, wanted, self._runtime.now())
        return snapshot, verdict

    def _differs(self, rows: rows_module.Rows, verdict: verdicts.Verdict,
                 thorough: bool) -> bool:
        cluster = rows.cluster
        if verdict.action or verdict.status != cluster.status:
            return True
        if verdict.api_address not in (None, cluster.api_address):
            return True
        if verdict.coe_version not in (None, cluster.coe_version):
            return True
        if thorough and (verdict.reason or None) != cluster.status_reason:
            return True
        # Node groups end with their cluster, or here before it.
        return any(found.gone or found.status != group.status
                   for group, found in self._paired(rows, verdict))

    def _paired(self, rows: rows_module.Rows, verdict: verdicts.Verdict
                ) -> collections.abc.Iterator[tuple[
                    typing.Any, verdicts.GroupVerdict]]:
        for group in rows.groups:
            found = verdict.groups.get(
                rows.naming.node_group(group.uuid))
            if found:
                yield group, found

    def _progressed(self, rows: rows_module.Rows,
                    snapshot: snapshot_module.Snapshot,
                    left: dict[str, tuple[str, int]]) -> state_module.State:
        """The state with the progress that was seen."""
        state, now = self._state, self._runtime.now()
        if state.operation != rows.operation and snapshot.cluster is None:
            # Nothing of it exists yet, or nothing is left.
            return state
        return state_module.progressed(
            state_module.going_on(state, rows.operation, now), left, now,
            rows.limit(self._runtime.options.progress_timeout))

    def _act(self, rows: rows_module.Rows, snapshot: snapshot_module.Snapshot,
             verdict: verdicts.Verdict, thorough: bool) -> None:
        if verdict.status == 'DELETE_COMPLETE':
            if self._deletion.finish(self._state):
                forget(self._cluster.uuid)
        elif verdict.action == verdicts.DELETE:
            self._save(rows, self._asked_again(snapshot, verdict), True)
        elif verdict.missing and not verdict.status.endswith('_FAILED'):
            self._resume(rows, verdict)
        elif verdict.action == verdicts.ADVANCE:
            self._advance(rows, verdict)
        else:
            if _is_complete(verdict):
                verdict = self._settle(snapshot, verdict)
            self._save(rows, verdict, thorough)

    def _asked_again(self, snapshot: snapshot_module.Snapshot,
                     verdict: verdicts.Verdict) -> verdicts.Verdict:
        """Repeat delete requests; those that fail are retried next time."""
        try:
            self._deletion.ask_again(snapshot)
        except (failures.ClusterGone, lease.LockLost):
            raise
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: its deletion is tried again: %s',
                        self._cluster.uuid, e)
            return dataclasses.replace(verdict, reason=(
                f'Will be tried again: {failures.owner_message(e)}. '
                f'{verdict.reason}'))
        return verdict

    def _resume(self, rows: rows_module.Rows,
                verdict: verdicts.Verdict) -> None:
        """Reconcile again: the request was lost, or the error transient."""
        cluster = self._cluster
        if rows.operation == 'CREATE' and not self._can_create():
            if self._unwritten() >= self._runtime.options.lost_after:
                self._fail(rows, _LOST)
            return
        LOG.info('Cluster %s: going on with %s: %s', cluster.uuid,
                 cluster.status, verdict.reason)
        # Its values change, which the next check must know.
        self._cache.state = None
        try:
            self._reconciler.reconcile(lost=True, joining=()
                                       if rows.operation != 'CREATE' else None)
        except (failures.ClusterGone, lease.LockLost):
            raise
        except failures.TRANSIENT as e:
            reason = f'Will be tried again: {failures.owner_message(e)}'
            if cluster.status_reason != reason:
                cluster.status_reason = reason
                self._store.save(cluster)
        except Exception as e:
            LOG.warning('Cluster %s: cannot go on: %s', cluster.uuid, e)
            # Reconciling may have written it: a new credential, or values.
            self._read_state()
            if self._state.former:
                rows = self._rows()
                self._keep(upgrading.undo(
                    self._reconciler, rows, self._state))
            self._fail(rows, failures.owner_message(e))
        else:
            if not cluster.stack_id:
                cluster.stack_id = self._reconciler.release
                self._store.save(cluster)

    def _unwritten(self) -> float:
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

    def _advance(self, rows: rows_module.Rows,
                 verdict: verdicts.Verdict) -> None:
        """Upgrade the next node group.

        This is recorded first, so that it is resumed like any lost request.
        """
        for group in rows.groups:
            if rows.naming.node_group(group.uuid) == verdict.turn:
                LOG.info('Cluster %s: node group %s is upgraded now',
                         rows.cluster.uuid, group.name)
                self._keep(self._reconciler.advance(group.uuid))
        self._resume(rows, verdict)

    def _can_create(self) -> bool:
        return bool(self._cluster.ca_cert_ref) and credentials.obtained(
            self._state.record)

    def _fail(self, rows: rows_module.Rows, reason: str) -> None:
        operation = rows.operation
        for group in rows.groups:
            if (group.status or '').endswith('_IN_PROGRESS'):
                kind = group.status.partition('_')[0]
                group.status = f'{kind}_FAILED'
                group.status_reason = reason
                self._store.save(group)
        self._cluster.status = f'{operation}_FAILED'
        self._cluster.status_reason = reason
        self._store.save(self._cluster)
        self._end()

    def _settle(self, snapshot: snapshot_module.Snapshot,
                verdict: verdicts.Verdict) -> verdicts.Verdict:
        """Finish the rotation of credentials before an operation ends."""
        reconciler = self._reconciler
        if snapshot.seen('addons'):
            adopted = rotation.adoption(
                reconciler.vault, reconciler.release, snapshot.addons)
        else:
            adopted = None
        try:
            self._state, step = reconciler.rotation().go_on(
                self._state, adopted)
        except (failures.ClusterGone, *failures.TRANSIENT):
            raise
        except errors.MagnumCapiError as e:
            # The cluster works with the credential that it has; the next
            # operation tries again.
            self._state = reconciler.vault.state()
            LOG.warning('Cluster %s: the rotation of its application '
                        'credential: %s', self._cluster.uuid, e)
            return dataclasses.replace(
                verdict, reason=failures.owner_message(e))
        if step.kind == credentials.DONE:
            return verdict
        waits_for_user = (step.entry is None
                          or step.entry.stage == credentials.PLANNED)
        if step.overdue or waits_for_user:
            # The cluster works with the credential that it has.
            return dataclasses.replace(verdict, reason=step.reason)
        operation = verdict.status.partition('_')[0]
        return dataclasses.replace(
            verdict, status=f'{operation}_IN_PROGRESS', reason=step.reason)

    def _save(self, rows: rows_module.Rows, verdict: verdicts.Verdict,
              thorough: bool) -> None:
        cluster, store = self._cluster, self._store
        autoscaled = kept_module.bounds(self._state.values)
        for group, found in self._paired(rows, verdict):
            if found.gone and not group.is_default:
                store.destroy(group)
                continue
            group.status = found.status
            group.status_reason = found.reason or None
            if (rows.naming.node_group(group.uuid) in autoscaled
                    and found.count is not None):
                group.node_count = found.count
            store.save(group)
        cluster.stack_id = self._reconciler.release
        if verdict.api_address:
            cluster.api_address = verdict.api_address
        if verdict.coe_version:
            cluster.coe_version = verdict.coe_version
        if (thorough or cluster.status != verdict.status
                or not cluster.status_reason):
            # A short look knows less of the reason than the last thorough one.
            cluster.status_reason = verdict.reason or None
        cluster.status = verdict.status
        if not verdict.status.endswith('_IN_PROGRESS'):
            LOG.info('Cluster %s: %s %s', cluster.uuid, verdict.status,
                     verdict.reason)
            # First, because there are no more checks once the row has ended.
            self._end(rows, verdict.reason if verdict.status.endswith(
                '_FAILED') else '')
        store.save(cluster)

    def _end(self, rows: rows_module.Rows | None = None,
             failed: str = '') -> None:
        state = self._state
        if rows:
            live = rows.live(state.applied)
            state = dataclasses.replace(state, applied=frozenset(
                group.uuid for group in live if not group.is_default), held={
                    group.uuid: state.held[group.uuid] for group in live
                    if group.uuid in state.held})
        self._reconciler.unmark(state.marked)
        self._reconciler.vault.write_state(state_module.ended(state, failed))
        forget(self._cluster.uuid)


def _is_complete(verdict: verdicts.Verdict) -> bool:
    return verdict.status.endswith('_COMPLETE')


def digest(rows: rows_module.Rows) -> tuple[typing.Any, ...]:
    """What must be unchanged when the lock is held."""
    return (rows.cluster.status, rows.digest(frozenset()), tuple(sorted(
        (group.uuid, group.status or '', group.node_count)
        for group in rows.groups)))
