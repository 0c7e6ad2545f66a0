# SPDX-License-Identifier: Apache-2.0


"""Users' requests: judged, recorded, then tried at once.

A request is judged before anything is written. Then its rows are saved, and
the driver's state with the new values, in one write. Rows come first: a
request of which only the rows were saved is found and recorded by the loop
(``loop``), and one that is recorded is applied by it. So what happens after
that is only an attempt. What is refused fails here, with a reason for the
owner of the cluster; after a transient error the loop goes on.

Only a creation needs its request until the cluster has an application
credential, which needs the user's token; see :meth:`Operations.create`.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import typing

from oslo_log import log as logging

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver import loop
from magnum_capi.driver.observed import removal
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

_CREATING = 'CREATE_IN_PROGRESS'

#: After these a creation without a credential is tried again, once the lock
#: has been held.
_RETRIED = (lease.LockBusy, lease.LockLost, rest.Unreachable)

_PACE = waiting.Pace(0.5, 2.0, 5.0)

#: Limit in seconds without a create_timeout: the lifetime of a token (default
#: of keystone's [token]/expiration).
_TOKEN_LIFETIME = 3600


class Operations:
    """The operations on one cluster.

    :param reconciler: with Magnum's row as the conductor has it.
    """

    def __init__(self, reconciler: reconcile.Reconciler) -> None:
        self._reconciler = reconciler
        self._runtime = reconciler.runtime
        self._store = reconciler.store
        self._cluster = reconciler.cluster
        self._tries = 0

    def create(self, timeout: int | None = None) -> None:
        """Create a cluster.

        While it has no application credential, a lost lock and a management
        cluster that does not answer are waited for, until create_timeout.

        :param timeout: minutes, None or 0: no limit.
        """
        cluster, clock = self._cluster, self._runtime.clock
        cluster.stack_id = self._reconciler.release
        if timeout is not None:
            cluster.create_timeout = timeout
        limit = (cluster.create_timeout or 0) * 60 or _TOKEN_LIFETIME
        end = clock.monotonic() + limit
        with self._reporting('CREATE', lambda error: (
                _is_transient(error) and self._has_credential(
                    unknown=self._reconciler.lock_was_held))):
            # This also saves the references of certificates, which the
            # conductor has not saved yet. No other process could continue
            # without them.
            self._store.save(cluster)
            try:
                waiting.wait_for(
                    functools.partial(self._create_once, end),
                    done=lambda error: error is None, timeout=limit,
                    what='the lock of the cluster', pace=_PACE, clock=clock)
            except errors.WaitTimeout as e:
                raise e.state from None

    def _create_once(self, end: float) -> errors.MagnumCapiError | None:
        """Try to create: None, or the error after which to try again.

        :param end: monotonic time in seconds.
        """
        reconciler, options = self._reconciler, self._runtime.options
        again, self._tries = self._tries, self._tries + 1
        # Write the row often enough for the loop.
        patience = options.lock_timeout if not again else min(
            options.lock_timeout, options.lost_after / 3,
            max(end - self._runtime.clock.monotonic(), 0))
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(reconciler.locked(patience))
            except _RETRIED as e:
                if not again:
                    raise
                return self._report_retry(e)
            if self._cluster.status != _CREATING:
                return None
            try:
                reconciler.reconcile(resume=bool(again))
            except _RETRIED as e:
                if self._has_credential(unknown=False):
                    raise
                # Before anybody else can have the lock.
                return self._report_retry(e)
        return None

    def _report_retry(self, error: errors.MagnumCapiError
                      ) -> errors.MagnumCapiError:
        """Show that the request is alive, and what it waits for.

        The loop considers a creation lost when its row was not written for a
        while, so each of these texts is different.
        """
        cluster = self._cluster
        if (self._store.status(cluster) != _CREATING
                or self._reconciler.is_deleting()):
            raise failures.ClusterGone(
                'The cluster is not being created any more')
        LOG.warning('Cluster %s: its creation is tried again: %s',
                    cluster.uuid, error)
        cluster.status_reason = (f'Will be tried again, try {self._tries + 1}'
                                 f': {failures.owner_message(error)}')
        self._store.save(cluster)
        return error

    def _has_credential(self, unknown: bool) -> bool:
        """Whether the loop can go on with a creation without a token.

        :param unknown: the answer when this cannot be determined now.
        """
        try:
            state = self._reconciler.secrets.state()
        except state_module.Unreadable:
            return False
        except errors.MagnumCapiError:
            return unknown
        return credentials.obtained(state.record)

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
        reconciler = self._reconciler
        with self._reporting('UPDATE', _is_transient):
            for row in (*rows, self._cluster):
                self._store.save(row)
            try:
                with reconciler.locked(self._runtime.options.lock_timeout):
                    reconciler.stop_if_deleting()
                    if resize:
                        self._write_size(group)
                    reconciler.reconcile(
                        joining=self._joining(group, resize),
                        request=functools.partial(
                            self._requested, remove, group, resize),
                        recorded=self._in_progress)
            except failures.TRANSIENT as e:
                if resize and not reconciler.recorded:
                    # The loop finds it there.
                    self._write_size(group)
                if not remove or reconciler.recorded:
                    raise
                # A later try would know the size, from the rows, and remove
                # any nodes.
                raise failures.Failed(
                    'The nodes to remove could not be recorded, so nothing '
                    f'was changed: {failures.owner_message(e)}') from e

    def _requested(self, nodes: collections.abc.Collection[str],
                   group: typing.Any, resize: bool,
                   state: state_module.State) -> state_module.State:
        """The state with what is not in the rows.

        :returns: with the machines to remove first, and the requested size.
        """
        if group is not None and (nodes or state.marked):
            found = self._runtime.kube.list(
                'Machine', self._reconciler.namespace,
                {names.CAPI_CLUSTER_NAME: self._reconciler.release})
            state = dataclasses.replace(state, marked=tuple(removal.machines(
                found, nodes, self._reconciler.naming, group, state.marked)))
        if resize:
            state = dataclasses.replace(state, sizes={
                **state.sizes, group.uuid: group.node_count})
        return state

    def delete(self) -> None:
        """Request the deletion of everything.

        The rows say so before this waits for the lock, so that a creation in
        progress stops; and again with the lock, because its last holder may
        have saved an older row. If that holder ended the deletion, nothing is
        written: Magnum removes the row next, and anything new would remain.

        A deletion is never given up: the loop goes on after any error.
        """
        reconciler = self._reconciler
        with self._reporting('DELETE', _is_for_the_loop):
            self._stop_if_deleted()
            self._mark_deleting()
            with reconciler.locked(self._runtime.options.lock_timeout):
                self._stop_if_deleted()
                self._mark_deleting()
                state = reconciler.secrets.write_state(state_module.begun(
                    reconciler.secrets.state(), 'DELETE', self._runtime.now()))
                self._replace_refused_credential(state)
                # Magnum removes only rows whose end its own job has seen.
                loop.Loop(reconciler).step(may_finish=False)

    def rotate(self, user_id: str) -> None:
        """Create a new application credential; the old one is deleted later.

        :param user_id: of its owner, the caller.
        """
        cluster, reconciler = self._cluster, self._reconciler
        options = self._runtime.options
        # Magnum's API waits for this, and needs time for what follows.
        patience = min(options.lock_timeout, options.answer_timeout / 2)
        with self._reporting('UPDATE', lambda error: False):
            with reconciler.locked(patience) as lock:
                reconciler.stop_if_deleting()
                reconciler.ownership.copy_keypair()
                state = reconciler.secrets.state()
                state = state_module.with_record(
                    state, credentials.rotate(state.record))
                lock.check()
                state = reconciler.ownership.ensure_credential(
                    reconciler.secrets.write_state(state), new=True)
                # One that is refused leaves an operation in progress alone.
                lock.check()
                reconciler.secrets.write_state(state_module.begun(
                    state, 'UPDATE', self._runtime.now()))
                cluster.user_id = user_id
                self._in_progress()

    def _replace_refused_credential(self, state: state_module.State) -> None:
        """Try to get a valid credential; the deletion continues anyway."""
        try:
            self._reconciler.ownership.replace_refused(state)
        except failures.TRANSIENT:
            raise
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: it is deleted without a valid '
                        'application credential: %s', self._cluster.uuid, e)

    def _stop_if_deleted(self) -> None:
        if self._store.status(self._cluster) == 'DELETE_COMPLETE':
            raise failures.ClusterGone('The cluster has been deleted')

    def _mark_deleting(self) -> None:
        for row in (self._cluster, *self._store.groups(self._cluster)):
            row.status = 'DELETE_IN_PROGRESS'
            row.status_reason = None
            self._store.save(row)

    def _in_progress(self) -> None:
        cluster = self._cluster
        if cluster.status != _CREATING:
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

    def _write_size(self, group: typing.Any) -> None:
        """Write the requested size of an autoscaled group again.

        The loop may have written that of the autoscaler before the lock was
        held. In the row of any other group there is only what was requested,
        and the last request: a later one may have had the lock first.
        """
        for row in self._store.groups(self._cluster):
            if (row.uuid == group.uuid and row.node_count != group.node_count
                    and self._is_autoscaled(group)):
                row.node_count = group.node_count
                self._store.save(row)

    def _is_autoscaled(self, group: typing.Any) -> bool:
        reconciler = self._reconciler
        current = reconciler.current_values(reconciler.secrets.state())
        return current is not None and reconciler.naming.node_group(
            group.uuid) in desired_values.bounds(current.values)

    @contextlib.contextmanager
    def _reporting(self, operation: str, goes_on: collections.abc.Callable[
            [Exception], bool]) -> collections.abc.Iterator[None]:
        """Report failures to the owner; leave the others to the loop.

        :param goes_on: whether the loop goes on after an error.
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
            if operation != 'DELETE' and self._reconciler.is_deleting():
                return
            if goes_on(e):
                self._leave_to_loop(operation, e)
                return
            if operation == 'CREATE':
                self._reconciler.fail_groups(failures.owner_message(e))
            cluster.status_reason = failures.owner_message(e)
            failed = (failures.Busy if isinstance(e, lease.LockBusy)
                      else failures.Failed)
            raise failed(cluster.status_reason) from None

    def _leave_to_loop(self, operation: str, error: Exception) -> None:
        cluster = self._cluster
        if operation == 'DELETE':
            if not self._store.reload(cluster):
                return
            self._mark_deleting()
        elif cluster.status != _CREATING:
            cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.status_reason = ('Will be tried again: '
                                 f'{failures.owner_message(error)}')
        self._store.save(cluster)


def _is_transient(error: Exception) -> bool:
    return isinstance(error, failures.TRANSIENT)


def _is_for_the_loop(error: Exception) -> bool:
    """Whether a deletion goes on: unless nobody knows how, or may."""
    return isinstance(error, errors.MagnumCapiError) and not isinstance(
        error, (state_module.Unreadable, errors.UsageError))
