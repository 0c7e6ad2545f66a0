# SPDX-License-Identifier: Apache-2.0
"""Octavia's API, whose provider "amphora" is our driver.

usage: octavia_api.py ADDRESS PORT THREADS --config-file FILE
"""

import sys


def without_pool():
    """Let Octavia open SQLite, which has no pool of connections.

    octavia.common.config sets a default of oslo.db that SQLite does not
    support (19.0.0).
    """
    from octavia.common import config  # noqa: F401  sets its default
    from oslo_config import cfg
    cfg.CONF.clear_default('pool_timeout', group='database')


def main():
    address, port, threads = sys.argv[1:4]
    sys.argv = ['octavia', *sys.argv[4:]]
    import sqlite
    sqlite.immediate_transactions(sessions=True)
    without_pool()
    from magnum_capi_infrastructure import balancers
    from octavia.api.drivers.amphora_driver.v2 import driver
    # Clients ask for this name; stevedore would find Octavia's driver first.
    driver.AmphoraProviderDriver = balancers.ProviderDriver
    from octavia.wsgi import api
    import serve
    serve.serve(api.application, address, int(port), int(threads))


if __name__ == '__main__':
    main()
