# SPDX-License-Identifier: Apache-2.0

"""Magnum: its rows in memory, what a driver imports of it, and its conductor.

As strict as Magnum 23.0.0: rows of other projects are not found without an
administrator's context, a field that Magnum does not have cannot be set, what
is not saved nobody else sees, and ``save`` writes only what was changed.
:class:`Conductor` does what magnum's handlers and periodic jobs do around the
methods of a driver.
"""

import copy
import functools
import pickle
import types
import typing
import uuid as uuid_lib

from oslo_config import cfg

from tests.lib import doors
from tests.lib import openstack_api
from tests.lib import virtual_time

CERTIFICATES = ('ca_cert_ref', 'magnum_cert_ref', 'etcd_ca_cert_ref',
                'front_proxy_ca_cert_ref')

#: Of all private keys.
PASSPHRASE = 'word'

_TIMES = ('created_at', 'updated_at')

#: Fields of magnum/objects/*.py.
CLUSTER_FIELDS = (
    'id', 'uuid', 'name', 'project_id', 'user_id', 'cluster_template_id',
    'keypair', 'docker_volume_size', 'labels', 'master_flavor_id',
    'flavor_id', 'stack_id', 'status', 'status_reason', 'health_status',
    'health_status_reason', 'create_timeout', 'api_address', 'discovery_url',
    *CERTIFICATES, 'cluster_template', 'coe_version', 'container_version',
    'fixed_network', 'fixed_subnet', 'floating_ip_enabled',
    'master_lb_enabled', *_TIMES)
GROUP_FIELDS = (
    'id', 'uuid', 'name', 'cluster_id', 'project_id', 'docker_volume_size',
    'labels', 'flavor_id', 'image_id', 'node_addresses', 'node_count',
    'role', 'max_node_count', 'min_node_count', 'is_default', 'stack_id',
    'status', 'status_reason', 'version', 'node_labels', 'node_taints',
    *_TIMES)
TEMPLATE_FIELDS = (
    'id', 'uuid', 'project_id', 'user_id', 'name', 'image_id', 'flavor_id',
    'master_flavor_id', 'keypair_id', 'dns_nameserver',
    'external_network_id', 'fixed_network', 'fixed_subnet',
    'network_driver', 'volume_driver', 'apiserver_port',
    'docker_volume_size', 'docker_storage_driver', 'cluster_distro', 'coe',
    'http_proxy', 'https_proxy', 'no_proxy', 'registry_enabled', 'labels',
    'tls_disabled', 'public', 'server_type', 'insecure_registry',
    'master_lb_enabled', 'floating_ip_enabled', 'hidden', 'tags', 'driver',
    *_TIMES)


class MagnumException(Exception):
    """magnum/common/exception.py"""

    message = 'An unknown exception occurred.'
    code = 500

    def __init__(self, message=None, **kwargs):
        self.kwargs = {'code': self.code} | kwargs
        self.message = (message or self.message) % self.kwargs
        super().__init__(self.message)

    def __str__(self):
        return self.message


class NotSupported(MagnumException):
    message = '%(operation)s is not supported.'
    code = 400


class ClusterNotFound(MagnumException):
    message = 'Cluster %(cluster)s could not be found.'
    code = 404


class NodeGroupNotFound(MagnumException):
    message = 'Nodegroup %(nodegroup)s could not be found.'
    code = 404


class ClusterTemplateNotFound(MagnumException):
    message = 'ClusterTemplate %(clustertemplate)s could not be found.'
    code = 404


class Conflict(MagnumException):
    message = 'Conflict.'
    code = 409


class MasterNGSizeInvalid(MagnumException):
    message = 'master nodegroup size of %(requested_size)s is invalid.'
    code = 400


class CertificateStorageException(MagnumException):
    message = 'Could not store certificate: %(msg)s'


class Context:
    """magnum/common/context.py, RequestContext."""

    def __init__(self, auth_token=None, user_id=None, project_id=None,
                 roles=(), is_admin=False, all_tenants=False):
        self.auth_token = auth_token
        self.user_id = user_id
        self.project_id = project_id
        self.roles = list(roles)
        self.is_admin = is_admin
        self.all_tenants = all_tenants

    def sees(self, project_id):
        return (self.is_admin and self.all_tenants
                or self.project_id == project_id)


