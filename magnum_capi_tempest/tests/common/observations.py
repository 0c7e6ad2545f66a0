# SPDX-License-Identifier: Apache-2.0

"""What one observation of a cluster shows, and what a series of them means.

Pure: no requests, no clock. Magnum's status alone does not tell whether a
change is over, for reasons that are in its code (magnum 23.0.0):

* The answer 202 comes before the work. The conductor saves the cluster as
  UPDATE_IN_PROGRESS only *after* the driver's method returned
  (magnum/conductor/handlers/cluster_conductor.py, ``cluster_resize`` and
  ``cluster_update``), so the old ``*_COMPLETE`` stays for seconds.
* ``cluster_resize`` first saves the node group with the new count *and*
  UPDATE_IN_PROGRESS. ``cluster_update`` (PATCH /node_count) first saves only
  the new count: then the count is right and everything says COMPLETE, although
  nothing has been done.
* A resize of a cluster in UPDATE_FAILED is allowed, so an old failure may also
  be visible for a while.

An update is therefore over when the cluster and the node group are
``*_COMPLETE``, the group has the desired count, **and** there was a sign that
this update must have caused:

* strong: the cluster or its group was in progress, or its status changed
  (from CREATE_COMPLETE to UPDATE_COMPLETE);
* weak: ``updated_at`` of the cluster moved. Nothing else is visible if the
  work ended between two observations and the status was UPDATE_COMPLETE
  before. But the health poll, once a minute, moves it as well
  (magnum/service/periodic.py), so it counts only if nothing else is seen for
  :data:`SETTLE` seconds, which is more than one status tick.

Some node groups never become complete again: magnum-capi-helm 1.4.0 saves the
cluster and its groups as UPDATE_IN_PROGRESS *before* it upgrades them. A
status tick in the meantime takes the old state for the new one and marks the
cluster complete, while the conductor saves the group once more, in progress
(``cluster_upgrade``). No later tick updates the group, because Magnum only
polls clusters that are in progress. Where this is tolerated, such an update is
over as well after :data:`ABANDONED` seconds.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest import json_types

#: Seconds. Magnum polls clusters in progress every 10 s
#: (magnum/service/periodic.py, ``sync_cluster_status``).
SETTLE = 12

#: Seconds that a node group may be in progress in a complete cluster before it
#: is considered abandoned. A call of the driver may take that long.
ABANDONED = 60


@dataclasses.dataclass(frozen=True)
class Observation:
    """What Magnum showed of a cluster at one moment.

    :param cluster: body of the cluster; None if there was none.
    :param nodegroup: body of the node group in question, if any.
    :param trouble: text of a temporary error that came instead.
    """

    cluster: json_types.Object | None = None
    nodegroup: json_types.Object | None = None
    trouble: str | None = None

    @property
    def status(self) -> str | None:
        return (self.cluster or {}).get('status')

    @property
    def status_reason(self) -> str | None:
        return (self.cluster or {}).get('status_reason')

    @property
    def reasons(self) -> str:
        """The reasons for status and health, one text."""
        health = (self.cluster or {}).get('health_status_reason') or {}
        return ' '.join(map(str, filter(
            None, (self.status_reason, *health.values()))))

    @property
    def stack_id(self) -> str | None:
        # Microversion 1.13 renamed the field.
        cluster = self.cluster or {}
        return cluster.get('stack_id') or cluster.get('cluster_id')

    @property
    def group_status(self) -> str | None:
        return (self.nodegroup or {}).get('status')

    @property
    def body(self) -> json_types.Object:
        """The body of a cluster that there must be.

        :raises MagnumCapiError: there was none.
        """
        return self._shown(self.cluster, 'cluster')

    @property
    def group(self) -> json_types.Object:
        """The body of a node group that there must be.

        :raises MagnumCapiError: there was none.
        """
        return self._shown(self.nodegroup, 'node group')

    def _shown(self, found: json_types.Object | None, what: str
               ) -> json_types.Object:
        if found is None:
            raise errors.MagnumCapiError(
                f'Magnum did not show the {what}', last_seen=self)
        return found

    def __str__(self) -> str:
        if self.trouble:
            return self.trouble
        if self.cluster is None:
            return 'no such cluster (404)'
        text = self.status or 'no status'
        if self.status_reason:
            text += f' ({self.status_reason})'
        faults = self.cluster.get('faults')
        if faults:
            text += f', faults {faults}'
        if self.nodegroup:
            text += (f', node group {self.nodegroup.get("name")} with '
                     f'{self.nodegroup.get("node_count")} nodes '
                     f'{self.group_status}')
        return text


#: Observes a cluster once.
Observe: typing.TypeAlias = collections.abc.Callable[[], Observation]

#: Why what is waited for can no longer come, or None.
Failure: typing.TypeAlias = collections.abc.Callable[
    [Observation], str | None]


def stack_id(cluster: json_types.Object) -> str:
    """Return the name of the Cluster API Cluster for a cluster's body.

    :param cluster: of a cluster that has got one.
    """
    # Microversion 1.13 renamed the field.
    found: str = cluster.get('stack_id') or cluster['cluster_id']
    return found


def is_failed(status: str | None) -> bool:
    return (status or '').endswith('_FAILED')


def is_complete(status: str | None) -> bool:
    return (status or '').endswith('_COMPLETE')


def is_in_progress(status: str | None) -> bool:
    return (status or '').endswith('_IN_PROGRESS')


@dataclasses.dataclass(frozen=True)
class Update:
    """The progress of an update of the number of nodes.

    :param before: the observation before the request was sent.
    :param node_count: desired, of the node group.
    :param state: the last one.
    :param began: there was a strong sign (see above).
    :param cluster_began: there was one of the cluster itself.
    :param matching_since: time of the first in an unbroken series of
        observations that show the desired state.
    :param alone_since: time of the first in an unbroken series of
        observations that show the desired state, except for the group, which
        is in progress.
    :param now: time of the last observation.
    :param tolerant: the update is also over when its group is abandoned.
    """

    before: Observation
    node_count: int
    state: Observation = Observation()
    began: bool = False
    cluster_began: bool = False
    matching_since: float | None = None
    alone_since: float | None = None
    now: float = 0
    tolerant: bool = False

    def after(self, state: Observation, now: float) -> 'Update':
        """Return the update's progress after one more observation.

        :param now: seconds of a monotonic clock.
        """
        if state.trouble or state.cluster is None:
            return dataclasses.replace(self, state=state, now=now)
        cluster_began = self.cluster_began or _moved(
            self.before.status, state.status)
        began = self.began or cluster_began or _moved(
            self.before.group_status, state.group_status)
        step = dataclasses.replace(
            self, state=state, now=now, began=began,
            cluster_began=cluster_began)
        return dataclasses.replace(
            step,
            matching_since=_since(self.matching_since, step._matches(), now),
            alone_since=_since(self.alone_since, step._is_alone(), now))

    def poll(self, observe: Observe, clock: waiting.Clock
             ) -> collections.abc.Callable[[], 'Update']:
        """Return a function that observes, and returns the progress so far.

        :param observe: returns the next observation.
        """
        update = self

        def follow() -> 'Update':
            nonlocal update
            update = update.after(observe(), clock.monotonic())
            return update

        return follow

    def is_abandoned(self) -> bool:
        """Return whether the group will stay in progress for good."""
        return self._is_alone() and self.alone_since is not None and (
            self.now - self.alone_since >= ABANDONED)

    def is_over(self) -> bool:
        """Return whether the update is complete."""
        if self.tolerant and self.is_abandoned():
            return True
        if not self._matches():
            return False
        if self.began:
            return True
        return (self._touched() and self.matching_since is not None
                and self.now - self.matching_since >= SETTLE)

    def failure(self) -> str | None:
        """Return why the update can no longer succeed, or None."""
        state = self.state
        if state.trouble:
            return None
        if state.cluster is None:
            return 'the cluster is gone'
        if is_failed(state.status) and (
                self.cluster_began or not is_failed(self.before.status)):
            return f'it is {state.status}'
        if (is_failed(state.group_status) and self.began
                and not is_in_progress(state.status)):
            return f'its node group is {state.group_status}'
        return None

    def _matches(self) -> bool:
        return self._is_as_wanted() and is_complete(self.state.group_status)

    def _is_alone(self) -> bool:
        return self._is_as_wanted() and is_in_progress(self.state.group_status)

    def _is_as_wanted(self) -> bool:
        state = self.state
        return (not state.trouble and is_complete(state.status)
                and (state.nodegroup or {}).get('node_count')
                == self.node_count)

    def _touched(self) -> bool:
        return ((self.state.cluster or {}).get('updated_at')
                != (self.before.cluster or {}).get('updated_at'))

    def __str__(self) -> str:
        text = f'{self.state}, wanted {self.node_count} nodes'
        if self._matches():
            text += ', but no sign that the update ever began'
        return text


def _since(since: float | None, goes_on: bool, now: float) -> float | None:
    if not goes_on:
        return None
    return now if since is None else since


def _moved(before: str | None, after: str | None) -> bool:
    return is_in_progress(after) or after != before


def creation_failure() -> Failure:
    """Return a function of Observations: why a creation cannot succeed.

    It remembers whether it has seen the cluster. Until then, a 404 means that
    the conductor has not stored it yet: Magnum's API answers 202 first
    (magnum/api/controllers/v1/cluster.py, ``_post``).
    """
    was_seen = False

    def failure(state: Observation) -> str | None:
        nonlocal was_seen
        was_seen = was_seen or state.cluster is not None
        if state.trouble:
            return None
        if state.cluster is None:
            return 'the cluster is gone' if was_seen else None
        if is_failed(state.status) or (
                state.status or '').startswith('DELETE_'):
            return f'it is {state.status}'
        return None

    return failure


def own_labels_fault(state: Observation,
                     own: collections.abc.Mapping[str, str],
                     lost: collections.abc.Collection[str]) -> str | None:
    """Return what is wrong with a cluster that has labels of its own, or None.

    They replace those of its template, where one may have been that the driver
    needs.

    :param state: after the creation.
    :param own: the labels in the request.
    :param lost: names of the labels that only the template has.
    """
    if state.status == 'CREATE_FAILED':
        reason = state.status_reason or ''
        return None if any(name in reason for name in lost) else (
            f'it is refused, and the reason names none of {sorted(lost)}: '
            f'{reason!r}')
    if state.status != 'CREATE_COMPLETE':
        return f'it is {state.status}'
    labels = state.body.get('labels') or {}
    if not own.items() <= labels.items():
        return f'its labels are not those of the request: {labels}'
    kept = sorted(labels.keys() & {*lost})
    return f'it has labels of its template: {kept}' if kept else None


def hopeless_failure(state: Observation) -> str | None:
    """Return why a creation cannot end well any more, or None.

    A driver may go on with a cluster that has failed, because its machines
    were late; not if it had created nothing for it.
    """
    if is_failed(state.status) and not state.stack_id:
        return f'it is {state.status}, and the driver created nothing'
    return None


def group_failure(state: Observation) -> str | None:
    """Return why a node group cannot be created or deleted, or None."""
    for what, status in (('it', state.status),
                         ('its node group', state.group_status)):
        if is_failed(status):
            return f'{what} is {status}'
    return None


def deletion_failure(before: Observation | None = None,
                     late: collections.abc.Callable[[], bool] = lambda: False
                     ) -> Failure:
    """Return a function of Observations: why a deletion cannot succeed.

    It remembers whether it has seen DELETE_IN_PROGRESS. Until then, a
    DELETE_FAILED may belong to an earlier attempt.

    :param before: the observation before the request was sent; None: it
        failed.
    :param late: function that returns whether the deletion should have begun
        by now. An operation that was running before may fail after it, and
        its status then stays.
    """
    began = False

    def failure(state: Observation) -> str | None:
        nonlocal began
        began = began or state.status == 'DELETE_IN_PROGRESS'
        if state.status == 'DELETE_FAILED' and (
                began or (before and before.status != 'DELETE_FAILED')):
            return 'it is DELETE_FAILED'
        if late() and not began and is_failed(state.status):
            return f'its deletion has not begun, and it is {state.status}'
        return None

    return failure
