# SPDX-License-Identifier: Apache-2.0


"""The steps of a deletion that Cluster API does not do, in order."""

import collections.abc
import typing

from oslo_log import log as logging

from magnum_capi.driver.cloud import loadbalancers
from magnum_capi.driver.cloud import server_groups
from magnum_capi.driver.cloud import services
from magnum_capi.driver.cloud import volumes
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import deletion
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver import scope as scope_module
from magnum_capi import errors
from magnum_capi.kube import lease

LOG = logging.getLogger(__name__)

#: Deletes what a cluster left in a cloud; returns what one must wait for.
_Delete: typing.TypeAlias = collections.abc.Callable[
    [services.Services, str, str], collections.abc.Sequence[str]]


class Deletion:
    """The deletion of one cluster."""

    def __init__(self, scope: scope_module.Scope) -> None:
        self._scope = scope

    def repeat_requests(self, snapshot: snapshot_module.Snapshot) -> None:
        """Repeat delete requests that were lost or never sent."""
        scope = self._scope
        kube = scope.runtime.kube
        release, cluster = snapshot.release, snapshot.cluster
        if release is not None and release.status != 'uninstalled':
            scope.lock.check()
            scope.helm_release.run(lambda helm: helm.uninstall(
                scope.release, scope.namespace))
            # What is not being deleted then is for the next time.
            return
        if cluster is not None:
            if not conditions.deleting(cluster):
                kube.delete(
                    'Cluster', scope.namespace, scope.release)
            return
        plane = snapshot.control_plane
        # Items of lists have no kind.
        left = [('MachineDeployment', obj)
                for obj in snapshot.machine_deployments.values()]
        left += [('Machine', obj) for obj in snapshot.machines]
        left += [(obj['kind'], obj) for obj in (
            *((plane,) if plane else ()), *snapshot.leftovers,
            *snapshot.templates)]
        for kind, obj in left:
            if deletion.is_orphan(obj):
                kube.delete(kind, scope.namespace, conditions.name(obj))

    def free_network(self, snapshot: snapshot_module.Snapshot) -> None:
        """Delete load balancers of Services: they hold network ports."""
        scope = self._scope
        if (not scope.runtime.options.delete_load_balancers
                or snapshot.cluster is None or snapshot.machines
                or not conditions.deleting(snapshot.cluster)):
            return
        try:
            loadbalancers.delete(
                scope.store.admin_cloud().services, scope.release,
                scope.cluster.project_id)
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: its load balancers are still there: %s',
                        self._scope.cluster.uuid, e)

    def _drop_server_groups(self) -> bool:
        """Whether none is left to wait for; also True if Nova refuses."""
        store, row = self._scope.store, self._scope.cluster
        try:
            server_groups.delete(
                store.admin_cloud().services, self._scope.naming,
                row.project_id)
        except services.CloudUnreachable as e:
            row.status_reason = ('Waiting for the removal of the server '
                                 f'groups: {failures.owner_message(e)}')
            store.save(row)
            return False
        except services.CloudError as e:
            LOG.error('Cluster %s: its server groups are still there: %s',
                      row.uuid, e)
        return True

    def _drop_leftovers(self, state: state_module.State) -> bool:
        """Whether nothing of claims and Services remains to wait for.

        Also True for what the cloud refuses to delete: nobody can wait for
        that. A service that does not answer delays only its own.
        """
        scope, row = self._scope, self._scope.cluster
        options = scope.runtime.options
        cloud = scope.store.admin_cloud().services
        kinds: dict[str, _Delete] = {}
        if options.delete_load_balancers:
            # Again: nobody may have looked between the end of the last
            # machine and that of the Cluster.
            kinds['load balancers'] = loadbalancers.delete
            kinds['security groups'] = volumes.delete_security_groups
        if (options.delete_volumes
                and desired_values.reclaims_volumes(state.values)):
            kinds['volumes'] = volumes.delete
        waits = []
        for what, delete in kinds.items():
            try:
                left = delete(cloud, scope.release, row.project_id)
                if left:
                    waits.append(f'{what} that still exist: {", ".join(left)}')
            except services.CloudUnreachable as e:
                waits.append(
                    f'the removal of {what}: {failures.owner_message(e)}')
            except errors.MagnumCapiError as e:
                LOG.warning('Cluster %s: its %s are still there: %s',
                            row.uuid, what, e)
        if waits:
            row.status_reason = f'Waiting for {"; ".join(waits)}'
            scope.store.save(row)
        return not waits

    def finish(self, state: state_module.State) -> bool:
        """Clean up Keystone and Nova, then the record, then the row.

        :returns: whether nothing is left.
        """
        scope, cluster = self._scope, self._scope.cluster
        try:
            scope.ownership.remove(state)
        except lease.LockLost:
            raise
        except errors.MagnumCapiError as e:
            LOG.error('Cluster %s: its application credential is still '
                      'there: %s', cluster.uuid, e)
            cluster.status_reason = (
                'Waiting for the removal of the application credential: '
                f'{failures.owner_message(e)}')
            scope.store.save(cluster)
            return False
        if not (self._drop_server_groups() and self._drop_leftovers(state)):
            return False
        scope.store.drop_certificates(cluster)
        # Only the state says that an adopted cluster is ours: without it, no
        # process could continue after a crash.
        cluster.stack_id = names.cluster(cluster.uuid)
        scope.store.save(cluster)
        scope.secrets.remove()
        # helm runs sweep as well, but may not run again soon.
        helm.sweep()
        cluster.status_reason = None
        cluster.status = 'DELETE_COMPLETE'
        scope.store.save(cluster)
        return True
