# SPDX-License-Identifier: Apache-2.0
"""Octavia's API, whose provider "amphora" is our driver.

usage: octavia_api.py ADDRESS PORT THREADS --config-file FILE
"""

import sys


def main():
    address, port, threads = sys.argv[1:4]
    sys.argv = ['octavia', *sys.argv[4:]]
    import sqlite
    sqlite.keep_connections()
    sqlite.immediate_transactions(sessions=True)
    from magnum_capi_infrastructure import balancers
    from octavia.api.drivers.amphora_driver.v2 import driver
    # Clients ask for this name; stevedore would find Octavia's driver first.
    driver.AmphoraProviderDriver = balancers.ProviderDriver
    from octavia.wsgi import api
    import serve
    serve.serve(api.application, address, int(port), int(threads))


if __name__ == '__main__':
    main()
