# SPDX-License-Identifier: Apache-2.0

"""A machine service for the compute driver that boots nothing."""

import json
import os
import socketserver
import threading

import fixtures

from tests.unit import loopback


class _Handler(loopback.Handler):

    protocol_version = 'HTTP/1.1'

    def address_string(self):
        return 'unix'

    @property
    def words(self):
        return self.path.strip('/').split('/')

    def do_PUT(self):
        there, name = self.server.machines, self.words[1]
        body = json.loads(self.body())
        self.answer(200 if name in there else 201, there.setdefault(
            name, body | {'id': name, 'state': 'running',
                          'console': f'{body["name"]} has booted\n'}))

    def do_GET(self):
        there = self.server.machines
        if len(self.words) == 1:
            self.answer(200, {'machines': list(there.values())})
        elif self.words[1] in there:
            self.answer(200, there[self.words[1]])
        else:
            self.answer(404, {'message': 'no such machine'})

    def do_POST(self):
        _, name, action = self.words
        if name not in self.server.machines:
            self.answer(404, {'message': 'no such machine'})
            return
        self.server.machines[name]['state'] = \
            'stopped' if action == 'stop' else 'running'
        self.answer(204)

    def do_DELETE(self):
        self.server.machines.pop(self.words[1], None)
        self.answer(204)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


class MachineService(fixtures.Fixture):
    """Serves at a socket; ``machines`` has the received ones by id."""

    def __init__(self, path):
        super().__init__()
        self._path = path

    def _setUp(self):
        # Nova uses this one instead of that in the management cluster.
        self._path.unlink(missing_ok=True)
        server = _Server(str(self._path), _Handler)
        os.chmod(self._path, 0o600)
        server.machines = self.machines = {}
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
