# SPDX-License-Identifier: Apache-2.0


"""The end of a cluster: what Cluster API does not do, and in which order."""

from oslo_log import log as logging

from magnum_capi_tempest.driver.cloud import loadbalancers
from magnum_capi_tempest.driver import failures
from magnum_capi_tempest.driver.kubernetes import lock
from magnum_capi_tempest.driver.kubernetes import scratch
from magnum_capi_tempest.driver.observed import conditions
from magnum_capi_tempest.driver.observed import deletion
from magnum_capi_tempest import errors

LOG = logging.getLogger(__name__)


class Farewell:
    """The end of one cluster.

    :param road: converge.Road.
    """

    def __init__(self, road):
        self._road = road

    def ask_again(self, snapshot):
        """Ask again for what nobody has asked to go, or was not heard."""
        road = self._road
        kube = road.world.kube
        if not snapshot.seen('release') or snapshot.release:
            road.world.helm.uninstall(road.release, road.namespace)
        if snapshot.cluster is not None:
            if not conditions.deleting(snapshot.cluster):
                kube.delete('Cluster', road.namespace, road.release)
            return
        # Lists leave out the kind of their items.
        left = [('KubeadmControlPlane', snapshot.get('control_plane', None))]
        left += [('MachineDeployment', obj) for obj in snapshot.get(
            'machine_deployments', {}).values()]
        left += [('Machine', obj) for obj in snapshot.get('machines')]
        left += [(obj['kind'], obj) for obj in (
            *snapshot.get('leftovers'), *snapshot.get('templates'))]
        for kind, obj in left:
            if obj and deletion.is_orphan(obj):
                kube.delete(kind, road.namespace, conditions.name(obj))

    def free_network(self, snapshot):
        """Load balancers of Services hold ports of the cluster's network."""
        road = self._road
        if (not road.world.settings.delete_load_balancers
                or snapshot.cluster is None or not snapshot.seen('machines')
                or snapshot.machines
                or not conditions.deleting(snapshot.cluster)):
            return
        try:
            loadbalancers.delete(
                road.store.admin_cloud().services, road.release,
                road.cluster.project_id)
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: its load balancers are still there: %s',
                        self._road.cluster.uuid, e)

    def finish(self, state):
        """Keystone first, the record last, then the row.

        :param state: state.State.
        :returns: whether nothing is left.
        """
        road, cluster = self._road, self._road.cluster
        try:
            road.rotation().remove(state)
        except lock.LockLost:
            raise
        except errors.MagnumCapiError as e:
            LOG.error('Cluster %s: its application credential is still '
                      'there: %s', cluster.uuid, e)
            cluster.status_reason = (
                'Waiting for the removal of the application credential: '
                f'{failures.told(e)}')
            road.store.save(cluster)
            return False
        road.store.drop_certificates(cluster)
        road.vault.remove()
        # Nobody may need helm again soon, which does so, too.
        scratch.sweep()
        cluster.status_reason = None
        cluster.status = 'DELETE_COMPLETE'
        road.store.save(cluster)
        return True
