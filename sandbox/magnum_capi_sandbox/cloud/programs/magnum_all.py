# SPDX-License-Identifier: Apache-2.0
"""Magnum's API, conductor and periodic tasks in one process, without broker.

For the embedded profile. The RPC between them goes through oslo.messaging's
driver for one process ("fake://"). Each part does the same as Magnum's
magnum.cmd.conductor and magnum.wsgi.api: with threads, or until 22.0.0 with
eventlet, which patches Python when magnum.cmd is imported.

usage: magnum_all.py ADDRESS PORT THREADS --config-file FILE
"""

import importlib
import os
import pkgutil
import sys

#: Seconds between updates of clusters in progress. With machines in memory,
#: Magnum's own 10 (magnum.service.periodic) would be most of the waiting time;
#: the conductor of the profile "full" keeps them. A driver that cannot keep up
#: describes another value (driver_info.Description.environment).
STATUS_SPACING = float(os.environ.get('MAGNUM_CAPI_STATUS_SPACING', 1))

#: Modules that clients of services import when the first one is created.
CLIENTS = ('barbicanclient.v1.client', 'glanceclient.v2.client',
           'novaclient.v2.client')


def import_clients():
    """Import the modules of clients before there are requests.

    Python's import locks do not separate green threads, which share one
    thread: while one imports a module, another may get half of it. Magnum
    until 22.0.0 takes that for an image without properties and refuses the
    cluster template (magnum/api/validation.py, enforce_driver_supported).
    """
    for name in CLIENTS:
        importlib.import_module(name)


def import_periodic_tasks():
    """Make the periodic tasks use the intervals of this sandbox.

    magnum.service.periodic reads the options when it is imported, which
    Magnum does before it reads its files: magnum-conductor (23.0.0) ignores
    [kubernetes] health_polling_interval and always uses 60.
    """
    import magnum.conf

    magnum.conf.CONF(sys.argv[1:], project='magnum')
    periodic = importlib.import_module('magnum.service.periodic')
    # The decorator sets the interval, and oslo.service keeps it here.
    periodic.MagnumPeriodicTasks._periodic_spacing['sync_cluster_status'] = (
        STATUS_SPACING)
    # Unread the configuration, so that options may be registered again.
    magnum.conf.CONF.clear()


def cache_statements():
    """Let SQLAlchemy keep the statements that it has compiled.

    Magnum's JSON types do not declare whether they may be part of a cache key
    (23.0.0, magnum/db/sqlalchemy/models.py), so that each read of a cluster or
    template compiles its statement again. The status of clusters in progress
    reads their templates every second.
    """
    from magnum.db.sqlalchemy import models
    for json_type in (models.JSONEncodedDict, models.JSONEncodedList):
        json_type.cache_ok = True


def start_conductor():
    """Start the RPC server and the periodic tasks."""
    from magnum.common import rpc_service
    from magnum.common import short_id
    import magnum.conductor.handlers
    import magnum.conf

    package = magnum.conductor.handlers
    handlers = [
        importlib.import_module(f'{package.__name__}.{name}').Handler()
        for _finder, name, is_folder in pkgutil.iter_modules(package.__path__)
        if not is_folder]
    server = rpc_service.Service.create(
        magnum.conf.CONF.conductor.topic, short_id.generate_id(), handlers,
        binary='magnum-conductor')
    server.create_periodic_tasks()
    server.start()


def is_green():
    """Whether eventlet has patched Python, as Magnum may have it do.

    Libraries (futurist) import eventlet without patching. Unpatched, its
    server answers several requests in one thread, and they would share
    thread-local data.
    """
    patcher = sys.modules.get('eventlet.patcher')
    return patcher is not None and patcher.is_monkey_patched('thread')


def serve_green(application, address, port, threads):
    """Serve until the process is stopped, with eventlet's own server."""
    import eventlet
    from eventlet import wsgi
    wsgi.server(eventlet.listen((address, port)), application,
                max_size=threads, log_output=False, keepalive=5)


def main():
    address, port, threads = sys.argv[1:4]
    sys.argv = ['magnum', *sys.argv[4:]]
    importlib.import_module('magnum.cmd')
    green = is_green()
    if green:
        import_clients()
    else:
        from oslo_service import backend
        backend.init_backend(backend.BackendType.THREADING)
    # After magnum.cmd, so that thread-local data is eventlet's, if it is used.
    import sqlite
    sqlite.keep_connections()
    sqlite.immediate_transactions()
    import_periodic_tasks()
    from magnum.wsgi import api
    cache_statements()
    start_conductor()
    if green:
        serve_green(api.application, address, int(port), int(threads))
    else:
        import serve
        serve.serve(api.application, address, int(port), int(threads))


if __name__ == '__main__':
    main()
