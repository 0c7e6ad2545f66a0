# SPDX-License-Identifier: Apache-2.0


"""The parts of Magnum that the driver uses, over dicts, for tests.

Compared with Magnum 23.0.0, and as strict: rows of other projects are not
found without an administrator's context, a field that Magnum does not have
cannot be set, what is not saved nobody else sees, certificates that are not
there cannot be read or deleted, and arguments have Magnum's names.
"""

import copy
import importlib
import sys
import types

import fixtures
from oslo_config import cfg

from tests.unit.driver import objects

#: Modules that import Magnum.
OURS = ('magnum_capi.driver.driver',
        'magnum_capi.driver.store')

CERTIFICATES = ('ca_cert_ref', 'magnum_cert_ref', 'etcd_ca_cert_ref',
                'front_proxy_ca_cert_ref')


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


class ClusterNotFound(MagnumException):
    message = 'Cluster %(cluster)s could not be found.'
    code = 404


class NodeGroupNotFound(MagnumException):
    message = 'Nodegroup %(nodegroup)s could not be found.'
    code = 404


class ClusterTemplateNotFound(MagnumException):
    message = 'ClusterTemplate %(clustertemplate)s could not be found.'
    code = 404


class NotSupported(MagnumException):
    message = '%(operation)s is not supported.'
    code = 400


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
                 roles=None, is_admin=False, all_tenants=False):
        self.auth_token = auth_token
        self.user_id = user_id
        self.project_id = project_id
        self.roles = roles
        self.is_admin = is_admin
        self.all_tenants = all_tenants

    def sees(self, project_id):
        return (self.is_admin and self.all_tenants
                or self.project_id == project_id)


def make_admin_context(show_deleted=False, all_tenants=False):
    return Context(is_admin=True, all_tenants=all_tenants)


class Row:
    """A versioned object; ``save`` writes what was changed since."""

    fields = ()

    def __init__(self, table, values):
        self.__dict__.update(_table=table, _changed=set(),
                             **objects.as_read(values))

    def __setattr__(self, name, value):
        if name not in self.fields:
            raise AttributeError(name)
        self._changed.add(name)
        self.__dict__[name] = value

    def __getattr__(self, name):
        # Only for what is not in the dict: Magnum loads it when it is read.
        raise NotImplementedError(f'Cannot load {name}')

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, value)

    def obj_reset_changes(self):
        self._changed.clear()

    def obj_what_changed(self):
        return set(self._changed)

    def save(self):
        if self.uuid not in self._table:
            raise self.gone(self.uuid)
        for name in self._changed:
            self._table[self.uuid][name] = copy.deepcopy(self.__dict__[name])
        self._changed.clear()

    def destroy(self):
        del self._table[self.uuid]


class Cluster(Row):
    fields = ('uuid', 'name', 'project_id', 'user_id', 'status',
              'status_reason', 'cluster_template', 'cluster_template_id',
              'stack_id', 'create_timeout', *CERTIFICATES)

    @staticmethod
    def gone(uuid):
        return ClusterNotFound(cluster=uuid)


class NodeGroup(Row):
    fields = ('uuid', 'name', 'cluster_id', 'project_id', 'status',
              'node_count', 'node_addresses')

    @staticmethod
    def gone(uuid):
        return NodeGroupNotFound(nodegroup=uuid)


class Template(Row):
    fields = ('uuid', 'name', 'project_id', 'driver')


class Certificate:
    """What a backend hands out: texts, or bytes as Barbican's."""

    def __init__(self, certificate, key, passphrase):
        self._all = certificate, key, passphrase

    def get_certificate(self):
        return self._all[0]

    def get_private_key(self):
        return self._all[1]

    def get_private_key_passphrase(self):
        return self._all[2]


