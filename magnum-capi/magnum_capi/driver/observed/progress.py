# SPDX-License-Identifier: Apache-2.0

"""How far has an operation come, and when did it last get any further? Pure.

Progress is what brings a part of a cluster nearer to what is wanted than it
has been in this operation: machines of the present template that are ready,
addons that are deployed, objects of a deletion that are gone. Machines that
come and go and never get ready are none. So an operation that gets on may
take as long as it needs, and one that does not can be ended.
"""

import collections.abc
import dataclasses
import datetime

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import addons
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import groups as node_groups
from magnum_capi.driver.observed import machines
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.kube import kinds

#: Shares of the limit. So often it is noted that somebody looks, and for so
#: long nobody may: longer times are not held against the operation.
_NOTED = 1 / 4
_UNSEEN = 1 / 2

_NONE = datetime.timedelta()


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an operation has come.

    :param at: when a part last came nearer to its goal, aware datetime;
        later by the time in which nobody looked.
    :param looked: when somebody last looked, to a quarter of the limit.
    :param left: by part a pair: a text that changes with the goal of the
        part, and how much was left to do when it was least.
    """

    at: datetime.datetime
    looked: datetime.datetime
    left: collections.abc.Mapping[str, tuple[str, int]]


def noted(progress: Progress | None,
          left: collections.abc.Mapping[str, tuple[str, int]],
          now: datetime.datetime, limit: float) -> Progress | None:
    """The progress after one more look.

    :param progress: before it, None: there was no look yet.
    :param left: of :func:`left`; empty when the look was no close one.
    :param limit: minutes without progress that end the operation, 0: none.
    :returns: ``progress`` itself when there is nothing new worth writing.
    """
    if progress is None:
        return Progress(now, now, dict(left)) if left else None
    least = dict(progress.left)
    for part, (target, number) in left.items():
        known = least.get(part)
        if known is None or known[0] != target or number < known[1]:
            least[part] = target, number
    if least != progress.left:
        return Progress(now, now, least)
    unseen = max(now - progress.looked, _NONE)
    whole = datetime.timedelta(minutes=limit)
    if not limit or unseen < whole * _NOTED:
        return progress
    lost = unseen if unseen > whole * _UNSEEN else _NONE
    return Progress(min(progress.at + lost, now), now, progress.left)


def is_over(progress: goal.Progress | None, now: datetime.datetime,
            limit: float) -> bool:
    """Whether there was no progress for the whole limit."""
    return bool(limit and progress is not None and (
        now - progress.at >= datetime.timedelta(minutes=limit)))


def left(snapshot: snapshot_module.Snapshot,
         wanted: goal.Wanted) -> dict[str, tuple[str, int]]:
    """What is left to do of an operation, of the parts that can be told.

    :returns: see Progress.
    """
    if wanted.operation == 'DELETE':
        return _of_deletion(snapshot)
    found: dict[str, tuple[str, int]] = {}
    cluster = snapshot.cluster
    if cluster is None:
        return {'cluster': ('', 1)}
    found['cluster'] = _target(cluster), len(conditions.problems(cluster))
    if snapshot.seen('release') and wanted.digest:
        release = snapshot.release
        done = (release is not None and release.status == 'deployed'
                and release.digest == wanted.digest)
        found['release'] = wanted.digest, int(not done)
    for group in wanted.groups:
        found |= _of_group(snapshot, group, wanted)
    if snapshot.seen('addons') and wanted.addons:
        found['addons'] = '', sum(
            addons.state(addon)[0] is not addons.State.DEPLOYED
            for addon in snapshot.addons)
    return found


def _target(obj: kinds.Object) -> str:
    """Changes with what is wanted of an object, and with nothing else."""
    metadata = conditions.metadata(obj)
    return f'{metadata.get("uid", "")}/{metadata.get("generation", "")}'


def _of_group(snapshot: snapshot_module.Snapshot, group: goal.GroupWanted,
              wanted: goal.Wanted) -> dict[str, tuple[str, int]]:
    key = f'groups/{group.key}'
    if group.role == goal.MASTER:
        plane = snapshot.get('control_plane', None)
        # Counts of an older spec may be better than true.
        if plane is None or not conditions.observed(plane):
            return {}
        counts = conditions.replicas(plane)
        return {key: (_target(plane), _short(counts, counts.there)
                      + max((counts.wanted or 0) - counts.updated, 0))}
    if not snapshot.seen('machine_deployments'):
        return {}
    deployment = snapshot.machine_deployments.get(group.key)
    if group.deleting:
        if not snapshot.seen('machines'):
            return {}
        return {key: ('', bool(deployment) + len(
            machines.of_group(snapshot, group, wanted)))}
    if (deployment is None or not snapshot.seen('machine_sets')
            or not conditions.observed(deployment)):
        return {}
    counts = conditions.replicas(deployment)
    older = node_groups.older(snapshot, deployment)
    return {key: (_target(deployment),
                  older + _short(counts, counts.there - older))}


def _short(counts: conditions.Replicas, there: int) -> int:
    """Machines that are not ready, and those that are there beyond need."""
    wanted = counts.wanted or 0
    return max(wanted - counts.ready, 0) + max(there - wanted, 0)


def _of_deletion(snapshot: snapshot_module.Snapshot
                 ) -> dict[str, tuple[str, int]]:
    counts = {'cluster': int(snapshot.cluster is not None)}
    counts |= {part: int(getattr(snapshot, part) is not None)
               for part in ('control_plane', 'release')
               if snapshot.seen(part)}
    counts |= {part: len(getattr(snapshot, part))
               for part in ('machine_deployments', 'machines', 'templates')
               if snapshot.seen(part)}
    if snapshot.cluster is None:
        # Nobody asks for them before that.
        counts['leftovers'] = len(snapshot.leftovers)
    return {part: ('', number) for part, number in counts.items()}
