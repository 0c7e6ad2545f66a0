# SPDX-License-Identifier: Apache-2.0
"""Serve the WSGI application of an OpenStack service over https.

In worker processes, each of which imports the application. They end with the
process that started them. Runs in the cloud's own environment, like serve.py.

usage: serve_tls.py MODULE ADDRESS PORT THREADS WORKERS FOLDER
                    [ARGUMENTS OF THE SERVICE ...]

FOLDER has the server's certificate and key.
"""

import importlib
import pathlib
import sys

from gunicorn.app import base


class Server(base.BaseApplication):
    """Gunicorn without its own command line.

    :param module: of the application.
    :param settings: of Gunicorn, by name.
    """

    def __init__(self, module, settings):
        self._module = module
        self._settings = settings
        super().__init__()

    def load_config(self):
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self):
        return importlib.import_module(self._module).application


def main():
    module, address, port, threads, workers, folder = sys.argv[1:7]
    # The modules configure themselves from sys.argv when imported.
    sys.argv = [module, *sys.argv[7:]]
    folder = pathlib.Path(folder)
    Server(module, {
        'bind': f'{address}:{port}', 'workers': int(workers),
        'worker_class': 'gthread', 'threads': int(threads),
        'certfile': str(folder / 'server.crt'),
        'keyfile': str(folder / 'server.key'), 'keepalive': 5,
        # Importing a service takes long on a busy machine.
        'timeout': 0, 'graceful_timeout': 2,
        # What is too long is for the service to judge, as with waitress.
        'limit_request_line': 0, 'limit_request_field_size': 256 << 10,
        'control_socket_disable': True}).run()


if __name__ == '__main__':
    main()
