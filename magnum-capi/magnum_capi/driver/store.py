# SPDX-License-Identifier: Apache-2.0


"""Magnum's rows, certificates and services: the only door to Magnum.

Everything else in this room works with what this hands out; in tests with
something alike.
"""

import collections.abc
import typing

import certifi
from magnum.common import cert_manager as stores
from magnum.common import clients
from magnum.common import context as contexts
from magnum.common import exception
from magnum.common import utils
from magnum.common.x509 import operations as x509
from magnum.conductor.handlers.common import cert_manager
import magnum.conf
from magnum.drivers.common import driver as drivers
from magnum import objects
from oslo_log import log as logging

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.keys import rotation
from magnum_capi.driver import settings as settings_module

CONF = magnum.conf.CONF

LOG = logging.getLogger(__name__)

#: Section of magnum.conf about each service's endpoint.
_CLIENTS = {'image': 'glance', 'compute': 'nova', 'network': 'neutron',
            'block-storage': 'cinder', 'load-balancer': 'octavia'}

#: References of a cluster to its certificates.
CERTIFICATES = ('ca_cert_ref', 'magnum_cert_ref', 'etcd_ca_cert_ref',
                'front_proxy_ca_cert_ref')

#: Those of them that are left when Magnum has deleted a cluster.
_FORGOTTEN = CERTIFICATES[2:]

#: Ours, and Magnum's name of it.
_AUTHORITIES = (('ca', 'kubernetes'), ('etcd', 'etcd'),
                ('proxy', 'front_proxy'))


#: Rows that are read at once.
_PAGE = 100


def configure(files: collections.abc.Sequence[str]) -> None:
    """Read Magnum's configuration, in a program that is none of Magnum's.

    :param files: paths; those that Magnum itself would read when empty.
    :raises ValueError, oslo_config.cfg.Error: it cannot be read.
    """
    logging.register_options(CONF)
    CONF([], project='magnum', default_config_files=files or None)


def clusters() -> collections.abc.Iterator[typing.Any]:
    """The clusters of this driver, of all projects, page by page.

    What it has made bears the name of its release, whatever the template
    says by now; what it has adopted has a template that names it.
    """
    drivers_of: dict[str, str | None] = {}
    for cluster in all_clusters():
        if cluster.stack_id == names.cluster(cluster.uuid):
            yield cluster
        elif cluster.stack_id:
            uuid = cluster.cluster_template_id
            if uuid not in drivers_of:
                drivers_of[uuid] = objects.ClusterTemplate.get_by_uuid(
                    _admin(), uuid).driver
            if drivers_of[uuid] == names.DRIVER:
                yield cluster


def all_clusters() -> collections.abc.Iterator[typing.Any]:
    """The clusters of all drivers and projects, page by page."""
    page: list[typing.Any] = [None]
    while page := objects.Cluster.list(_admin(), limit=_PAGE,
                                       marker=page[-1]):
        yield from page


