# SPDX-License-Identifier: Apache-2.0
"""Serves scripted answers from a thread, until a fixture or test ends."""

import http.server
import threading

import fixtures


def serve(owner, server):
    """Run an ``http.server`` server.

    :param owner: fixture or test case, whose clean-up ends the server.
    """
    thread = threading.Thread(target=server.serve_forever,
                              kwargs={'poll_interval': 0.01})
    thread.start()
    owner.addCleanup(thread.join)
    owner.addCleanup(server.server_close)
    owner.addCleanup(server.shutdown)


def start(owner, handler) -> str:
    """Serve the answers of a handler class at a port that is free.

    :param owner: as of :func:`serve`.
    :returns: the URL, without a slash at its end.
    """
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
    # Kept connections end with the client, which a test may outlive.
    server.daemon_threads = True
    serve(owner, server)
    return f'http://127.0.0.1:{server.server_port}'


class Stranger(fixtures.Fixture):
    """Somebody else's server: it answers everything, and keeps all it hears.

    :param port: any that is free by default.
    :ivar port: the one that it listens on.
    :ivar heard: of each request ``(method, path, body)``.
    """

    def __init__(self, address, port=0):
        super().__init__()
        self._where = address, port
        self.heard = []

    def _setUp(self):
        heard = self.heard

        class Handler(http.server.BaseHTTPRequestHandler):

            def answer(self):
                size = int(self.headers.get('Content-Length', 0))
                heard.append((self.command, self.path, self.rfile.read(size)))
                self.send_response(200)
                self.send_header('X-Subject-Token', 'taken')
                self.send_header('Content-Length', '2')
                self.end_headers()
                self.wfile.write(b'{}')

            do_GET = do_HEAD = do_POST = answer

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(self._where, Handler)
        self.port = server.server_port
        serve(self, server)
