# SPDX-License-Identifier: Apache-2.0


"""Users' requests: each operation writes rows, then runs the reconciler.

Rows are written first and hold the desired state, so the loop
(``loop``) finds and resumes a request that was lost. It also retries
after transient errors; what cannot work fails here, with a reason for the
owner of the cluster.
"""

import collections.abc
import contextlib
import dataclasses
import typing

from oslo_log import log as logging

from magnum_capi.driver import create_retry
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import removal
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease

LOG = logging.getLogger(__name__)


class Operations:
    """The operations on one cluster.

    :param cluster: Magnum's row, as the conductor has it.
    """

    def __init__(self, runtime: reconcile.Runtime, store: reconcile.Store,
                 cluster: typing.Any) -> None:
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._reconciler = reconcile.Reconciler(runtime, store, cluster)

    def create(self, timeout: int | None = None) -> None:
        """Create a cluster.

        :param timeout: minutes, None or 0: no limit.
        """
        cluster, store = self._cluster, self._store
        cluster.stack_id = self._reconciler.release
        if timeout is not None:
            cluster.create_timeout = timeout
        with self._failing(create=True):
            # This also saves the references of certificates, which the
            # conductor has not saved yet. No other process could continue
            # without them.
            store.save(cluster)
            create_retry.Creation(self._reconciler).run()

    def change(self, *rows: typing.Any,
               remove: collections.abc.Collection[str] = (),
               group: typing.Any = None, resize: bool = False) -> None:
        """Apply what the rows say now.

        :param rows: that the conductor has changed and not saved.
        :param remove: nodes to remove first, by any of their names.
        :param group: row of the node group that changes, whose new nodes must
            be able to join.
        :param resize: the user requests the size of ``group``, even if the
            autoscaler changes it later.
        """
        with self._failing():
            for row in (*rows, self._cluster):
                self._store.save(row)
            # Refuse before the status makes other processes read the rows.
            with self._noted(remove, group, resize):
                self._in_progress()
                with self._reconciler.dropping_marks_on_failure():
                    self._reconciler.reconcile(
                        joining=self._joining(group, resize))

    def delete(self) -> None:
        """Request the deletion of everything.

        The rows say so before this waits for the lock, so that a creation in
        progress stops; and again with the lock, because its last holder may
        have saved an older row. If that holder ended the deletion, nothing is
        written: Magnum removes the row next, and anything new would remain.
        """
        options = self._runtime.options
        with self._failing(delete=True, passing=failures.TRANSIENT_DELETION):
            self._stop_if_deleted()
            self._leave()
            with self._reconciler.held(options.lock_timeout) as lock:
                self._stop_if_deleted()
                self._leave()
                state = self._reconciler.vault.write_state(
                    state_module.begun(
                        self._reconciler.vault.state(), 'DELETE',
                        self._runtime.now()))
                self._replace_refused_credential(state)
                lock.check()
                self._reconciler.run_helm(lambda helm: helm.uninstall(
                    self._reconciler.release, self._reconciler.namespace))

    def rotate(self, user_id: str) -> None:
        """Create a new application credential; the old one is deleted later.

        :param user_id: of its owner, the caller.
        """
        cluster, reconciler = self._cluster, self._reconciler
        options = self._runtime.options
        # Magnum's API waits for this, and needs time for what follows.
        patience = min(options.lock_timeout, options.answer_timeout / 2)
        with self._failing(passing=()):
            with reconciler.held(patience) as lock:
                reconciler.stop_if_deleting()
                reconciler.hand_on_keypair()
                state = state_module.begun(
                    reconciler.vault.state(), 'UPDATE', self._runtime.now())
                state = state_module.with_record(
                    state, credentials.rotate(state.record))
                lock.check()
                state = reconciler.vault.write_state(state)
                reconciler.rotation().ensure_credential(state, new=True)
                cluster.user_id = user_id
                self._in_progress()

    def _replace_refused_credential(self, state: state_module.State) -> None:
        """Try to get a valid credential; the deletion continues anyway."""
        try:
            self._reconciler.replace_refused_credential(state)
        except failures.TRANSIENT:
            raise
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: it is deleted without a valid '
                        'application credential: %s', self._cluster.uuid, e)

    def _stop_if_deleted(self) -> None:
        if self._store.status(self._cluster) == 'DELETE_COMPLETE':
            raise failures.ClusterGone('The cluster has been deleted')

    def _leave(self) -> None:
        """Mark every row as being deleted."""
        for row in (self._cluster, *self._store.groups(self._cluster)):
            row.status = 'DELETE_IN_PROGRESS'
            row.status_reason = None
            self._store.save(row)

    def _in_progress(self) -> None:
        cluster = self._cluster
        if cluster.status != 'CREATE_IN_PROGRESS':
            cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.status_reason = None
        self._store.save(cluster)

    def _joining(self, group: typing.Any,
                 resize: bool) -> collections.abc.Container[str]:
        """Uuids of the node groups that get nodes; see validation.check."""
        if group is None or resize and not self._grows(group):
            return ()
        return {group.uuid}

    def _grows(self, group: typing.Any) -> bool:
        there = self._reconciler.replicas(group.uuid)
        return there is None or bool(group.node_count > there)

    @contextlib.contextmanager
    def _noted(self, nodes: collections.abc.Collection[str],
               group: typing.Any,
               resize: bool) -> collections.abc.Iterator[None]:
        """Hold the lock, and record what is not in the rows.

        :raises failures.Failed: this failed. A later try would know the size,
            from the rows, and remove any nodes.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._reconciler.held(
                    self._runtime.options.lock_timeout))
                self._reconciler.stop_if_deleting()
                self._note(nodes, group, resize)
            except failures.TRANSIENT as e:
                if not nodes:
                    raise
                raise failures.Failed(
                    'The nodes to remove could not be recorded, so nothing '
                    f'was changed: {failures.owner_message(e)}') from e
            yield

    def _note(self, nodes: collections.abc.Collection[str],
              group: typing.Any, resize: bool) -> None:
        """Record which machines to remove first, and the requested size.

        Machines are not marked here: a refused request must not touch them.
        """
        reconciler = self._reconciler
        state = before = reconciler.vault.state()
        if group is not None and (nodes or state.marked):
            found = self._runtime.kube.list('Machine', reconciler.namespace, {
                names.CAPI_CLUSTER_NAME: reconciler.release})
            marked = tuple(removal.machines(
                found, nodes, reconciler.naming, group, state.marked))
            reconciler.unmark(set(state.marked) - set(marked))
            state = dataclasses.replace(state, marked=marked)
        if resize:
            state = dataclasses.replace(state, sizes={
                **state.sizes, group.uuid: group.node_count})
            self._write_size(group)
        if state != before:
            reconciler.vault.write_state(state)

    def _write_size(self, group: typing.Any) -> None:
        """Write the requested size again.

        ``loop`` may have written the autoscaler's before the lock was
        held.
        """
        for row in self._store.groups(self._cluster):
            if row.uuid == group.uuid and row.node_count != group.node_count:
                row.node_count = group.node_count
                self._store.save(row)

    @contextlib.contextmanager
    def _failing(self, create: bool = False, delete: bool = False,
                 passing: tuple[type[Exception], ...] = failures.TRANSIENT
                 ) -> collections.abc.Iterator[None]:
        """Report failures to the owner; leave transient ones to the status.

        :param passing: kinds of transient errors.
        """
        cluster = self._cluster
        try:
            self._reconciler.refuse_foreign()
            yield
        except failures.ClusterGone as e:
            LOG.info('Nothing more to do for %s: %s', cluster.uuid, e)
        except Exception as e:
            if isinstance(e, errors.MagnumCapiError):
                LOG.warning('Cluster %s: %s', cluster.uuid, e)
            else:
                LOG.exception('Cluster %s: unexpected error', cluster.uuid)
            if not delete and self._reconciler.is_deleting():
                return
            can_wait = not create or create_retry.has_credential(
                self._reconciler, unknown=self._reconciler.had)
            if can_wait and isinstance(e, passing):
                self._later(e, create, delete)
                return
            reason = failures.owner_message(e)
            if create:
                self._fail_groups(reason)
            cluster.status_reason = reason
            failed = (failures.Busy if isinstance(e, lease.LockBusy)
                      else failures.Failed)
            raise failed(reason) from None

    def _later(self, error: Exception, create: bool, delete: bool) -> None:
        cluster = self._cluster
        if delete:
            if not self._store.reload(cluster):
                return
            self._leave()
        elif not create:
            cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.status_reason = ('Will be tried again: '
                                 f'{failures.owner_message(error)}')
        self._store.save(cluster)

    def _fail_groups(self, reason: str) -> None:
        for group in self._store.groups(self._cluster):
            if (group.status or '').endswith('_IN_PROGRESS'):
                group.status = 'CREATE_FAILED'
                group.status_reason = reason
                self._store.save(group)
