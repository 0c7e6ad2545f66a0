# SPDX-License-Identifier: Apache-2.0

"""What all work on a cluster shares: its lock, rows, names and clients.

The same as a scope in Cluster API's providers.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import time
import typing

from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm as helm_module
from magnum_capi.driver import helm_release
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver import ownership
from magnum_capi import errors
from magnum_capi.kube import cache
from magnum_capi.kube import client
from magnum_capi.kube import lease
from magnum_capi import waiting

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module


@dataclasses.dataclass(frozen=True)
class Runtime:
    """What a reconciler needs besides Magnum's rows.

    :param now: aware: the clock by which operations are judged. That of the
        management cluster (``kube.now``) is the same for all conductors.
    :param sightings: see lease.Lock.
    :param cached: cached reads, only to find out that there is nothing to do;
        ``kube`` by default.
    """

    options: config.Options
    kube: client.Kube
    helm: helm_module.Helm
    now: collections.abc.Callable[[], datetime.datetime]
    sightings: lease.Sightings = dataclasses.field(default_factory=dict)
    clock: waiting.Clock = time
    cached: cache.CachedKube | None = None


class Scope:
    """One cluster.

    :param cluster: Magnum's row; :meth:`locked` reads it again.
    """

    def __init__(self, runtime: Runtime, store: 'store_module.Store',
                 cluster: typing.Any) -> None:
        self.runtime = runtime
        self.store = store
        self.cluster = cluster
        own = names.cluster(cluster.uuid)
        self.naming = names.Naming(
            cluster.stack_id if names.is_release(cluster.stack_id) else own)
        self.release = self.naming.release
        self._is_own = cluster.stack_id in (None, '', own)
        self.namespace = names.namespace(
            cluster.project_id, runtime.options.namespace_prefix)
        self.secrets = cluster_secrets.ClusterSecrets(
            runtime.kube, self.namespace, cluster, self.release)
        self.lock = self._free_lock()
        #: Whether the lock was ever held, so something may have been done.
        self.lock_was_held = False

    @contextlib.contextmanager
    def locked(self, timeout: float
               ) -> collections.abc.Iterator[lease.Lock]:
        """Hold the lock of the cluster, with its present row.

        :param timeout: seconds to wait for the lock.
        :raises failures.ClusterGone: the row no longer exists.
        :raises lease.LockBusy: another process holds it.
        :raises UsageError: the cluster belongs to another driver.
        """
        self.refuse_foreign()
        self.runtime.kube.ensure_namespace(self.namespace, {
            key: value for key, value in self._labels().items()
            if key == names.PROJECT_ID})
        self.lock = self._free_lock()
        with self.lock.hold(timeout):
            self.lock_was_held = True
            if not self.store.reload(self.cluster):
                raise failures.ClusterGone('The cluster is not in Magnum')
            # The operator may have returned it in the meantime.
            self.refuse_foreign()
            yield self.lock

    def _free_lock(self) -> lease.Lock:
        """The lock of the cluster, not held yet."""
        return lease.Lock(
            self.runtime.kube, self.namespace, self.release,
            duration=self.runtime.options.lock_duration,
            labels=self._labels(), clock=self.runtime.clock,
            sightings=self.runtime.sightings)

    def _labels(self) -> dict[str, str]:
        return names.cluster_marks(
            uuid=self.cluster.uuid, name=None,
            project_id=self.cluster.project_id, user_id=None).labels

    def refuse_foreign(self, read: collections.abc.Callable[
            [], state_module.State] | None = None) -> None:
        """Refuse a cluster of another driver.

        If the driver of a template changes, or a cluster is upgraded to a
        template of another driver, Magnum 23 hands the cluster over without a
        check. "Not found" would then mean "deleted", and all its resources
        would leak. A cluster that an operator has adopted is accepted.

        :param read: returns the state of the cluster; read now by default.
        :raises UsageError: the cluster belongs to another driver.
        """
        if self._is_own:
            return
        adopted = None
        if self.release == self.cluster.stack_id:
            adopted = (read or self.secrets.state)().adopted
        if adopted is not None:
            self.naming = names.Naming(self.release, adopted.groups)
        else:
            raise errors.UsageError(
                f'Another driver has made this cluster: its stack is '
                f'{self.cluster.stack_id}, not '
                f'{names.cluster(self.cluster.uuid)}',
                hint='Its template must name the driver that made it')

    def rows(self, template: typing.Any = None) -> rows_module.Rows:
        """The present rows.

        :param template: from an earlier call; it is not read again if it
            still is the cluster's, because that takes Magnum longer than
            everything else. Magnum only allows changes of its name, tags and
            visibility (magnum 23.0.0, magnum/db/sqlalchemy/api.py,
            update_cluster_template).
        """
        uuid = self.cluster.cluster_template_id
        if template is None or template.uuid != uuid:
            template = self.store.template(uuid)
        return rows_module.Rows(
            self.cluster, tuple(self.store.groups(self.cluster)), template,
            self.naming)

    @property
    def ownership(self) -> ownership.Ownership:
        """Credentials and key pair of the owner of the cluster."""
        return ownership.Ownership(
            self.store, self.cluster, self.secrets, self.runtime.options,
            self.runtime.now, self.lock.check)

    @property
    def helm_release(self) -> helm_release.HelmRelease:
        """The Helm release of the cluster."""
        return helm_release.HelmRelease(
            self.runtime.kube, self.runtime.helm, self.namespace,
            self.release, self.cluster.uuid, self.lock.check)

    def stop_if_deleting(self) -> None:
        """Stop if the deletion of the cluster has been requested.

        :raises failures.ClusterGone: it has, or the row no longer exists.
        """
        if not self.store.reload(self.cluster) or self.is_deleting():
            raise failures.ClusterGone('The cluster is being deleted')

    def is_deleting(self) -> bool:
        """Whether its deletion was requested, or it no longer exists.

        Reads the database; keeps changes that are not saved yet.
        """
        status = self.store.status(self.cluster)
        return (status is None or status.startswith('DELETE_')
                or rows_module.is_deletion_requested(
                    self.store.groups(self.cluster)))