def admin() -> Context:
    return Context(is_admin=True, all_tenants=True)


class Row:
    """A versioned object."""

    fields: tuple[str, ...] = ()
    gone: typing.Callable[[str], Exception]

    def __init__(self, magnum: 'Magnum', table: dict, context: typing.Any,
                 values: dict) -> None:
        self.__dict__.update(
            _magnum=magnum, _table=table, _context=context, _changed=set(),
            # Not even texts are shared, as with a database.
            **pickle.loads(pickle.dumps(values)))

    def __setattr__(self, name, value):
        if name not in self.fields:
            raise AttributeError(name)
        self._changed.add(name)
        self.__dict__[name] = value

    def __getattr__(self, name):
        if name in type(self).fields:
            raise NotImplementedError(f'Cannot load {name}')
        raise AttributeError(name)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def __contains__(self, name):
        return name in self.__dict__

    def obj_reset_changes(self):
        self._changed.clear()

    def obj_what_changed(self):
        return set(self._changed)

    def as_dict(self):
        return {name: self.__dict__.get(name) for name in self.fields}

    def create(self):
        def do():
            self._table[self.uuid] = copy.deepcopy(
                {name: self.__dict__.get(name) for name in self.fields
                 if name != 'cluster_template'})
            self._table[self.uuid]['created_at'] = self._magnum.now()
            self.__dict__['created_at'] = self._magnum.now()
            self._changed.clear()
        self._magnum.passing(f'create {self.uuid}', do)

    def save(self):
        def do():
            row = self._table.get(self.uuid)
            if row is None:
                raise type(self).gone(self.uuid)
            changes = {name: copy.deepcopy(self.__dict__[name])
                       for name in self._changed}
            if changes:
                before = dict(row)
                row.update(changes, updated_at=self._magnum.now())
                self._magnum.saved(self, before, row)
            self._changed.clear()
        self._magnum.passing(f'save {self.uuid}', do)

    def destroy(self):
        def do():
            if self.uuid not in self._table:
                raise type(self).gone(self.uuid)
            before = self._table.pop(self.uuid)
            self._magnum.saved(self, before, None)
        self._magnum.passing(f'destroy {self.uuid}', do)

    def refresh(self):
        for name, value in self._table[self.uuid].items():
            if self.__dict__.get(name) != value:
                setattr(self, name, copy.deepcopy(value))


class Cluster(Row):
    fields = CLUSTER_FIELDS

    @staticmethod
    def gone(uuid):
        return ClusterNotFound(cluster=uuid)

    @property
    def nodegroups(self):
        return self._magnum.list_groups(self._context, self.uuid)

    def _default(self, role):
        return next(group for group in self.nodegroups
                    if group.is_default and group.role == role)

    @property
    def default_ng_worker(self):
        return self._default('worker')

    @property
    def default_ng_master(self):
        return self._default('master')

    @property
    def node_count(self):
        return sum(group.node_count for group in self.nodegroups
                   if group.role != 'master')

    @property
    def master_count(self):
        return self.default_ng_master.node_count


class NodeGroup(Row):
    fields = GROUP_FIELDS

    @staticmethod
    def gone(uuid):
        return NodeGroupNotFound(nodegroup=uuid)


class Template(Row):
    fields = TEMPLATE_FIELDS

    @staticmethod
    def gone(uuid):
        return ClusterTemplateNotFound(clustertemplate=uuid)


class Certificate:
    """What a backend of certificates hands out."""

    def __init__(self, certificate, key, passphrase):
        self._all = certificate, key, passphrase

    def get_certificate(self):
        return self._all[0]

    def get_private_key(self):
        return self._all[1]

    def get_private_key_passphrase(self):
        return self._all[2]


class BaseDriver:
    """magnum/drivers/common/driver.py"""

    beta = False

    def validate_master_size(self, node_count):
        if node_count % 2 == 0 or node_count < 1:
            raise MasterNGSizeInvalid(requested_size=node_count)

    def get_scale_manager(self, context, osclient, cluster):
        return None


