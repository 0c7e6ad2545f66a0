# SPDX-License-Identifier: Apache-2.0
"""Magnum's API, conductor and periodic tasks in one process, without broker.

The embedded profile: the RPC between them goes through oslo.messaging's
driver for one process ("fake://"). What each part does is what
magnum.cmd.conductor and magnum.wsgi.api of Magnum do: with threads, or until
22.0.0 with eventlet, which magnum.cmd has patch Python when it is imported.

usage: magnum_all.py ADDRESS PORT THREADS --config-file FILE
"""

import importlib
import pkgutil
import sys

#: Seconds between looks at clusters in progress. Magnum's own 10
#: (magnum.service.periodic) are most of what somebody with machines in memory
#: waits for; the conductor of profile full has them.
STATUS_SPACING = 1

#: What clients of services import when they are made first.
CLIENTS = ('barbicanclient.v1.client', 'glanceclient.v2.client',
           'novaclient.v2.client')


def import_clients():
    """Import what clients need before there are requests.

    Green threads are one thread to Python, whose locks of modules do not part
    them: who asks while another one imports may get half of a module. Magnum
    until 22.0.0 takes that for an image without properties and refuses the
    cluster template (magnum/api/validation.py, enforce_driver_supported).
    """
    for name in CLIENTS:
        importlib.import_module(name)


def import_periodic_tasks():
    """Have the periodic tasks know the intervals of this sandbox.

    magnum.service.periodic takes them when it is imported, which Magnum does
    before it reads its files: [kubernetes] health_polling_interval counts
    for nothing in its own magnum-conductor (23.0.0), and is 60 there.
    """
    import magnum.conf

    magnum.conf.CONF(sys.argv[1:], project='magnum')
    periodic = importlib.import_module('magnum.service.periodic')
    # The decorator has the number, and oslo.service keeps it here.
    periodic.MagnumPeriodicTasks._periodic_spacing['sync_cluster_status'] = (
        STATUS_SPACING)
    # As if it had not been read: options may be registered again.
    magnum.conf.CONF.clear()


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
    """Whether Magnum has had eventlet patch Python.

    Libraries import eventlet without that (futurist). Unpatched, its server
    answers several requests in one thread, whose locals they would share.
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
    # After magnum.cmd: its thread's locals are those of eventlet, if any.
    import sqlite
    sqlite.immediate_transactions()
    import_periodic_tasks()
    from magnum.wsgi import api
    start_conductor()
    if green:
        serve_green(api.application, address, int(port), int(threads))
    else:
        import serve
        serve.serve(api.application, address, int(port), int(threads))


if __name__ == '__main__':
    main()