class Store:
    """reconcile.Store over Magnum's objects.

    :param context: of a user's request, or of Magnum's periodic jobs.
    :param project_id: of the cluster, when the context is Magnum's own: it
        sees what all projects have.
    """

    def __init__(self, context: typing.Any,
                 settings: settings_module.Settings,
                 project_id: str | None = None) -> None:
        self._context = context
        self._settings = settings
        self._project_id = project_id
        self._cloud: openstack.Cloud | None = None

    @property
    def user(self) -> rotation.User:
        if not self._context.auth_token:
            return rotation.User()
        return rotation.User(self._context.user_id,
                             tuple(self._context.roles or ()))

    @property
    def cloud(self) -> openstack.Cloud:
        if self._cloud is None:
            self._cloud = self._cloud_of(self._context)
        return self._cloud

    def admin_cloud(self) -> openstack.Cloud:
        return self._cloud_of(_admin())

    def reload(self, cluster: typing.Any) -> bool:
        # refresh() of Magnum's objects marks what it read as changed; the
        # next save() would write it, over what others wrote meanwhile.
        try:
            current = objects.Cluster.get_by_uuid(_admin(), cluster.uuid)
        except exception.ClusterNotFound:
            return False
        for field in cluster.fields:
            if field != 'cluster_template':
                cluster[field] = current[field]
        cluster.obj_reset_changes()
        return True

    def status(self, cluster: typing.Any) -> str | None:
        """Status as it is now, None when the row is gone."""
        try:
            found = objects.Cluster.get_by_uuid(_admin(), cluster.uuid)
        except exception.ClusterNotFound:
            return None
        status: str | None = found.status
        return status

    def save(self, row: typing.Any) -> None:
        try:
            row.save()
        except (exception.ClusterNotFound, exception.NodeGroupNotFound):
            raise failures.Stopped(
                'The cluster is not in Magnum') from None

    def destroy(self, row: typing.Any) -> None:
        row.destroy()

    def groups(self, cluster: typing.Any) -> tuple[typing.Any, ...]:
        return tuple(objects.NodeGroup.list(_admin(), cluster.uuid))

    def template(self, uuid: str) -> typing.Any:
        return objects.ClusterTemplate.get_by_uuid(_admin(), uuid)

    def driver_of(self, template: typing.Any) -> str | None:
        """Name of the driver that Magnum takes for a template.

        Templates from before Magnum 23 name none; it is then the one that
        provides their type (magnum 23.0.0, magnum/drivers/common/driver.py,
        get_driver).

        :returns: None when no driver provides it.
        """
        name: str | None = template.driver
        if name:
            return name
        found = drivers.Driver.get_drivers().get(
            (template.server_type, template.cluster_distro, template.coe))
        name = found and found['entry_point_name']
        return name

    def authorities(self, cluster: typing.Any
                    ) -> dict[str, tuple[str, str]]:
        found = {}
        for kind, name in _AUTHORITIES:
            certificate = cert_manager.get_cluster_ca_certificate(
                cluster, self._context, name)
            found[kind] = (_text(certificate.get_certificate()), _text(
                x509.decrypt_key(certificate.get_private_key(),
                                 certificate.get_private_key_passphrase())))
        return found

    def put_back_certificates(self, cluster: typing.Any) -> None:
        """Undo what the conductor did before it asked for a rotation."""
        current = objects.Cluster.get_by_uuid(_admin(), cluster.uuid)
        for field in CERTIFICATES:
            if cluster[field] != current[field]:
                _drop(cluster, field, self._context)
            cluster[field] = current[field]

    def drop_certificates(self, cluster: typing.Any) -> None:
        """Delete those that Magnum itself forgets, with their keys.

        (magnum 23.0.0, magnum/conductor/handlers/common/cert_manager.py,
        delete_certificates_from_cluster: two of four)
        """
        for field in _FORGOTTEN:
            _drop(cluster, field, _admin())

    def access(self) -> rotation.Access:
        cacert = utils.get_openstack_ca()
        if not cacert:
            # The provider runs in a pod that trusts nobody by itself.
            with open(certifi.where(), encoding='utf-8') as file:
                cacert = file.read()
        return rotation.Access(
            self.cloud.services.identity_url(
                self._settings.credential_interface),
            cacert, CONF.cinder_client.region_name,
            self._settings.credential_interface, CONF.drivers.verify_ca)

    def cacert_file(self) -> str | None:
        return CONF.drivers.openstack_ca_file or None

    def defaults(self) -> gather.Defaults:
        return gather.Defaults(
            CONF.cinder.default_boot_volume_size or 0,
            CONF.cinder.default_boot_volume_type or None)

    def _cloud_of(self, context: typing.Any) -> openstack.Cloud:
        return openstack.Cloud(
            lambda: clients.OpenStackClients(context).keystone().session,
            self._project_id,
            timeout=self._settings.openstack_timeout,
            places={service: _place(f'{name}_client')
                    for service, name in _CLIENTS.items()})


def of_magnum(settings: settings_module.Settings, project_id: str) -> Store:
    """The Store of Magnum itself for a cluster, without a user's request."""
    return Store(_admin(), settings, project_id)


def _admin() -> typing.Any:
    """A context that sees the rows of all projects."""
    return contexts.make_admin_context(all_tenants=True)


def _drop(cluster: typing.Any, field: str, context: typing.Any) -> None:
    """Delete a certificate, with its key; None is none."""
    reference = cluster[field]
    if not reference:
        return
    try:
        stores.get_backend().CertManager.delete_cert(
            reference, resource_ref=cluster.uuid, context=context)
    except Exception as e:
        # Gone already, or of no use to wait for: so does Magnum.
        LOG.warning('Cluster %s: cannot delete its certificate %s: %s',
                    cluster.uuid, field, e)


def _place(section: str) -> services.Place:
    options = CONF[section]
    return services.Place(
        (options.endpoint_type or 'public').removesuffix('URL'),
        options.region_name)


def _text(pem: str | bytes) -> str:
    return pem.decode() if isinstance(pem, bytes) else pem
