# SPDX-License-Identifier: Apache-2.0
"""Serve the WSGI application of an OpenStack service on a loopback address.

Runs in the cloud's own environment, which does not have this package, so
nothing of it is imported here.

usage: serve.py MODULE ADDRESS PORT THREADS [ARGUMENTS OF THE SERVICE ...]
"""

import importlib
import sys

import sqlite


def serve(application, address, port, threads):
    """Serve until the process is stopped.

    Magnum's clients leave six keep-alive connections open for every template
    that is created; with waitress's default limit of 200, Glance stops
    answering after a while. So allow more, and close them sooner.
    """
    import waitress
    waitress.serve(application, host=address, port=port, threads=threads,
                   ident=None, connection_limit=1000, channel_timeout=5,
                   cleanup_interval=2, asyncore_use_poll=True)


def main():
    module, address, port, threads = sys.argv[1:5]
    # The modules configure themselves from sys.argv when imported.
    sys.argv = [module, *sys.argv[5:]]
    sqlite.keep_connections()
    sqlite.enforce_foreign_keys()
    application = importlib.import_module(module).application
    serve(application, address, int(port), int(threads))


if __name__ == '__main__':
    main()
