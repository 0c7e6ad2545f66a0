# SPDX-License-Identifier: Apache-2.0

"""Is a cluster gone from the management cluster, and what blocks it?

The Cluster alone does not show this: machines take their time, Helm keeps some
objects on purpose (``helm.sh/resource-policy: keep``), and no controller
deletes what the Cluster did not own yet when it was deleted. Templates that
Helm keeps are garbage-collected by Kubernetes if they have an owner.
"""

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import reasons
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import verdicts
from magnum_capi.kube import kinds


def left(snapshot: snapshot_module.Snapshot) -> kinds.Objects:
    """Objects of a cluster that still exist."""
    return [obj for obj in (
        snapshot.cluster, snapshot.control_plane,
        *snapshot.machine_deployments.values(), *snapshot.machines,
        *snapshot.leftovers, *snapshot.templates) if obj]


def judge(snapshot: snapshot_module.Snapshot,
          desired: goal.DesiredCluster) -> verdicts.Verdict:
    """Judge a deletion: done when nothing is left."""
    there, release = left(snapshot), snapshot.release
    # When the Cluster is gone, no controller deletes what it did not own yet.
    orphans = [obj for obj in there if is_orphan(obj)
               and (snapshot.cluster is None or obj is snapshot.cluster)]
    if release is not None and release.status == 'uninstalled':
        release = None
    blockers = _waits(there, orphans)
    if release is not None:
        blockers.append(f'Helm release: {release.status}')
    if not blockers:
        return verdicts.Verdict('DELETE_COMPLETE', groups={
            group.key: verdicts.GroupVerdict('DELETE_COMPLETE', gone=True)
            for group in desired.groups})
    action = verdicts.NOTHING
    if desired.in_progress and (orphans or release is not None):
        action = verdicts.DELETE
    status = desired.status
    return verdicts.Verdict(
        status, reasons.text('Waiting for', blockers, desired,
                             snapshot.events),
        verdicts.address(snapshot.cluster), verdicts.version(snapshot),
        {group.key: verdicts.GroupVerdict(
            status if group.deleting else group.status)
         for group in desired.groups}, action)


def is_orphan(obj: kinds.Object) -> bool:
    """Whether an object must be deleted explicitly after its Cluster."""
    kept = (obj.get('kind') or '').endswith('Template') and bool(_owners(obj))
    return not conditions.deleting(obj) and not kept


def belongs(obj: kinds.Object, name: str) -> bool:
    """Whether a labelled object belongs to this cluster alone.

    Cluster API makes the Cluster an owner of the templates that it uses
    (https://cluster-api.sigs.k8s.io/developer/core/controllers/
    "Owner references"); until then they have no owner.

    :param name: of the Cluster.
    """
    owners = _owners(obj)
    return not owners or any(owner.get('name') == name for owner in owners)


def _owners(obj: kinds.Object) -> kinds.Objects:
    return conditions.metadata(obj).get('ownerReferences') or []


def _waits(left: kinds.Objects, orphans: kinds.Objects) -> list[str]:
    """Remaining objects and reasons; machines first, which block the rest."""
    found = []
    for obj in sorted(left, key=lambda obj: (
            obj.get('kind') != 'Machine', obj.get('kind') == 'Cluster')):
        text = f'{obj.get("kind", "object")} {conditions.name(obj)}'
        known = conditions.newer(obj).get('Deleting')
        failure = conditions.failure(obj)
        if obj in orphans:
            text += ' is not being deleted yet'
        elif failure:
            text += f' failed: {failure}'
        elif known and known.message:
            text += f': {known.message}'
        found.append(text)
    return found
