# SPDX-License-Identifier: Apache-2.0

"""Waits for clusters: polls gently, stops at once on failure, says why.

:mod:`.common.observations` interprets what was seen; the loop is
:func:`magnum_capi.waiting.wait_for`.
"""

import collections.abc
import dataclasses
import re
import time
import typing

from tempest import config
from tempest.lib import exceptions as lib_exc
import urllib3.exceptions

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import json_types
from magnum_capi_tempest import redact
from magnum_capi_tempest import services
from magnum_capi_tempest.tests.common import notes as notes_
from magnum_capi_tempest.tests.common import observations

if typing.TYPE_CHECKING:
    from magnum_capi_tempest.tests.common import versions as versions_

CONF = config.CONF

State = typing.TypeVar('State')

#: Abnormal conditions in the management cluster, by the stack_id.
Explain: typing.TypeAlias = collections.abc.Callable[
    [str], collections.abc.Sequence[object]]

#: Magnum answers GET and LIST with this 400 while a cluster has a row but no
#: node groups, after POST and during DELETE: master_count is then 0, which its
#: own response type refuses
#: (magnum/api/controllers/v1/cluster.py, ``master_count``, minimum=1).
_PASSING_400 = re.compile(
    r'Invalid input for field/attribute master_count')

#: Statuses of a proxy in front of Magnum that has no Magnum, for example while
#: it restarts. A wait of half an hour asks some hundred times.
_AWAY = frozenset((502, 503, 504))

#: Seconds for the conductor to store an accepted cluster.
KNOWN_TIMEOUT = 60

#: Fraction of the deletion timeout after which a deletion must have begun: a
#: driver may block Magnum until then.
_BEGINS = 1 / 3

#: The node group that every cluster has.
WORKERS = 'default-worker'

#: The most conditions of Cluster API that an error names.
_CONDITIONS = 8


def pace(interval: float) -> waiting.Pace:
    """Return how often to poll: soon at first, then every so many seconds."""
    return waiting.Pace(first=min(0.5, interval), most=interval)


def until(poll: collections.abc.Callable[[], State],
          done: collections.abc.Callable[[State], object], what: str, *,
          failed: collections.abc.Callable[[State], str | None] | None = None,
          describe: collections.abc.Callable[[State], str] = str,
          timeout: float | None = None) -> State:
    """Wait with the limits of tempest.conf: see waiting.wait_for.

    :param timeout: seconds; by default build_timeout.
    """
    options = CONF.magnum_capi
    return waiting.wait_for(
        poll, done=done, failed=failed, what=what, describe=describe,
        timeout=options.build_timeout if timeout is None else timeout,
        pace=pace(options.build_interval))


def until_steady(poll: collections.abc.Callable[[], State],
                 done: collections.abc.Callable[[State], object],
                 seconds: float, what: str, *,
                 describe: collections.abc.Callable[[State], str] = str,
                 timeout: float | None = None) -> State:
    """Wait until a condition has held for some seconds without a break.

    :param poll: returns a state.
    :param done: whether the condition holds in a state.
    :param timeout: seconds for it to begin; by default build_timeout.
    """
    since: float | None = None

    def timed() -> State:
        nonlocal since
        state = poll()
        if not done(state):
            since = None
        elif since is None:
            since = time.monotonic()
        return state

    if timeout is None:
        timeout = CONF.magnum_capi.build_timeout
    return until(
        timed, lambda _: (since is not None
                          and time.monotonic() - since >= seconds),
        what, describe=describe, timeout=timeout + seconds)


def until_over(seconds: float, poll: collections.abc.Callable[[], State],
               wrong: collections.abc.Callable[[State], str | None], what: str
               ) -> State:
    """Watch something for some seconds, in which nothing may go wrong.

    :param poll: returns a state.
    :param wrong: function of a state: what is wrong with it, or None.
    :returns: the last state.
    :raises WaitAborted: something was wrong.
    """
    end = time.monotonic() + seconds
    return until(
        poll, lambda state: time.monotonic() >= end and not wrong(state),
        what, failed=wrong,
        describe=lambda state: wrong(state) or 'nothing wrong',
        timeout=CONF.magnum_capi.build_timeout + seconds)


