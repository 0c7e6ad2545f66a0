# SPDX-License-Identifier: Apache-2.0

"""Keeps Magnum's rows correct while no operation is in progress.

Magnum's status job only covers clusters in progress, so the health job does
this: it corrects sizes that the autoscaler changed, and UPDATE_FAILED after a
rotation that was refused (since magnum 22, whose job covers that status).
Operations hold the lock and take precedence.
"""

import typing

from oslo_log import log as logging

from magnum_capi.driver.desired import kept as kept_module
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import failures
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver import reconcile
from magnum_capi.kube import lease

LOG = logging.getLogger(__name__)

#: Why a rotation of the certificate authorities is refused. Magnum stores
#: this as the reason of UPDATE_FAILED (magnum 23.0.0,
#: conductor/handlers/ca_conductor.py), where it is recognized.
ROTATION_REFUSED = ('CA rotation is not supported by this driver; the cluster '
                    'keeps its certificates')


def sizes(rows: rows_module.Rows, state: state_module.State,
          snapshot: snapshot_module.Snapshot
          ) -> list[tuple[typing.Any, int]]:
    """Node groups whose size the autoscaler has changed.

    :returns: pairs of row and number of nodes.
    """
    if rows.in_progress or rows.operation == 'DELETE':
        return []
    found = []
    autoscaled = kept_module.bounds(state.values)
    for group in rows.groups:
        name = rows.naming.node_group(group.uuid)
        deployment = snapshot.get('machine_deployments', {}).get(name)
        if deployment is None or name not in autoscaled:
            continue
        count = conditions.replicas(deployment).wanted
        if count is not None and count != group.node_count:
            found.append((group, count))
    return found


def is_refused_rotation(cluster: typing.Any) -> bool:
    """Whether UPDATE_FAILED only means that a rotation was refused.

    Magnum only rotates certificates of a complete cluster, and the driver has
    undone the change, so the cluster is still complete.
    """
    return (cluster.status == 'UPDATE_FAILED'
            and ROTATION_REFUSED in (cluster.status_reason or ''))


def is_needed(rows: rows_module.Rows, state: state_module.State,
              snapshot: snapshot_module.Snapshot) -> bool:
    """Whether a row is no longer correct."""
    return (bool(sizes(rows, state, snapshot))
            or is_refused_rotation(rows.cluster))


def keep(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
         state: state_module.State,
         snapshot: snapshot_module.Snapshot) -> None:
    """Correct the rows. Does not wait for the lock.

    :param rows: as they were when ``snapshot`` was taken.
    """
    if not is_needed(rows, state, snapshot):
        return
    try:
        with reconciler.held(0):
            _keep(reconciler, reconciler.rows(), state, snapshot)
    except (lease.LockBusy, failures.ClusterGone) as e:
        LOG.debug('Cluster %s: %s', reconciler.cluster.uuid, e)


def _keep(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
          state: state_module.State,
          snapshot: snapshot_module.Snapshot) -> None:
    for group, count in sizes(rows, state, snapshot):
        LOG.info('Cluster %s: node group %s is autoscaled from %s to %s',
                 rows.cluster.uuid, group.name, group.node_count, count)
        group.node_count = count
        reconciler.store.save(group)
    if is_refused_rotation(rows.cluster):
        # The reason stays readable for the owner.
        rows.cluster.status = 'UPDATE_COMPLETE'
        reconciler.store.save(rows.cluster)
