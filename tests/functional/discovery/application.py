# SPDX-License-Identifier: Apache-2.0

"""Run with the cloud's Python: the real Magnum's API behind the filter.

Reads rows and requests as JSON from standard input and writes (status, text)
of each answer. Only authtoken, Glance, RPC and the drivers are replaced; the
database is SQLite, of Magnum's own tables.
"""

import contextlib
import io
import json
import sys
from unittest import mock

from magnum.api import app as api_app
from magnum.common import context
from magnum.common import keystone
from magnum.common import rpc_service
import magnum.conf
from magnum.db.sqlalchemy import models
from magnum.drivers.common import driver as drivers
from magnum import objects
from oslo_db.sqlalchemy import enginefacade
from oslo_log import log
from oslo_utils import uuidutils
import webob

from magnum_capi.discovery import filter as filter_
from magnum_capi.discovery import images
from magnum_capi.discovery import magnum as calls
from magnum_capi.discovery import model

CONF = magnum.conf.CONF
PROJECT = 'p1'


def main():
    case = json.load(sys.stdin)
    Calls.images = case['images']
    with magnum_api(sys.argv[1]) as app:
        add_rows(case)
        if case['filter']:
            app = filter_.Filter(app, catalog(case['drivers']), Calls)
        json.dump([ask(app, **request) for request in case['requests']],
                  sys.stdout)


@contextlib.contextmanager
def magnum_api(folder):
    """Magnum's application; what it asks other services is replaced.

    :param folder: for its database.
    """
    log.register_options(CONF)
    CONF([], project='magnum', default_config_files=[])
    CONF.set_override('connection', f'sqlite:///{folder}/db', 'database')
    models.Base.metadata.create_all(enginefacade.writer.get_engine())
    with mock.patch.object(rpc_service.API, '__init__',
                           lambda *args, **more: None), \
            mock.patch.object(keystone.KeystoneClientV3, 'trustee_domain_id',
                              'd', create=True), \
            mock.patch('magnum.conductor.api.API.cluster_upgrade',
                       lambda *args, **more: None), \
            mock.patch.object(drivers.Driver, 'get_drivers',
                              lambda: {}):
        yield api_app.setup_app()


def catalog(oses):
    """Drivers with their operating systems."""
    return model.Catalog([
        model.Offer(name, tuple(model.ClusterType('vm', os, 'kubernetes')
                                for os in provided))
        for name, provided in oses.items()])


class Calls(calls.Magnum):
    """Images without Glance: properties by id."""

    images = {}

    def image(self, ident):
        return images.Image(
            ident, model.ImageProperties.of(self.images[ident]))


def add_rows(case):
    for fields in case['templates']:
        objects.ClusterTemplate(
            admin(), **{'project_id': PROJECT, 'user_id': 'u1',
                        'coe': 'kubernetes', 'server_type': 'vm',
                        'cluster_distro': 'ubuntu', 'image_id': 'i',
                        'public': False, 'hidden': False, 'labels': {},
                        **fields}).create()
    for fields in case['clusters']:
        objects.Cluster(
            admin(), **{'project_id': PROJECT, 'user_id': 'u1', 'labels': {},
                        'status': 'CREATE_COMPLETE', **fields}).create()
        for role in ('master', 'worker'):
            objects.NodeGroup(
                admin(), cluster_id=fields['uuid'], name=f'default-{role}',
                uuid=uuidutils.generate_uuid(), project_id=PROJECT,
                role=role, is_default=True, node_count=1, image_id='i',
                flavor_id='f', labels={}).create()


def admin():
    return context.make_admin_context(all_tenants=True)


def ask(app, method, path, body=None, roles='member,reader'):
    raw = b'' if body is None else json.dumps(body).encode()
    request = webob.Request.blank(path, method=method)
    request.environ.update({
        'HTTP_X_PROJECT_ID': PROJECT, 'HTTP_X_USER_ID': 'u1',
        'HTTP_X_ROLES': roles, 'HTTP_X_AUTH_TOKEN': 't',
        'HTTP_OPENSTACK_API_VERSION': 'container-infra 1.10',
        'keystone.token_info': {'token': {}},
        'CONTENT_TYPE': 'application/json', 'CONTENT_LENGTH': str(len(raw)),
        'wsgi.input': io.BytesIO(raw)})
    answer = request.get_response(app)
    return answer.status_int, answer.text


if __name__ == '__main__':
    main()