def ended_early() -> observations.Failure:
    """Return a function of Looks: why an operation is no longer running.

    Magnum shows the old status for seconds after a request.
    """
    began = False

    def wrong(state: observations.Observation) -> str | None:
        nonlocal began
        if began and not state.trouble and not observations.is_in_progress(
                state.status):
            return f'the cluster is {state.status} already'
        began = began or observations.is_in_progress(state.status)
        return None

    return wrong


class ClusterWaiter:
    """Waits for changes of clusters.

    :param interval: longest pause between two observations, in seconds.
    :param timeout: of creations, updates and deletions, in seconds.
    :param explain: for the hints of errors; None: they have none.
    :param tolerant: also tolerate node groups that updates leave in progress
        (observations.Update.is_abandoned); see :meth:`tolerate_abandoned`.
    :param stacks: receives each stack_id by the uuid of its cluster.
    :param versions: sees each observation of a cluster; None: nobody does.
    :param notes: for temporary errors and what changes.
    :param name: of the class that waits.
    :param clock: for tests.

    Errors of all methods, WaitTimeout and WaitAborted, carry ``state``
    (an Observation, with status and status_reason) and ``elapsed``; their
    hint contains the conditions.
    """

    def __init__(self, clusters: services.ClustersClient,
                 nodegroups: services.NodegroupsClient, *, interval: float,
                 timeout: float, explain: Explain | None = None,
                 tolerant: bool = False, stacks: dict[str, str] | None = None,
                 versions: 'versions_.Watch | None' = None,
                 notes: notes_.Notes | None = None, name: str = '',
                 clock: waiting.Clock = time) -> None:
        self._clusters = clusters
        self._nodegroups = nodegroups
        self._timeout = timeout
        self._explain = explain
        self._tolerant = tolerant
        self._tolerated: set[str] = set()
        self._stacks = {} if stacks is None else stacks
        self.versions = versions
        self._notes = notes_.Notes() if notes is None else notes
        self._name = name
        self._seen: set[str] = set()
        self._clock = clock
        self._pace = pace(interval)

    def observe(self, cluster_id: str, nodegroup: str | None = None
                ) -> observations.Observation:
        """Observe a cluster once.

        :param nodegroup: name or uuid of a group to observe as well.
        :returns: the state. The group is requested first, so that the cluster
            is never older than its group.
        """
        state = self._reached(
            cluster_id, lambda: self._observe(cluster_id, nodegroup))
        if not state.trouble:
            self._notes.see(cluster_id, state.cluster)
        return state

    def _observe(self, cluster_id: str, nodegroup: str | None
                 ) -> observations.Observation:
        try:
            group = nodegroup and self._nodegroups.show_nodegroup(
                cluster_id, nodegroup)
            state = observations.Observation(
                self._clusters.show_cluster(cluster_id), group or None)
            self._seen.add(cluster_id)
            if state.stack_id:
                self._stacks[cluster_id] = state.stack_id
            if self.versions:
                self.versions.see(state.body)
            return state
        except lib_exc.NotFound:
            return observations.Observation()
        except lib_exc.BadRequest as e:
            passing = _PASSING_400.search(str(e))
            if not passing:
                raise
            self._seen.add(cluster_id)
            self._tolerate(f'GET cluster {cluster_id}',
                           f'400, {passing.group()}')
            return observations.Observation(
                trouble='400 that passes: master_count')

    def _reached(self, cluster_id: str, read: observations.Observe
                 ) -> observations.Observation:
        """Return what a function reads, or an error that passes."""
        try:
            return read()
        except lib_exc.UnexpectedResponseCode as e:
            if e.resp.status not in _AWAY:
                raise
            answer = e.resp.status
        except urllib3.exceptions.HTTPError as e:
            answer = type(e).__name__
        self._tolerate(f'GET cluster {cluster_id}',
                       f'{answer}, Magnum did not answer')
        return observations.Observation(
            trouble=f'{answer}, no answer of Magnum')

    def _tolerate(self, what: str, error: str) -> None:
        self._notes.tolerate(self._name, what, error)

    def before(self, cluster_id: str, nodegroup: str | None = None
               ) -> observations.Observation:
        """Observe until there is no temporary error; the start of a change.

        :returns: the state, for until_updated and until_deleted.
        """
        return self._wait(
            lambda: self.observe(cluster_id, nodegroup),
            f'cluster {cluster_id} to be shown', KNOWN_TIMEOUT,
            done=lambda state: not state.trouble, failed=None)

    def has_seen(self, cluster_id: str) -> bool:
        """Whether an observation has ever shown a cluster."""
        return cluster_id in self._seen

    def until_known(self, cluster_id: str, late: bool = False) -> None:
        """Wait until Magnum shows a cluster that it has accepted.

        The row is created after the answer 202. A DELETE in between gets a
        404, which a cleanup would take for success, and the cluster would
        leak.

        :param late: it was waited for in vain, and is to be deleted: wait for
            as long as a deletion may take.
        """
        what, timeout = (
            (f'cluster {cluster_id}, which was accepted, to be known and '
             'then deleted', self._timeout) if late else
            (f'cluster {cluster_id} to be known', KNOWN_TIMEOUT))
        self._wait(
            lambda: self.observe(cluster_id), what, timeout,
            done=lambda state: self.has_seen(cluster_id), failed=None)

    def until_handed_over(self, cluster_id: str) -> observations.Observation:
        """Wait until the driver has done its part of a creation, or failed.

        An earlier DELETE may overtake the creation, which then creates objects
        that nothing deletes: the conductor handles both concurrently. It sets
        the stack_id of the node groups when the driver's method has returned
        (magnum/conductor/handlers/cluster_conductor.py, cluster_create). Needs
        microversion 1.9.
        """
        return self._wait(
            lambda: self.observe(cluster_id, WORKERS),
            f'the driver to take over cluster {cluster_id}', self._timeout,
            # None: the node groups may not be stored yet either.
            done=lambda state: state.cluster is not None and (
                not observations.is_in_progress(state.status)
                or bool(state.group.get('stack_id'))),
            failed=None)

    def until_created(self, cluster_id: str) -> json_types.Object:
        """Wait for CREATE_COMPLETE and return the cluster, a dict."""
        return self._wait(
            lambda: self.observe(cluster_id),
            f'cluster {cluster_id} to be created', self._timeout,
            done=lambda state: state.status == 'CREATE_COMPLETE',
            failed=observations.creation_failure()).body

    def until_updated(self, cluster_id: str, before: observations.Observation,
                      node_count: int) -> json_types.Object:
        """Wait for the end of a resize or of a PATCH of node_count.

        :param before: the result of :meth:`before`, with the node group,
            from before the request was sent.
        :param node_count: desired, of that group.
        :returns: the cluster.
        """
        group = before.group['uuid']
        return self.outcome(self._wait(
            self.update(before, node_count).poll(
                lambda: self.observe(cluster_id, group), self._clock),
            f'cluster {cluster_id} to be updated', self._timeout,
            done=observations.Update.is_over,
            failed=observations.Update.failure))

    def update(self, before: observations.Observation, node_count: int
               ) -> observations.Update:
        """Return an observations.Update for a caller with its own pace.

        :param before: see :meth:`until_updated`.
        :param node_count: desired, of that group.
        """
        tolerant = self._tolerant or (
            (before.cluster or {}).get('uuid') in self._tolerated)
        return observations.Update(before, node_count, tolerant=tolerant)

    def tolerate_abandoned(self, cluster_id: str) -> None:
        """Tolerate node groups of a cluster that updates leave in progress.

        Its driver is another one than that for which the waiter was made.
        """
        self._tolerated.add(cluster_id)

    def outcome(self, update: observations.Update) -> json_types.Object:
        """Return the cluster, a dict, of an update that is over.

        If its group was abandoned, that is recorded as tolerated.
        """
        if update.is_abandoned():
            self._tolerate('update', f'it was abandoned: {update}')
        return update.state.body

    def until_settled(self, cluster_id: str, nodegroup: str | None = None
                      ) -> observations.Observation:
        """Wait until the current operation is over, successful or not.

        It must have begun: see :mod:`.common.observations`.

        :param nodegroup: name or uuid of a group to wait for as well.
        """
        return self._wait(
            lambda: self.observe(cluster_id, nodegroup),
            f'cluster {cluster_id} to settle', self._timeout,
            done=lambda state: state.cluster is not None and not (
                observations.is_in_progress(state.status)
                or observations.is_in_progress(state.group_status)),
            failed=None)

    def until_counted(self, cluster_id: str, nodegroup: str, node_count: int
                      ) -> None:
        """Wait until Magnum has stored a resize, but not for its end.

        Until then another request may overtake it: the conductor's threads
        handle requests that arrive within milliseconds in any order.
        """
        self._wait(
            lambda: self.observe(cluster_id, nodegroup),
            f'cluster {cluster_id} to want {node_count} nodes', KNOWN_TIMEOUT,
            done=lambda state: (state.nodegroup or {}).get(
                'node_count') == node_count, failed=None)

    def until_group_created(self, cluster_id: str, nodegroup: str
                            ) -> observations.Observation:
        """Wait for a new node group and its cluster to be complete.

        Magnum saves the cluster as UPDATE_IN_PROGRESS before it stores the
        group (magnum/conductor/handlers/nodegroup_conductor.py,
        nodegroup_create), so a cluster that is complete once the group exists
        is up to date.

        :param nodegroup: name or uuid.
        """
        return self._wait(
            lambda: self.observe(cluster_id, nodegroup),
            f'node group {nodegroup} of cluster {cluster_id} to be created',
            self._timeout,
            done=lambda state: (state.group_status == 'CREATE_COMPLETE'
                                and observations.is_complete(state.status)),
            failed=observations.group_failure)

    def until_group_deleted(self, cluster_id: str, nodegroup: str
                            ) -> observations.Observation:
        """Wait until a cluster is complete and lacks a node group.

        :param nodegroup: uuid.
        """
        def list_then_observe() -> observations.Observation:
            groups = self._nodegroups.list_nodegroups(cluster_id)
            state = self.observe(cluster_id)
            left = [g for g in groups['nodegroups'] if g['uuid'] == nodegroup]
            return dataclasses.replace(state, nodegroup=left[0]) if (
                left) else state

        return self._wait(
            lambda: self._reached(cluster_id, list_then_observe),
            f'node group {nodegroup} of cluster {cluster_id} to be deleted',
            self._timeout,
            done=lambda state: (state.nodegroup is None
                                and observations.is_complete(state.status)),
            failed=observations.group_failure)

    def until_deleted(self, cluster_id: str,
                      before: observations.Observation | None) -> None:
        """Wait until Magnum no longer knows the cluster.

        :param before: the result of :meth:`before` from before the request;
            None if it failed.
        """
        begins = self._clock.monotonic() + self._timeout * _BEGINS
        self._wait(
            lambda: self.observe(cluster_id),
            f'cluster {cluster_id} to be deleted', self._timeout,
            done=lambda state: state.cluster is None and not state.trouble,
            failed=observations.deletion_failure(
                before, late=lambda: self._clock.monotonic() > begins))

    def _wait(self, poll: collections.abc.Callable[[], State], what: str,
              timeout: float, done: collections.abc.Callable[[State], bool],
              failed: collections.abc.Callable[[State], str | None] | None
              ) -> State:
        try:
            return waiting.wait_for(
                poll, done=done, failed=failed, what=what, timeout=timeout,
                describe=_shown, pace=self._pace, clock=self._clock)
        except errors.WaitFailed as e:
            # An Update contains the Observation.
            e.state = getattr(e.state, 'state', e.state)
            conditions = self._conditions(e.state.stack_id)
            if conditions:
                shown = conditions[:_CONDITIONS]
                e.hint = 'Cluster API says: ' + '; '.join(map(_shown, shown))
                more = len(conditions) - len(shown)
                if more:
                    e.hint += f'; and {more} more'
            raise

    def _conditions(self, stack_id: str | None
                    ) -> collections.abc.Sequence[object]:
        """Ask the management cluster; its failure must not hide the reason."""
        if not (self._explain and stack_id):
            return []
        try:
            return self._explain(stack_id)
        except errors.MagnumCapiError as e:
            return [f'nothing, {e}']


def _shown(value: object) -> str:
    """Return the text for a message: drivers put any text in reasons."""
    return redact.redact(str(value))
