# SPDX-License-Identifier: Apache-2.0
"""Nova's API, conductor, scheduler and compute in one process, no broker.

The RPC between them goes through oslo.messaging's driver for one process
("fake://"). Each part does the same as its program in nova.cmd.

usage: nova_all.py ADDRESS PORT THREADS
"""

from nova import monkey_patch; monkey_patch.patch(backend='threading')  # noqa

import os
import sys

PARTS = ('conductor', 'scheduler', 'compute')


def add_driver():
    """Put our driver into Nova's own package, where Nova looks for it."""
    from magnum_capi_infrastructure import compute
    sys.modules['nova.virt.sandbox'] = compute
    from nova.virt import node
    # Without it nova-compute does not start a second time.
    if not node.read_local_node_uuid():
        node.write_local_node_uuid(compute.identity(compute.CONF.host))


def start(part):
    """Start a service of Nova in this process."""
    import importlib

    from nova import service
    rpcapi = importlib.import_module(f'nova.{part}.rpcapi')
    server = service.Service.create(
        binary=f'nova-{part}', topic=rpcapi.RPC_TOPIC,
        topic_alt=getattr(rpcapi, 'RPC_TOPIC_ALT', None))
    server.start()
    return server


def discover_host():
    """Map the compute host to its cell, without which it is not used."""
    from nova import context
    from nova.objects import host_mapping
    host_mapping.discover_hosts(context.get_admin_context())


def main():
    address, port, threads = sys.argv[1:4]
    sys.argv = ['nova', '--config-file',
                os.path.join(os.environ['OS_NOVA_CONFIG_DIR'], 'nova.conf')]
    import sqlite
    sqlite.keep_connections()
    sqlite.immediate_transactions()
    import nova.conf
    from nova.wsgi import osapi_compute
    import os_vif
    from oslo_service import opts
    opts.register_service_opts(nova.conf.CONF)
    os_vif.initialize()
    add_driver()
    servers = [start(part) for part in PARTS]
    discover_host()
    import serve
    try:
        serve.serve(osapi_compute.application, address, int(port),
                    int(threads))
    finally:
        for server in servers:
            server.stop()


if __name__ == '__main__':
    main()
