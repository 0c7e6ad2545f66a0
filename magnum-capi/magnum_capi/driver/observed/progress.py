# SPDX-License-Identifier: Apache-2.0

"""Measures the progress of an operation, and when it last advanced. Pure.

Progress means that a part of a cluster is closer to the desired state than it
has been in this operation: machines of the present template that are ready,
addons that are deployed, objects of a deletion that are gone. Machines that
come and go and never get ready are not progress. So an operation that advances
may take as long as it needs, and one that does not can be ended.
"""

import collections.abc
import datetime

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import addons
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import groups as node_groups
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: Fractions of the limit: how often to record that the cluster is observed,
#: and the longest unobserved time that counts against the operation.
_NOTED = 1 / 4
_UNSEEN = 1 / 2

_NONE = datetime.timedelta()


def noted(progress: goal.Progress | None,
          left: collections.abc.Mapping[str, tuple[str, int]],
          now: datetime.datetime, limit: float) -> goal.Progress | None:
    """The progress after the cluster was read again.

    :param progress: before that; None at the first time.
    :param left: from :func:`left`.
    :param limit: minutes without progress that end the operation, 0: none.
    :returns: ``progress`` itself when there is nothing new to record.
    """
    if progress is None:
        return goal.Progress(now, now, dict(left))
    least = dict(progress.left)
    for part, (target, number) in left.items():
        known = least.get(part)
        if known is None or known[0] != target or number < known[1]:
            least[part] = target, number
    if least != progress.left:
        return goal.Progress(now, now, least)
    unseen = max(now - progress.observed_at, _NONE)
    whole = datetime.timedelta(minutes=limit)
    if not limit or unseen < whole * _NOTED:
        return progress
    lost = unseen if unseen > whole * _UNSEEN else _NONE
    return goal.Progress(min(progress.at + lost, now), now, progress.left)


def is_over(progress: goal.Progress | None, now: datetime.datetime,
            limit: float) -> bool:
    """Whether there was no progress for the whole limit."""
    return bool(limit and progress is not None and (
        now - progress.at >= datetime.timedelta(minutes=limit)))


def left(snapshot: snapshot_module.Snapshot,
         desired: goal.DesiredCluster) -> dict[str, tuple[str, int]]:
    """What is left to do in an operation, for parts where this is known.

    :returns: see goal.Progress.
    """
    if desired.operation == 'DELETE':
        return _of_deletion(snapshot)
    found: dict[str, tuple[str, int]] = {}
    cluster = snapshot.cluster
    if cluster is None:
        return {'cluster': ('', 1)}
    found['cluster'] = _target(cluster), len(conditions.problems(cluster))
    if desired.digest:
        release = snapshot.release
        done = (release is not None and release.status == 'deployed'
                and release.digest == desired.digest)
        found['release'] = desired.digest, int(not done)
    for group in desired.groups:
        found |= _of_group(snapshot, group, desired)
    if desired.addons:
        found['addons'] = '', sum(
            addons.state(addon)[0] is not addons.State.DEPLOYED
            for addon in snapshot.addons)
    return found


def _target(obj: kinds.Object) -> str:
    """A text that changes only with the desired state of an object."""
    metadata = conditions.metadata(obj)
    return f'{metadata.get("uid", "")}/{metadata.get("generation", "")}'


def _of_group(snapshot: snapshot_module.Snapshot, group: goal.DesiredGroup,
              desired: goal.DesiredCluster) -> dict[str, tuple[str, int]]:
    key = f'groups/{group.key}'
    if group.role == goal.MASTER:
        plane = snapshot.control_plane
        # Counts for an older spec may be too good.
        if plane is None or not conditions.observed(plane):
            return {}
        counts = conditions.replicas(plane)
        return {key: (_target(plane), _short(counts, counts.there)
                      + max((counts.desired or 0) - counts.updated, 0))}
    deployment = snapshot.machine_deployments.get(group.key)
    if group.deleting:
        return {key: ('', bool(deployment) + len(
            machines.of_group(snapshot, group, desired)))}
    if deployment is None or not conditions.observed(deployment):
        return {}
    counts = conditions.replicas(deployment)
    older = node_groups.older(snapshot, deployment)
    return {key: (_target(deployment),
                  older + _short(counts, counts.there - older))}


def _short(counts: conditions.Replicas, there: int) -> int:
    """Number of machines that are not ready, or surplus."""
    desired = counts.desired or 0
    return max(desired - counts.ready, 0) + max(there - desired, 0)


def _of_deletion(snapshot: snapshot_module.Snapshot
                 ) -> dict[str, tuple[str, int]]:
    counts = {
        'cluster': int(snapshot.cluster is not None),
        'control_plane': int(snapshot.control_plane is not None),
        'release': int(snapshot.release is not None),
        'machine_deployments': len(snapshot.machine_deployments),
        'machines': len(snapshot.machines)}
    if snapshot.cluster is None:
        # They are not deleted before that, and not read.
        counts['leftovers'] = len(snapshot.leftovers)
        if not (counts['machines'] or counts['leftovers']):
            counts['templates'] = len(snapshot.templates)
    return {part: ('', number) for part, number in counts.items()}
