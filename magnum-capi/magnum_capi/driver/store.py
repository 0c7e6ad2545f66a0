# SPDX-License-Identifier: Apache-2.0


"""Magnum's rows, certificates and services: the only access to Magnum.

Everything else in this package works with what this returns, or with a
substitute in tests.
"""

import collections.abc
import typing

import certifi
from keystoneauth1 import plugin
from keystoneauth1 import session as keystone_session
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
from magnum_capi.driver import config
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.keys import app_credentials
from magnum_capi import errors

CONF = magnum.conf.CONF

LOG = logging.getLogger(__name__)

#: Section of magnum.conf about each service's endpoint.
_CLIENTS = {'image': 'glance', 'compute': 'nova', 'network': 'neutron',
            'block-storage': 'cinder', 'load-balancer': 'octavia'}

#: References of a cluster to its certificates.
CERTIFICATES = ('ca_cert_ref', 'magnum_cert_ref', 'etcd_ca_cert_ref',
                'front_proxy_ca_cert_ref')

#: Those that Magnum leaves behind when it deletes a cluster.
_FORGOTTEN = CERTIFICATES[2:]

#: Our name, and Magnum's.
_AUTHORITIES = (('ca', 'kubernetes'), ('etcd', 'etcd'),
                ('proxy', 'front_proxy'))


#: Rows per query.
_PAGE = 100


def configure(files: collections.abc.Sequence[str],
              folders: collections.abc.Sequence[str] = ()) -> None:
    """Read Magnum's configuration in a program outside of Magnum.

    :param files: paths; later ones win.
    :param folders: their ``*.conf``, sorted, win over ``files``. If neither is
        given, those that magnum-conductor would read.
    :raises ValueError, oslo_config.cfg.Error: it cannot be read.
    """
    logging.register_options(CONF)
    found: list[str] | None = [] if files or folders else None
    CONF([f'--config-file={path}' for path in files]
         + [f'--config-dir={path}' for path in folders],
         project='magnum', prog='magnum-conductor',
         default_config_files=found, default_config_dirs=found)


def all_clusters() -> collections.abc.Iterator[typing.Any]:
    """The clusters of all drivers and projects, page by page."""
    page: list[typing.Any] = [None]
    while page := objects.Cluster.list(_admin(), limit=_PAGE,
                                       marker=page[-1]):
        yield from page


