# SPDX-License-Identifier: Apache-2.0

"""Run with a Magnum's Python: what it does with clusters of an absent driver.

Rows are read as JSON from standard input. The API and the conductor are real,
in one process; RPC between them, authtoken, Keystone and Glance are replaced,
the database is SQLite. Writes the results for each cluster: for every request
its status, its text, the cluster's status after it, and the conductor's error,
if any; then the results of the periodic tasks.
"""

import json
import sys
from unittest import mock

import application
from magnum.api import app as api_app
from magnum.common import clients
from magnum.common import context
from magnum.common import rpc_service
from magnum.conductor.handlers import cluster_conductor
from magnum.conductor.handlers import nodegroup_conductor
from magnum.db.sqlalchemy import models
from magnum import objects
from magnum.service import periodic
from oslo_db.sqlalchemy import enginefacade
from oslo_log import log

CONF = application.CONF

#: (name, method, path below /v1, body); ``{}`` is the cluster's uuid.
OPERATIONS = (
    ('list', 'GET', 'clusters', None),
    ('show', 'GET', 'clusters/{}', None),
    ('show template', 'GET', 'clustertemplates/{template}', None),
    ('list node groups', 'GET', 'clusters/{}/nodegroups', None),
    ('create', 'POST', 'clusters', {
        'name': 'new', 'cluster_template_id': '{template}',
        'keypair': 'k', 'node_count': 1}),
    ('resize', 'POST', 'clusters/{}/actions/resize', {'node_count': 2}),
    ('delete', 'DELETE', 'clusters/{}', None),
    ('create node group', 'POST', 'clusters/{}/nodegroups', {
        'name': 'more', 'node_count': 1}),
)


#: Errors of casts.
FAILED = []


class Conductor:
    """The conductor's handlers in place of its client."""

    def __init__(self):
        self._handlers = (
            cluster_conductor.Handler(), nodegroup_conductor.Handler())

    def call(self, _context, method, **more):
        for handler in self._handlers:
            if hasattr(handler, method):
                return getattr(handler, method)(
                    context.make_admin_context(all_tenants=True), **more)
        raise NotImplementedError(method)

    def cast(self, _context, method, **more):
        try:
            self.call(_context, method, **more)
        except Exception as e:
            # oslo.messaging logs it; the user already has the answer.
            FAILED.append(f'{type(e).__name__}: {e}')


def main():
    log.register_options(CONF)
    case = json.load(sys.stdin)
    CONF([], project='magnum', default_config_files=[])
    CONF.set_override('connection', f'sqlite:///{sys.argv[1]}/db', 'database')
    models.Base.metadata.create_all(enginefacade.writer.get_engine())
    application.add_rows(case)
    with mock.patch.object(clients, 'OpenStackClients', mock.MagicMock()), \
            mock.patch.object(rpc_service.API, '__init__', connect), \
            mock.patch('magnum.common.rpc.get_notifier', mock.MagicMock()), \
            mock.patch('magnum.api.attr_validator.validate_os_resources',
                       lambda *args: None), \
            mock.patch('magnum.api.attr_validator.validate_flavor_root_'
                       'volume_size',
                       lambda *args: None):
        app = api_app.setup_app()
        json.dump({row['name']: seen(app, row) for row in case['clusters']},
                  sys.stdout)


def connect(self, context=None, **more):
    self._context = context
    self._client = Conductor()


def seen(app, row):
    found = {}
    admin = application.admin()
    for name, method, path, body in OPERATIONS:
        spelled = json.dumps(body).replace(
            '{template}', row['cluster_template_id'])
        FAILED.clear()
        found[name] = *application.ask(
            app, method, '/v1/' + path.format(
                row['uuid'], template=row['cluster_template_id']),
            json.loads(spelled), roles='admin,member,reader'), \
            objects.Cluster.get_by_uuid(admin, row['uuid']).status, *FAILED
    for job in 'update_status', 'update_health_status':
        cluster = objects.Cluster.get_by_uuid(admin, row['uuid'])
        made = (periodic.ClusterUpdateJob if job == 'update_status'
                else periodic.ClusterHealthUpdateJob)(admin, cluster)
        try:
            getattr(made, job)()
        except Exception as e:
            found[job] = f'{type(e).__name__}: {e}'
    return found


if __name__ == '__main__':
    main()