class Magnum:
    """The database, certificates and configuration.

    :ivar clusters, groups, templates: rows by uuid, as they are written.
    :ivar watchers: called with (row, before, now) after each change.
    :ivar driver: that it takes for templates that name none.
    :ivar asked: (reference, Context) of each deletion of a certificate.
    """

    def __init__(self, clock: virtual_time.Clock, gates: doors.Doors,
                 cloud: openstack_api.OpenStack, driver: str) -> None:
        self._clock = clock
        self._doors = gates
        self.cloud = cloud
        self.clusters: dict[str, dict] = {}
        self.groups: dict[str, dict] = {}
        self.templates: dict[str, dict] = {}
        self.certificates: dict[str, Certificate] = {}
        self.watchers: list[typing.Callable] = []
        self.asked: list[tuple[str, typing.Any]] = []
        self._confs: list[cfg.ConfigOpts] = []
        self.driver = driver
        self._made = 0

    def now(self):
        return self._clock.datetime()

    def passing(self, text, do):
        def fail(kind):
            raise AssertionError(f'no such fault at a database: {kind}')
        return self._doors.passing(doors.ROWS, text, do, fail)

    def saved(self, row, before, now):
        for watcher in self.watchers:
            watcher(row, before, now)

    def uuid(self) -> str:
        """Uuids whose order is not that of their creation, always equal."""
        self._made += 1
        return str(uuid_lib.uuid5(uuid_lib.NAMESPACE_OID, str(self._made)))

    # Rows.

    def get_cluster(self, context, uuid):
        return self._get(context, uuid, self.clusters, Cluster)

    def get_template(self, context, uuid):
        return self._get(context, uuid, self.templates, Template)

    def _get(self, context, uuid, table, kind):
        def do():
            row = table.get(uuid)
            if row is None or not (context.sees(row['project_id'])
                                   or row.get('public')):
                raise kind.gone(uuid)
            return kind(self, table, context, row)
        return self.passing(f'get {uuid}', do)

    def list_groups(self, context, cluster_id, **_others):
        def do():
            return [NodeGroup(self, self.groups, context, row)
                    for row in list(self.groups.values())
                    if row['cluster_id'] == cluster_id
                    and context.sees(row['project_id'])]
        return self.passing(f'groups {cluster_id}', do)

    def list_clusters(self, context, limit=None, marker=None, filters=None,
                      **_others):
        def do():
            wanted = (filters or {}).get('status')
            found = sorted(
                uuid for uuid, row in self.clusters.items()
                if (marker is None or uuid > marker.uuid)
                and context.sees(row['project_id'])
                and (wanted is None or row['status'] in wanted))
            return [Cluster(self, self.clusters, context,
                            self.clusters[uuid]) for uuid in found[:limit]]
        return self.passing(f'list {limit}', do)

    # Certificates.

    def make_certificates(self, row: Cluster) -> None:
        for field in CERTIFICATES:
            ref = self.uuid()
            self.certificates[ref] = Certificate(
                f'certificate {field} {ref}', f'key {field} {ref}', PASSPHRASE)
            row[field] = ref

    def delete_cert(self, cert_ref, context=None, **_others):
        self.asked.append((cert_ref, context))
        if cert_ref not in self.certificates:
            raise CertificateStorageException(msg=cert_ref)
        del self.certificates[cert_ref]

    def get_ca(self, cluster, context=None, ca_cert_type=None):
        if context is None:
            raise CertificateStorageException(msg='no context')
        field = {'etcd': 'etcd_ca_cert_ref',
                 'front_proxy': 'front_proxy_ca_cert_ref',
                 'front-proxy': 'front_proxy_ca_cert_ref'}.get(
                     ca_cert_type, 'ca_cert_ref')
        return self.certificates[cluster[field]]

    def client(self, context):
        if context.auth_token is None and not context.is_admin:
            raise MagnumException('Keystone authorization failed.')
        if context.auth_token is None:
            session = self.cloud.session(openstack_api.ADMIN, 'magnum')
        else:
            session = self.cloud.session(context.user_id, context.project_id)
        return types.SimpleNamespace(
            keystone=lambda: types.SimpleNamespace(session=session))

    # For drivers.

    def configure(self, path: str) -> None:
        """Have all processes of :meth:`modules` read a magnum.conf."""
        for conf in self._confs:
            conf([], project='magnum', default_config_files=[path],
                 default_config_dirs=[])

    def modules(self) -> dict[str, types.ModuleType]:
        """What a driver imports, by name: for one process."""
        magnum = self
        self._confs.append(_conf())

        class Drivers(BaseDriver):

            @staticmethod
            def get_drivers():
                return {('vm', 'ubuntu', 'kubernetes'): {
                    'entry_point_name': magnum.driver}}

        exceptions = {one.__name__: one for one in (
            MagnumException, NotSupported, ClusterNotFound,
            NodeGroupNotFound, ClusterTemplateNotFound, Conflict,
            MasterNGSizeInvalid, CertificateStorageException)}
        cert_manager = types.SimpleNamespace(
            CertManager=types.SimpleNamespace(delete_cert=self.delete_cert))
        content = {
            'magnum': {}, 'magnum.common': {},
            'magnum.common.cert_manager': {
                'get_backend': lambda: cert_manager},
            'magnum.common.clients': {'OpenStackClients': self.client},
            'magnum.common.context': {
                'make_admin_context': lambda show_deleted=False,
                all_tenants=False: Context(
                    is_admin=True, all_tenants=all_tenants),
                'RequestContext': Context},
            'magnum.common.exception': exceptions,
            'magnum.common.utils': {
                'get_openstack_ca': functools.partial(_ca, self._confs[-1])},
            'magnum.common.x509': {},
            'magnum.common.x509.operations': {'decrypt_key': _decrypt_key},
            'magnum.conductor': {}, 'magnum.conductor.handlers': {},
            'magnum.conductor.handlers.common': {},
            'magnum.conductor.handlers.common.cert_manager': {
                'get_cluster_ca_certificate': self.get_ca},
            'magnum.conf': {'CONF': self._confs[-1]},
            'magnum.db': {}, 'magnum.db.sqlalchemy': {},
            'magnum.db.sqlalchemy.api': {},
            'magnum.db.sqlalchemy.models': {},
            'magnum.drivers': {}, 'magnum.drivers.common': {},
            'magnum.drivers.common.driver': {'Driver': Drivers},
            'magnum.objects': {
                'Cluster': types.SimpleNamespace(
                    get_by_uuid=self.get_cluster, list=self.list_clusters),
                'ClusterTemplate': types.SimpleNamespace(
                    get_by_uuid=self.get_template),
                'NodeGroup': types.SimpleNamespace(list=self.list_groups)},
        }
        made: dict[str, types.ModuleType] = {}
        for name, has in content.items():
            made[name] = types.ModuleType(name)
            made[name].__dict__.update(has, __path__=[])
            parent, _, own = name.rpartition('.')
            if parent:
                setattr(made[parent], own, made[name])
        return made


