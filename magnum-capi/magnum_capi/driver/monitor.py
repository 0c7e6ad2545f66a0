# SPDX-License-Identifier: Apache-2.0


"""The health of a cluster, for Magnum's periodic job."""

import collections.abc
import contextlib
import dataclasses
import random
import typing

from oslo_log import log as logging

from magnum_capi.driver import correction
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.observed import health
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver import observer
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.driver import scope
from magnum_capi import errors
from magnum_capi.kube import client
from magnum_capi.kube import lease

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module

LOG = logging.getLogger(__name__)

_CURES = {credentials.INVALID: health.REFUSED,
          credentials.UNTRUSTED: health.DISTRUST}


class Monitor:
    """The interface of Magnum's monitors: a poll, and its data.

    :param store: Magnum's own.
    :param cluster: Magnum's row.
    """

    def __init__(self, runtime: collections.abc.Callable[
                 [], scope.Runtime], store: 'store_module.Store',
                 cluster: typing.Any) -> None:
        self.data: dict[str, str | dict[str, str]] = {}
        self._runtime = runtime
        self._store = store
        self._cluster = cluster

    def poll_health_status(self) -> None:
        """Fill ``data``. Never raises: a missing answer is a result, too.

        It stays empty for a cluster of another driver.
        """
        try:
            self._poll()
        except Exception as e:
            log = (LOG.warning if isinstance(e, failures.TRANSIENT)
                   else LOG.error)
            log('Cluster %s: its health is not known: %s',
                self._cluster.uuid, e)
            if not self.data:
                self._note(health.UNKNOWN, {
                    'cluster': failures.owner_message(e)})

    def _poll(self) -> None:
        runtime = self._runtime()
        reconciler = reconcile.Reconciler(runtime, self._store, self._cluster)
        known = poll_cache.of(self._cluster.uuid, runtime.clock.monotonic())
        try:
            reconciler.refuse_foreign(
                lambda: self._state(runtime, reconciler, known))
        except errors.UsageError as e:
            # Without data Magnum leaves the row as it is (magnum 23.0.0,
            # magnum/service/periodic.py, ClusterHealthUpdateJob).
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)
            return
        state = self._state(runtime, reconciler, known)
        rows = reconciler.rows(known.template)
        known.template = rows.template
        snapshot = self._read(runtime.cached or runtime.kube, reconciler, rows)
        if snapshot.cluster is None and runtime.cached:
            snapshot = self._read(runtime.kube, reconciler, rows)
        credential = self._credential(runtime, reconciler, state, known)
        self._note(*health.health(
            snapshot, rows.desired(state), runtime.now(),
            _CURES.get(credential)))
        if not rows.in_progress:
            correction.Correction(reconciler).correct(rows, state, snapshot)

    @staticmethod
    def _read(kube: client.Kube, reconciler: reconcile.Reconciler,
              rows: rows_module.Rows) -> snapshot_module.Snapshot:
        where = reconciler.namespace, reconciler.release
        if rows.operation == 'DELETE':
            return snapshot_module.Snapshot(kube.get('Cluster', *where))
        return observer.cached(kube, *where)

    @staticmethod
    def _state(runtime: scope.Runtime, reconciler: reconcile.Reconciler,
               known: poll_cache.PollCache) -> state_module.State:
        """The state of the cluster; without secrets."""
        version = runtime.cached and runtime.cached.version(
            reconciler.namespace, state_module.name(reconciler.release))
        if version and known.state and known.state[0] == version:
            return known.state[1]
        state = dataclasses.replace(reconciler.secrets.state(), secrets={})
        known.state = (version, state) if version else None
        return state

    def _note(self, status: str, reason: dict[str, str]) -> None:
        self.data = {'health_status': status, 'health_status_reason': reason}

    @staticmethod
    def _credential(runtime: scope.Runtime, reconciler: reconcile.Reconciler,
                    state: state_module.State,
                    known: poll_cache.PollCache) -> str:
        used = credentials.in_use(state.record)
        if used is None:
            return credentials.UNKNOWN
        now = runtime.clock.monotonic()
        if known.credential:
            id_, answer, until = known.credential
            if id_ == used.id and now < until:
                return answer
        found = reconciler.ownership.ask(
            reconciler.secrets.credentials() or {})
        if found == credentials.UNTRUSTED:
            with contextlib.suppress(lease.LockBusy,
                                     failures.ClusterGone):
                with reconciler.locked(0):
                    found = reconciler.ownership.check()
        # Spread the checks of many clusters.
        known.credential = used.id, found, now + random.uniform(0.8, 1) * (
            runtime.options.credential_check_interval)
        return found