class Store:
    """The driver's view of Magnum; rows are its objects.

    :param context: of a user's request, or of Magnum's periodic jobs.
    :param project_id: of the cluster. An operator's request may come from
        another one, and Magnum itself sees all projects.
    """

    def __init__(self, context: typing.Any,
                 options: config.Options,
                 project_id: str) -> None:
        self._context = context
        self._options = options
        self._project_id = project_id
        self._cloud: openstack.Cloud | None = None

    @property
    def user(self) -> app_credentials.User:
        """The user of the request, if its token is for the project."""
        if (not self._context.auth_token
                or self._context.project_id != self._project_id):
            # Keystone makes an application credential for the project of the
            # token (keystone 30.0.0, keystone/api/users.py,
            # UserAppCredListCreateResource.post).
            return app_credentials.User()
        return app_credentials.User(
            self._context.user_id, tuple(self._context.roles or ()))

    @property
    def cloud(self) -> openstack.Cloud:
        """The cloud as the user of the request sees it."""
        if self._cloud is None:
            self._cloud = self._cloud_of(self._context)
        return self._cloud

    def admin_cloud(self) -> openstack.Cloud:
        """The cloud as Magnum itself sees it."""
        return self._cloud_of(_admin())

    def cloud_as(self, auth: plugin.BaseAuthPlugin) -> openstack.Cloud:
        """The cloud as the holder of a credential sees it.

        :param auth: for the project of the cluster.
        """
        def session() -> keystone_session.Session:
            # It trusts the CA certificates that Magnum trusts.
            ours = _session(_admin())
            return keystone_session.Session(
                auth=auth, verify=ours.verify, timeout=ours.timeout)
        return self._cloud_with(session)

    def reload(self, cluster: typing.Any) -> bool:
        """Read a row again; False when it no longer exists."""
        # refresh() of Magnum's objects marks what it read as changed, so the
        # next save() would overwrite what others wrote in the meantime.
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
        """The present status, None when the row is gone."""
        try:
            found = objects.Cluster.get_by_uuid(_admin(), cluster.uuid)
        except exception.ClusterNotFound:
            return None
        status: str | None = found.status
        return status

    def save(self, row: typing.Any) -> None:
        """Write the changes of a row.

        :raises failures.ClusterGone: it no longer exists.
        """
        try:
            row.save()
        except (exception.ClusterNotFound, exception.NodeGroupNotFound):
            raise failures.ClusterGone(
                'The cluster is not in Magnum') from None

    def destroy(self, row: typing.Any) -> None:
        """Remove the row of a node group."""
        row.destroy()

    def groups(self, cluster: typing.Any) -> tuple[typing.Any, ...]:
        """The present node groups."""
        return tuple(objects.NodeGroup.list(_admin(), cluster.uuid))

    def template(self, uuid: str) -> typing.Any:
        """A cluster template."""
        return objects.ClusterTemplate.get_by_uuid(_admin(), uuid)

    def driver_of(self, template: typing.Any) -> str | None:
        """Name of the driver that Magnum selects for a template.

        Templates from before Magnum 23 name none; then Magnum selects the one
        that provides their type (magnum 23.0.0,
        magnum/drivers/common/driver.py, get_driver).

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
        """Certificate and key by ca, etcd, proxy; PEM texts."""
        found = {}
        for kind, name in _AUTHORITIES:
            certificate = cert_manager.get_cluster_ca_certificate(
                cluster, self._context, name)
            found[kind] = (_text(certificate.get_certificate()), _text(
                x509.decrypt_key(certificate.get_private_key(),
                                 certificate.get_private_key_passphrase())))
        return found

    def put_back_certificates(self, cluster: typing.Any) -> None:
        """Undo what the conductor did before it requested a rotation."""
        current = objects.Cluster.get_by_uuid(_admin(), cluster.uuid)
        for field in CERTIFICATES:
            if cluster[field] != current[field]:
                _drop(cluster, field, self._context)
            cluster[field] = current[field]

    def drop_certificates(self, cluster: typing.Any) -> None:
        """Delete certificates that Magnum forgets, with their keys.

        (magnum 23.0.0, magnum/conductor/handlers/common/cert_manager.py,
        delete_certificates_from_cluster: two of four)
        """
        for field in _FORGOTTEN:
            _drop(cluster, field, _admin())

    def access(self) -> app_credentials.Access:
        """How clusters reach the cloud."""
        return app_credentials.Access(
            self.cloud.services.identity_url(
                self._options.credential_interface),
            self.cacert(), CONF.cinder_client.region_name,
            self._options.credential_interface, CONF.drivers.verify_ca)

    def cacert(self) -> str | None:
        """CA certificates of the cloud, None if clusters verify none.

        Where there are some, the chart has the cloud controller verify
        certificates: it does not read that from clouds.yaml
        (capi-helm-charts 0.27.0, cluster-addons/templates/openstack/
        cloud-config.yaml; cloud-provider-openstack, pkg/client/client.go).
        """
        if not CONF.drivers.verify_ca:
            return None
        try:
            found: str = utils.get_openstack_ca()
        except OSError as e:
            raise errors.EnvironmentProblem(
                'The CA certificates of [drivers]openstack_ca_file cannot be '
                'read', where=self.cacert_file(), last_seen=e.strerror,
                hint='Correct the option, or the rights of the file') from e
        if not found:
            # The provider's pod has no CA certificates of its own.
            with open(certifi.where(), encoding='utf-8') as file:
                found = file.read()
        return found

    def cacert_file(self) -> str | None:
        """Path of the CA certificates that Magnum trusts for the cloud."""
        return CONF.drivers.openstack_ca_file or None

    def defaults(self) -> gather.Defaults:
        """Magnum's own options."""
        return gather.Defaults(
            CONF.cinder.default_boot_volume_size or 0,
            CONF.cinder.default_boot_volume_type or None)

    def _cloud_of(self, context: typing.Any) -> openstack.Cloud:
        return self._cloud_with(
            lambda: _session(context),
            None if context.project_id == self._project_id
            else self._project_id)

    def _cloud_with(self, session_factory: services.SessionFactory,
                    project_id: str | None = None) -> openstack.Cloud:
        return openstack.Cloud(
            session_factory, project_id,
            timeout=self._options.openstack_timeout,
            places={service: _place(f'{name}_client')
                    for service, name in _CLIENTS.items()})


def of_magnum(options: config.Options, project_id: str) -> Store:
    """The Store of Magnum itself for a cluster, without a user's request."""
    return Store(_admin(), options, project_id)


def _admin() -> typing.Any:
    """A context that sees the rows of all projects."""
    return contexts.make_admin_context(all_tenants=True)


def _session(context: typing.Any) -> keystone_session.Session:
    """Magnum's session for a context; authenticates when it is used."""
    found: keystone_session.Session = clients.OpenStackClients(
        context).keystone().session
    return found


def _drop(cluster: typing.Any, field: str, context: typing.Any) -> None:
    """Delete a certificate, with its key; None is none."""
    reference = cluster[field]
    if not reference:
        return
    try:
        stores.get_backend().CertManager.delete_cert(
            reference, resource_ref=cluster.uuid, context=context)
    except Exception as e:
        # Already gone, or not worth waiting for; Magnum also goes on.
        LOG.warning('Cluster %s: cannot delete its certificate %s: %s',
                    cluster.uuid, field, e)


def _place(section: str) -> services.Place:
    options = CONF[section]
    return services.Place(
        (options.endpoint_type or 'public').removesuffix('URL'),
        options.region_name)


def _text(pem: str | bytes) -> str:
    return pem.decode() if isinstance(pem, bytes) else pem