def _ca(conf: cfg.ConfigOpts) -> str:
    """magnum/common/utils.py, get_openstack_ca"""
    path = conf.drivers.openstack_ca_file
    if not path:
        return ''
    with open(path, encoding='utf-8') as file:
        return file.read()


def _decrypt_key(encrypted_key: str, password: str) -> bytes:
    if password != PASSPHRASE:
        raise ValueError('Incorrect password, could not decrypt key')
    return encrypted_key.encode()


def _conf() -> cfg.ConfigOpts:
    """Options as Magnum has them, with its defaults."""
    conf = cfg.ConfigOpts()
    conf.register_opts([
        cfg.BoolOpt('verify_ca', default=True),
        cfg.StrOpt('openstack_ca_file', default='')], 'drivers')
    conf.register_opts([
        cfg.StrOpt('default_boot_volume_type', default=''),
        cfg.IntOpt('default_boot_volume_size', default=0)], 'cinder')
    for service in ('glance', 'nova', 'neutron', 'cinder', 'octavia'):
        conf.register_opts([
            cfg.StrOpt('region_name'),
            cfg.StrOpt('endpoint_type', default='publicURL')],
            f'{service}_client')
    conf([], project='magnum', default_config_files=[],
         default_config_dirs=[])
    return conf


#: Statuses in which the conductor takes a change (magnum/conductor/handlers).
_COMPLETE = ('CREATE_COMPLETE', 'UPDATE_COMPLETE')
_RESIZABLE = (*_COMPLETE, 'UPDATE_FAILED', 'UPDATE_IN_PROGRESS')

