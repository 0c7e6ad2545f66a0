# SPDX-License-Identifier: Apache-2.0


"""What only a user's token can do does not end with a lock that was lost.

Before a cluster has an application credential nobody but the request of its
user can go on with its creation, and that is at hand as long as its conductor
lives. A management cluster that does not answer lets the lock run out. Then
it is taken again, and the road is walked from its beginning with what is
there by then. Who had the lock meanwhile has the last word: it is not taken
from anybody, and a cluster that is no longer being created is left alone.
"""

import contextlib

from oslo_log import log as logging

from magnum_capi_tempest.driver import failures
from magnum_capi_tempest.driver.keys import credentials
from magnum_capi_tempest.driver.kubernetes import lock as lock_module
from magnum_capi_tempest.driver.kubernetes import rest
from magnum_capi_tempest import errors
from magnum_capi_tempest import waiting

LOG = logging.getLogger(__name__)

_STATUS = 'CREATE_IN_PROGRESS'

#: Waited out once the lock was had.
_PASSING = (lock_module.LockBusy, lock_module.LockLost, rest.Unreachable)

_PACE = waiting.Pace(0.5, 2.0, 5.0)

#: Seconds, without a create_timeout: how long a token is valid (keystone,
#: [token]/expiration, its default).
_LONGEST = 3600


class Creation:
    """The creation of a cluster, in the request of its user.

    :param road: converge.Road.
    """

    def __init__(self, road):
        self._road = road
        self._tries = 0
        self._began = road.world.clock.monotonic()

    def run(self):
        """Take the road with the lock; again while the lock gets lost.

        :raises failures.Stopped: the cluster is not being created any more.
        :raises lock.LockLost: for good, or it is the status that goes on:
            there is a credential.
        """
        try:
            waiting.wait_for(
                self._once, done=lambda error: error is None,
                timeout=self._left(), what='the lock of the cluster',
                pace=_PACE, clock=self._road.world.clock)
        except errors.WaitTimeout as e:
            raise e.state from None

    def _once(self):
        """Walk the road: None, or the error after which to try again."""
        road = self._road
        again, self._tries = self._tries, self._tries + 1
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(road.held(self._patience(again)))
            except _PASSING as e:
                if not again:
                    raise
                return self._told(e)
            if road.cluster.status != _STATUS:
                return None
            try:
                road.converge(lost=bool(again))
            except _PASSING as e:
                if has_credential(road):
                    raise
                # Before anybody else can have the lock.
                return self._told(e)
        return None

    def _told(self, error):
        """Show that the request is alive, and its owner what it waits for.

        The status takes a creation for lost when its row was not written
        for a while (``watch``), so each of these texts is a new one.
        """
        road = self._road
        cluster = road.cluster
        if road.store.status(cluster) != _STATUS or road.is_deleting():
            raise failures.Stopped('The cluster is not being created any more')
        LOG.warning('Cluster %s: its creation is tried again: %s',
                    cluster.uuid, error)
        cluster.status_reason = (f'Will be tried again, try {self._tries + 1}'
                                 f': {failures.told(error)}')
        road.store.save(cluster)
        return error

    def _left(self):
        """Seconds until create_timeout."""
        whole = (self._road.cluster.create_timeout or 0) * 60 or _LONGEST
        age = self._road.world.clock.monotonic() - self._began
        return max(whole - age, 0)

    def _patience(self, again):
        """Seconds to wait for the lock."""
        settings = self._road.world.settings
        if not again:
            return settings.lock_timeout
        # So that the status hears of it often enough.
        return min(settings.lock_timeout, settings.lost_after / 3,
                   self._left())


def has_credential(road, unknown=False):
    """Whether the status can go on with a creation without a token.

    :param unknown: what to say when nobody can tell now.
    """
    try:
        state = road.vault.state()
    except errors.MagnumCapiError:
        return unknown
    except ValueError:
        return False
    return credentials.obtained(state.record)
