# SPDX-License-Identifier: Apache-2.0


"""Retries a creation whose lock was lost, while the user's token is needed.

Until a cluster has an application credential, only the request of its user can
continue its creation, and the request exists as long as its conductor lives.
If the management cluster does not answer, the lock expires. Then the lock is
taken again, and everything is reconciled from the beginning. The lock is never
taken from another holder, and a cluster that is no longer being created is
left alone.
"""

import contextlib

from oslo_log import log as logging

from magnum_capi.driver import failures
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver import reconcile
from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

_STATUS = 'CREATE_IN_PROGRESS'

#: Retried once the lock has been held.
_PASSING = (lease.LockBusy, lease.LockLost, rest.Unreachable)

_PACE = waiting.Pace(0.5, 2.0, 5.0)

#: Limit in seconds without a create_timeout: the lifetime of a token (default
#: of keystone's [token]/expiration).
_LONGEST = 3600


class Creation:
    """The creation of a cluster, in the request of its user."""

    def __init__(self, reconciler: reconcile.Reconciler) -> None:
        self._reconciler = reconciler
        self._tries = 0
        self._began = reconciler.runtime.clock.monotonic()

    def run(self) -> None:
        """Reconcile with the lock held; again whenever the lock is lost.

        :raises failures.ClusterGone: the cluster is no longer being created.
        :raises lease.LockLost: for good, or there is a credential, so that the
            periodic status can continue.
        """
        try:
            waiting.wait_for(
                self._once, done=lambda error: error is None,
                timeout=self._left(), what='the lock of the cluster',
                pace=_PACE, clock=self._reconciler.runtime.clock)
        except errors.WaitTimeout as e:
            raise e.state from None

    def _once(self) -> errors.MagnumCapiError | None:
        """Reconcile once: None, or the error after which to try again."""
        reconciler = self._reconciler
        again, self._tries = self._tries, self._tries + 1
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(reconciler.held(self._patience(again)))
            except _PASSING as e:
                if not again:
                    raise
                return self._told(e)
            if reconciler.cluster.status != _STATUS:
                return None
            try:
                reconciler.reconcile(lost=bool(again))
            except _PASSING as e:
                if has_credential(reconciler):
                    raise
                # Before anybody else can have the lock.
                return self._told(e)
        return None

    def _told(self, error: errors.MagnumCapiError
              ) -> errors.MagnumCapiError:
        """Show that the request is alive, and what it waits for.

        The periodic status considers a creation lost when its row was not
        written for a while (``loop``), so each of these texts is
        different.
        """
        reconciler = self._reconciler
        cluster = reconciler.cluster
        if (reconciler.store.status(cluster) != _STATUS
                or reconciler.is_deleting()):
            raise failures.ClusterGone(
                'The cluster is not being created any more')
        LOG.warning('Cluster %s: its creation is tried again: %s',
                    cluster.uuid, error)
        cluster.status_reason = (f'Will be tried again, try {self._tries + 1}'
                                 f': {failures.owner_message(error)}')
        reconciler.store.save(cluster)
        return error

    def _left(self) -> float:
        """Seconds until create_timeout."""
        cluster = self._reconciler.cluster
        whole: float = (cluster.create_timeout or 0) * 60 or _LONGEST
        age = self._reconciler.runtime.clock.monotonic() - self._began
        return max(whole - age, 0)

    def _patience(self, again: int) -> float:
        """Seconds to wait for the lock."""
        options = self._reconciler.runtime.options
        if not again:
            return options.lock_timeout
        # Write the row often enough for the periodic status.
        return min(options.lock_timeout, options.lost_after / 3,
                   self._left())


def has_credential(reconciler: reconcile.Reconciler,
                   unknown: bool = False) -> bool:
    """Whether the status can continue a creation without a token.

    :param unknown: the answer when this cannot be determined now.
    """
    try:
        state = reconciler.vault.state()
    except state_module.Unreadable:
        return False
    except errors.MagnumCapiError:
        return unknown
    return credentials.obtained(state.record)