_IN_PROGRESS = ('CREATE_IN_PROGRESS', 'UPDATE_IN_PROGRESS',
                'DELETE_IN_PROGRESS', 'ROLLBACK_IN_PROGRESS')
_POLLED = (*_IN_PROGRESS, 'CREATE_FAILED', 'CREATE_COMPLETE',
           'UPDATE_COMPLETE', 'UPDATE_FAILED', 'DELETE_FAILED')


class Conductor:
    """magnum/conductor/handlers and magnum/service/periodic.py.

    :param driver: returns the driver's object; Magnum makes one for each use.
    """

    def __init__(self, magnum: Magnum, driver: typing.Callable) -> None:
        self._magnum = magnum
        self._driver = driver

    def cluster_create(self, context, cluster, master_count, node_count,
                       create_timeout):
        cluster.status = 'CREATE_IN_PROGRESS'
        cluster.status_reason = None
        cluster.create()
        for role, count in (('master', master_count), ('worker', node_count)):
            self._group(context, cluster, role, count).create()
        try:
            self._magnum.make_certificates(cluster)
            self._driver().create_cluster(context, cluster, create_timeout)
            cluster.save()
            for group in cluster.nodegroups:
                group.stack_id = cluster.stack_id
                group.save()
        except Exception as e:
            cluster.status = 'CREATE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            raise

    def _group(self, context, cluster, role, count):
        """magnum/conductor/utils.py, _get_nodegroup_object"""
        template = self._magnum.templates[cluster.cluster_template_id]
        least = (cluster.labels or {}).get('min_node_count')
        return NodeGroup(self._magnum, self._magnum.groups, context, {
            **dict.fromkeys(GROUP_FIELDS), 'uuid': self._magnum.uuid(),
            'cluster_id': cluster.uuid, 'project_id': cluster.project_id,
            'labels': cluster.labels, 'node_count': count,
            'image_id': template['image_id'], 'role': role,
            'docker_volume_size': cluster.docker_volume_size,
            'name': f'default-{role}', 'is_default': True,
            'min_node_count': int(
                least) if least and role == 'worker' else 0,
            'flavor_id': (cluster.master_flavor_id if role == 'master'
                          else cluster.flavor_id),
            'status': 'CREATE_IN_PROGRESS', 'node_labels': {},
            'node_taints': []})

    def cluster_resize(self, context, cluster, node_count, nodes_to_remove,
                       group):
        self._allow(cluster, _RESIZABLE, 'Resizing')
        before = group.node_count
        try:
            group.node_count = node_count
            group.status = 'UPDATE_IN_PROGRESS'
            group.save()
            self._driver().resize_cluster(
                context, cluster, None, node_count, nodes_to_remove, group)
            cluster.status = 'UPDATE_IN_PROGRESS'
            cluster.status_reason = None
        except Exception as e:
            cluster.status = 'UPDATE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            group.node_count = before
            group.status = 'UPDATE_FAILED'
            group.status_reason = str(e)
            group.save()
            raise
        cluster.save()

    def cluster_update(self, context, cluster, node_count):
        self._allow(cluster, _COMPLETE, 'Updating')
        group = cluster.default_ng_worker
        before = group.node_count
        if before == node_count:
            return
        try:
            group.node_count = node_count
            group.save()
            self._driver().update_cluster(context, cluster, None, False)
            cluster.status = 'UPDATE_IN_PROGRESS'
            cluster.status_reason = None
        except Exception as e:
            cluster.status = 'UPDATE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            group.node_count = before
            group.save()
            raise
        cluster.save()

    def cluster_upgrade(self, context, cluster, template, max_batch_size,
                        group):
        self._allow(cluster, _COMPLETE, 'Upgrading')
        try:
            self._driver().upgrade_cluster(
                context, cluster, template, max_batch_size, group, False)
            cluster.status = 'UPDATE_IN_PROGRESS'
            group.status = 'UPDATE_IN_PROGRESS'
            cluster.status_reason = None
        except NotSupported:
            raise
        except Exception as e:
            cluster.status = 'UPDATE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            group.status = 'UPDATE_FAILED'
            group.status_reason = str(e)
            group.save()
            raise
        group.save()
        cluster.save()

    def cluster_delete(self, context, uuid):
        cluster = self._magnum.get_cluster(context, uuid)
        try:
            self._driver().delete_cluster(context, cluster)
            cluster.status = 'DELETE_IN_PROGRESS'
            cluster.status_reason = None
        except Exception as e:
            cluster.status = 'DELETE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            raise
        cluster.save()

    def nodegroup_create(self, context, cluster, group):
        cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.save()
        group.status = 'CREATE_IN_PROGRESS'
        group.create()
        try:
            self._driver().create_nodegroup(context, cluster, group)
            group.save()
        except Exception as e:
            group.status = 'CREATE_FAILED'
            group.status_reason = str(e)
            group.save()
            cluster.status = 'UPDATE_FAILED'
            cluster.save()
            raise

    def nodegroup_update(self, context, cluster, group):
        self._allow(group, _RESIZABLE, 'Updating a nodegroup')
        cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.save()
        group.status = 'UPDATE_IN_PROGRESS'
        try:
            self._driver().update_nodegroup(context, cluster, group)
            group.save()
        except Exception as e:
            group.status = 'UPDATE_FAILED'
            group.status_reason = str(e)
            group.save()
            cluster.status = 'UPDATE_FAILED'
            cluster.save()
            raise

    def nodegroup_delete(self, context, cluster, group):
        cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.save()
        group.status = 'DELETE_IN_PROGRESS'
        try:
            self._driver().delete_nodegroup(context, cluster, group)
        except Exception as e:
            group.status = 'DELETE_FAILED'
            group.status_reason = str(e)
            group.save()
            cluster.status = 'UPDATE_FAILED'
            cluster.save()
            raise

    def credential_rotate(self, context, cluster):
        self._allow(cluster, _RESIZABLE, 'Rotation')
        self._driver().rotate_credential(context, cluster)

    def rotate_ca_certificate(self, context, cluster):
        self._allow(cluster, _COMPLETE, 'Updating')
        try:
            self._magnum.make_certificates(cluster)
            self._driver().rotate_ca_certificate(context, cluster)
            cluster.status = 'UPDATE_IN_PROGRESS'
            cluster.status_reason = None
        except Exception as e:
            cluster.status = 'UPDATE_FAILED'
            cluster.status_reason = str(e)
            cluster.save()
            raise
        cluster.save()

    def _allow(self, row, statuses, what):
        if row.status not in statuses:
            raise NotSupported(
                operation=f'{what} when status is "{row.status}"')

    # Periodic jobs.

    def sync_cluster_status(self):
        context = admin()
        for cluster in self._magnum.list_clusters(
                context, filters={'status': _IN_PROGRESS}):
            self.update_status(context, cluster)

    def update_status(self, context, cluster):
        self._driver().update_cluster_status(context, cluster)
        if cluster.status == 'DELETE_COMPLETE':
            for field in CERTIFICATES[:2]:
                self._magnum.certificates.pop(cluster[field], None)
            for group in self._magnum.list_groups(context, cluster.uuid):
                group.destroy()
            cluster.destroy()

    def sync_cluster_health_status(self):
        context = admin()
        for cluster in self._magnum.list_clusters(
                context, filters={'status': _POLLED}):
            monitor = self._driver().get_monitor(context, cluster)
            if monitor is None:
                continue
            monitor.poll_health_status()
            if monitor.data.get('health_status'):
                cluster.health_status = monitor.data.get('health_status')
                cluster.health_status_reason = monitor.data.get(
                    'health_status_reason')
                try:
                    cluster.save()
                except ClusterNotFound:
                    pass