class Magnum(fixtures.Fixture):
    """The modules, for the time of a test.

    :ivar clusters, groups, templates: rows by uuid.
    :ivar certificates: Certificate by reference.
    :ivar asked: (reference, context) of each deletion of a certificate.
    :ivar conf: ConfigOpts.
    :ivar driver, store: the modules of the driver.
    """

    def _setUp(self):
        self.clusters, self.groups, self.templates = {}, {}, {}
        self.certificates, self.asked, self.sessions = {}, [], []
        self.pages = []
        self.conf = _conf()
        for name, has in self._modules().items():
            module = types.ModuleType(name)
            module.__dict__.update(has, __path__=[])
            self._put(name, module)
        self.addCleanup(self._forget)
        self._forget()
        self.store = importlib.import_module(OURS[1])
        self.driver = importlib.import_module(OURS[0])

    def _put(self, name, module):
        # Somebody else may have another stand-in.
        before = sys.modules.get(name)
        sys.modules[name] = module
        if before is None:
            self.addCleanup(sys.modules.pop, name)
        else:
            self.addCleanup(sys.modules.__setitem__, name, before)
        parent, _, own = name.rpartition('.')
        if parent:
            setattr(sys.modules[parent], own, module)

    @staticmethod
    def _forget():
        for name in OURS:
            sys.modules.pop(name, None)
            parent, _, own = name.rpartition('.')
            sys.modules[parent].__dict__.pop(own, None)

    def _modules(self):
        """What each module has; parents come first."""
        return {
            'magnum': {},
            'magnum.common': {},
            'magnum.common.cert_manager': {'get_backend': lambda: (
                types.SimpleNamespace(CertManager=types.SimpleNamespace(
                    delete_cert=self._delete_cert)))},
            'magnum.common.clients': {'OpenStackClients': self._clients},
            'magnum.common.context': {
                'make_admin_context': make_admin_context},
            'magnum.common.exception': {
                one.__name__: one for one in (
                    MagnumException, ClusterNotFound, NodeGroupNotFound,
                    ClusterTemplateNotFound, NotSupported, Conflict,
                    MasterNGSizeInvalid, CertificateStorageException)},
            'magnum.common.utils': {'get_openstack_ca': self._ca},
            'magnum.common.x509': {},
            'magnum.common.x509.operations': {
                'decrypt_key': lambda encrypted_key, password: (
                    f'{encrypted_key}, {password}'.encode())},
            'magnum.conductor': {}, 'magnum.conductor.handlers': {},
            'magnum.conductor.handlers.common': {},
            'magnum.conductor.handlers.common.cert_manager': {
                'get_cluster_ca_certificate': self._ca_certificate},
            'magnum.conf': {'CONF': self.conf},
            'magnum.db': {}, 'magnum.db.sqlalchemy': {},
            'magnum.db.sqlalchemy.api': {}, 'magnum.db.sqlalchemy.models': {},
            'magnum.drivers': {}, 'magnum.drivers.common': {},
            'magnum.drivers.common.driver': {'Driver': _BaseDriver},
            'magnum.objects': {
                'Cluster': types.SimpleNamespace(
                    get_by_uuid=self._getter(self.clusters, Cluster),
                    list=self._list_clusters),
                'ClusterTemplate': types.SimpleNamespace(
                    get_by_uuid=self._getter(self.templates, Template)),
                'NodeGroup': types.SimpleNamespace(list=self._list)},
        }

    def _getter(self, table, kind):
        def get_by_uuid(context, uuid):
            if uuid not in table or not context.sees(
                    table[uuid]['project_id']):
                raise (kind.gone(uuid) if kind is Cluster else
                       ClusterTemplateNotFound(clustertemplate=uuid))
            return kind(table, table[uuid])
        return get_by_uuid

    def _list(self, context, cluster_id):
        return [NodeGroup(self.groups, row) for row in self.groups.values()
                if row['cluster_id'] == cluster_id
                and context.sees(row['project_id'])]

    def _list_clusters(self, context, limit=None, marker=None):
        # The marker is a row, of which the database needs the id.
        self.pages.append(limit)
        seen = sorted(row for row in self.clusters
                      if marker is None or row > marker.uuid)
        return [Cluster(self.clusters, self.clusters[uuid])
                for uuid in seen[:limit]
                if context.sees(self.clusters[uuid]['project_id'])]

    def _delete_cert(self, cert_ref, context=None, **kwargs):
        self.asked.append((cert_ref, context))
        if cert_ref not in self.certificates:
            raise CertificateStorageException(msg=cert_ref)
        del self.certificates[cert_ref]

    def _ca_certificate(self, cluster, context=None, ca_cert_type=None):
        if context is None:
            raise CertificateStorageException(msg='no context')
        field = {'etcd': 'etcd_ca_cert_ref',
                 'front_proxy': 'front_proxy_ca_cert_ref'}.get(
                     ca_cert_type, 'ca_cert_ref')
        return self.certificates[cluster[field]]

    def _clients(self, context):
        session = types.SimpleNamespace(
            context=context, verify='/ca.pem', timeout=3)
        self.sessions.append(session)
        return types.SimpleNamespace(
            keystone=lambda: types.SimpleNamespace(session=session))

    def _ca(self):
        path = self.conf.drivers.openstack_ca_file
        if not path:
            return ''
        with open(path, encoding='utf-8') as file:
            return file.read()

    # What tests put there.

    def cluster(self, uuid='c', **fields):
        """A row and its certificates; returns it as the conductor has it."""
        self.clusters[uuid] = dict(
            uuid=uuid, name='n', project_id='p', user_id='u', status='s',
            status_reason=None, cluster_template_id='t', stack_id=None,
            create_timeout=60, **{field: f'{uuid} {field}'
                                  for field in CERTIFICATES}) | fields
        for field in CERTIFICATES:
            self.certificate(f'{uuid} {field}')
        return Cluster(self.clusters, self.clusters[uuid])

    def group(self, uuid, cluster='c', **fields):
        self.groups[uuid] = dict(
            uuid=uuid, name=uuid, cluster_id=cluster, project_id='p',
            status='s', node_count=1, node_addresses=None) | fields
        return NodeGroup(self.groups, self.groups[uuid])

    def certificate(self, reference):
        self.certificates[reference] = Certificate(
            f'certificate of {reference}', f'key of {reference}', 'word')


class _BaseDriver:
    """magnum/drivers/common/driver.py"""

    beta = False

    def validate_master_size(self, node_count):
        if node_count % 2 == 0 or node_count < 1:
            raise MasterNGSizeInvalid(requested_size=node_count)


def _conf():
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
