# SPDX-License-Identifier: Apache-2.0


"""The health of a cluster, for Magnum's periodic job."""

import collections.abc
import contextlib
import dataclasses
import random
import threading
import time
import typing

from oslo_log import log as logging

from magnum_capi.driver import failures
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import health
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi.driver import recovery
from magnum_capi.driver import self_repair
from magnum_capi import errors
from magnum_capi.kube import client
from magnum_capi.kube import lease
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

_PARTS = ('control_plane', 'machine_deployments', 'machines')

#: By id of a credential: Keystone's answer, and the monotonic time in seconds
#: until which it counts.
_checked: dict[str | None, tuple[str, float]] = {}

#: By namespace and name of the Secret: its resourceVersion, and the memory of
#: the cluster.
_states: dict[tuple[str, str], tuple[str, state_module.State]] = {}

#: Limit of the entries in each.
_MOST = 10000
_checked_lock = threading.Lock()


class Monitor:
    """The interface of Magnum's monitors: a poll, and its data.

    :param store: Magnum's own.
    :param cluster: Magnum's row.
    """

    def __init__(self, runtime: collections.abc.Callable[
                 [], reconcile.Runtime], store: reconcile.Store,
                 cluster: typing.Any, clock: waiting.Clock = time) -> None:
        self.data: dict[str, str | dict[str, str]] = {}
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._clock = clock

    def poll_health_status(self) -> None:
        """Fill ``data``. Never raises: a missing answer is a result, too.

        It stays empty for a cluster of another driver.
        """
        try:
            self._poll()
        except state_module.Unreadable as e:
            LOG.error('Cluster %s: its health is not known: %s',
                      self._cluster.uuid, e)
            self._note(health.UNKNOWN, {'cluster': failures.owner_message(e)})
        except Exception as e:
            LOG.warning('Cluster %s: its health is not known: %s',
                        self._cluster.uuid, e)
            if not self.data:
                self._note(*health.unanswered())

    def _poll(self) -> None:
        runtime = self._runtime()
        reconciler = reconcile.Reconciler(runtime, self._store, self._cluster)
        try:
            reconciler.refuse_foreign(
                lambda: self._state(runtime, reconciler))
        except errors.UsageError as e:
            # Without data Magnum leaves the row as it is (magnum 23.0.0,
            # magnum/service/periodic.py, ClusterHealthUpdateJob).
            LOG.debug('Cluster %s: %s', self._cluster.uuid, e)
            return
        state = self._state(runtime, reconciler)
        rows = reconciler.rows()
        parts = () if rows.operation == 'DELETE' else _PARTS

        def look(kube: client.Kube) -> snapshot_module.Snapshot:
            return observer.look(kube, reconciler.namespace,
                                 reconciler.release, parts, thorough=True)

        snapshot = look(runtime.looks or runtime.kube)
        if runtime.looks and (
                snapshot.cluster is None
                or self_repair.is_needed(rows, state, snapshot)
                or recovery.may_recover(rows, state)):
            # Act only on fresh data, not on cached data.
            state = reconciler.vault.state()
            rows = reconciler.rows()
            snapshot = look(runtime.kube)
        credential = self._credential(runtime, reconciler, state)
        self._note(*health.health(
            snapshot, rows.wanted(state), runtime.now(),
            refused=credential == credentials.INVALID))
        self_repair.keep(reconciler, rows, state, snapshot)
        recovery.recover(reconciler, rows, state, snapshot)

    def _state(self, runtime: reconcile.Runtime,
               reconciler: reconcile.Reconciler) -> state_module.State:
        """The memory of the cluster; without secrets if it is unchanged."""
        key = reconciler.namespace, state_module.name(reconciler.release)
        version = runtime.looks and runtime.looks.version(*key)
        with _checked_lock:
            known, state = _states.get(key, (None, state_module.State()))
        if version and version == known:
            return state
        state = dataclasses.replace(reconciler.vault.state(), secrets={})
        with _checked_lock:
            if len(_states) > _MOST:
                _states.clear()
            if version:
                _states[key] = version, state
        return state

    def _note(self, status: str, reason: dict[str, str]) -> None:
        self.data = {'health_status': status, 'health_status_reason': reason}

    def _credential(self, runtime: reconcile.Runtime,
                    reconciler: reconcile.Reconciler,
                    state: state_module.State) -> str:
        used = credentials.in_use(state.record)
        if used is None:
            return credentials.UNKNOWN
        now = self._clock.monotonic()
        with _checked_lock:
            known, until = _checked.get(used.id, ('', now))
        if known and now < until:
            return known
        found = reconciler.ask_keystone(reconciler.vault.credentials() or {})
        if found == credentials.UNTRUSTED:
            with contextlib.suppress(lease.LockBusy,
                                     failures.ClusterGone):
                with reconciler.held(0):
                    found = reconciler.check_credential()
        with _checked_lock:
            if len(_checked) > _MOST:
                _checked.clear()
            # Spread the checks of many clusters.
            _checked[used.id] = found, now + random.uniform(0.8, 1) * (
                runtime.options.credential_check_interval)
        return found
