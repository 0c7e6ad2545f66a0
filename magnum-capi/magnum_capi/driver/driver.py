# SPDX-License-Identifier: Apache-2.0


"""Magnum's driver for Cluster API, ``k8s_capi_v1``.

This has only the methods that Magnum calls, with positional arguments. Magnum
makes an object of this class in its API and in its conductor, and a new one
for each check of a cluster, so nothing is read or opened before it is needed.
"""

import collections.abc
import contextlib
import functools
import typing

from magnum.common import exception
import magnum.conf
from magnum.drivers.common import driver
from oslo_log import log as logging

from magnum_capi.driver import config
from magnum_capi.driver import correction
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm
from magnum_capi.driver import loop
from magnum_capi.driver import monitor
from magnum_capi.driver import operations
from magnum_capi.driver import reconcile
from magnum_capi.driver import scope
from magnum_capi.driver import store
from magnum_capi.driver import upgrading
from magnum_capi import errors
from magnum_capi.kube import rest
from magnum_capi.kube import shared

LOG = logging.getLogger(__name__)

#: Rocky Linux has a name in libosinfo and another in magnum-cluster-api.
OS_DISTROS = ('ubuntu', 'flatcar', 'debian', 'rocky', 'rockylinux')


class Driver(driver.Driver):
    """See magnum.drivers.common.driver.Driver for the methods."""

    #: The conductor shall make no trust (magnum stable/2026.1): only the
    #: cluster's application credential is used.
    needs_trust = False

    @property
    def provides(self) -> list[dict[str, str]]:
        try:
            more = _read_options().extra_os_distros
        except errors.UsageError as e:
            # An exception here would break all drivers of Magnum.
            LOG.error('%s', e)
            more = ()
        return [{'server_type': 'vm', 'os': os, 'coe': 'kubernetes'}
                for os in dict.fromkeys((*OS_DISTROS, *more))]

    def create_cluster(self, context: typing.Any, cluster: typing.Any,
                       cluster_create_timeout: int | None) -> None:
        with _translated_errors():
            self._operations(context, cluster).create(cluster_create_timeout)

    def update_cluster(self, context: typing.Any, cluster: typing.Any,
                       scale_manager: typing.Any = None,
                       rollback: bool = False) -> None:
        # This changes only the size of the default worker group.
        with _translated_errors():
            self._operations(context, cluster).change(
                group=cluster.default_ng_worker, resize=True)

    def delete_cluster(self, context: typing.Any,
                       cluster: typing.Any) -> None:
        with _translated_errors():
            self._operations(context, cluster).delete()

    def resize_cluster(self, context: typing.Any, cluster: typing.Any,
                       resize_manager: typing.Any, node_count: int,
                       nodes_to_remove: list[str] | None,
                       nodegroup: typing.Any = None) -> None:
        with _translated_errors():
            self._operations(context, cluster).change(
                group=nodegroup or cluster.default_ng_worker, resize=True,
                remove=tuple(nodes_to_remove or ()))

    def upgrade_cluster(self, context: typing.Any, cluster: typing.Any,
                        cluster_template: typing.Any,
                        max_batch_size: int | None, nodegroup: typing.Any,
                        scale_manager: typing.Any = None,
                        rollback: bool = False) -> None:
        # Magnum passes rollback in the place of scale_manager.
        with _translated_errors():
            upgrading.Upgrade(
                self._reconciler(context, cluster), cluster_template,
                nodegroup or cluster.default_ng_worker, max_batch_size).run()

    def create_nodegroup(self, context: typing.Any, cluster: typing.Any,
                         nodegroup: typing.Any) -> None:
        with _translated_errors():
            self._operations(context, cluster).change(
                nodegroup, group=nodegroup)

    def update_nodegroup(self, context: typing.Any, cluster: typing.Any,
                         nodegroup: typing.Any) -> None:
        with _translated_errors():
            self._operations(context, cluster).change(
                nodegroup, group=nodegroup)

    def delete_nodegroup(self, context: typing.Any, cluster: typing.Any,
                         nodegroup: typing.Any) -> None:
        # The row goes when the machines are gone; see ``loop``.
        with _translated_errors():
            self._operations(context, cluster).change(nodegroup)

    def rotate_credential(self, context: typing.Any,
                          cluster: typing.Any) -> None:
        with _translated_errors():
            self._operations(context, cluster).rotate(context.user_id)

    def rotate_ca_certificate(self, context: typing.Any,
                              cluster: typing.Any) -> None:
        # The conductor has already made new certificates, and saves them even
        # if this is refused; then no cluster would trust what it signs. It
        # also saves a status, which ``correction`` corrects.
        self._store(context, cluster).put_back_certificates(cluster)
        raise exception.NotSupported(correction.ROTATION_REFUSED)

    def update_cluster_status(self, context: typing.Any, cluster: typing.Any,
                              use_admin_ctx: bool = False) -> None:
        options = _options_of_polls()
        loop.Loop(reconcile.Reconciler(
            self._runtime(options),
            store.of_magnum(options, cluster.project_id), cluster)).poll()

    def get_monitor(self, context: typing.Any,
                    cluster: typing.Any) -> monitor.Monitor | None:
        try:
            options = _options_of_polls()
            return monitor.Monitor(
                functools.partial(self._runtime, options),
                store.of_magnum(options, cluster.project_id), cluster)
        except errors.MagnumCapiError as e:
            LOG.error('Cluster %s: no health: %s', cluster.uuid, e)
            return None

    def validate_master_resize(self, node_count: int) -> None:
        self.validate_master_size(node_count)

    def create_federation(self, context: typing.Any,
                          federation: typing.Any) -> None:
        raise NotImplementedError('There are no federations')

    def update_federation(self, context: typing.Any,
                          federation: typing.Any) -> None:
        raise NotImplementedError('There are no federations')

    def delete_federation(self, context: typing.Any,
                          federation: typing.Any) -> None:
        raise NotImplementedError('There are no federations')

    def _runtime(self, options: config.Options | None = None
                 ) -> scope.Runtime:
        options = options or _read_options()
        clients = shared.clients(options.kubeconfig_file, rest.Limits(
            options.connect_timeout, options.read_timeout,
            options.retry_time), names.CLUSTER_UUID)
        kube = clients.kube
        return scope.Runtime(
            options, kube, helm.Helm(options, kube.kubeconfig), kube.now,
            shared.sightings, cached=clients.cached)

    def _store(self, context: typing.Any,
               cluster: typing.Any) -> store.Store:
        return store.Store(context, _read_options(), cluster.project_id)

    def _operations(self, context: typing.Any,
                    cluster: typing.Any) -> operations.Operations:
        return operations.Operations(self._reconciler(context, cluster))

    def _reconciler(self, context: typing.Any,
                    cluster: typing.Any) -> reconcile.Reconciler:
        return reconcile.Reconciler(
            self._runtime(), self._store(context, cluster), cluster)


def _read_options() -> config.Options:
    return config.Options.read(magnum.conf.CONF)


#: Cached, because polls are for every cluster every ten seconds, and reading
#: all options takes as long as a request to Kubernetes. Options do not change
#: while a conductor runs.
_options_of_polls = functools.cache(_read_options)


@contextlib.contextmanager
def _translated_errors() -> collections.abc.Iterator[None]:
    """Raise Magnum's errors: their text becomes status_reason.

    The conductor answers some requests at once, such as the rotation of a
    credential: then Magnum's API answers with the error's code.
    """
    try:
        yield
    except failures.NotViable as e:
        raise exception.NotSupported(_plain(
            f'The upgrade is not possible: {failures.owner_message(e)}'
        )) from None
    except failures.Busy as e:
        raise exception.Conflict(_plain(failures.owner_message(e))) from None
    except errors.MagnumCapiError as e:
        raise exception.MagnumException(
            _plain(failures.owner_message(e))) from None


def _plain(text: str) -> str:
    # MagnumException interpolates %(name)s.
    return text.replace('%', '%%')
