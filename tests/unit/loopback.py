# SPDX-License-Identifier: Apache-2.0
"""Serves scripted answers from a thread, until a fixture or test ends."""

import http.server
import json
import ssl
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


def start(owner, handler, tls=None) -> str:
    """Serve the answers of a handler class at a port that is free.

    :param owner: as of :func:`serve`.
    :param tls: folder of the server's certificate, see
        ``management.pki.make_server``.
    :returns: the URL, without a slash at its end.
    """
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
    if tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tls / 'server.crt', tls / 'server.key')
        server.socket = context.wrap_socket(server.socket, server_side=True)
    # Kept connections end with the client, which a test may outlive.
    server.daemon_threads = True
    serve(owner, server)
    scheme = 'https' if tls else 'http'
    return f'{scheme}://127.0.0.1:{server.server_port}'


class Handler(http.server.BaseHTTPRequestHandler):
    """Says nothing in the terminal; a class of it has do_GET and so on."""

    def log_message(self, *args):
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get('Content-Length') or 0))

    def answer(self, status, body=None, **headers):
        """Answer a request.

        :param body: bytes, or what is sent as JSON; None and 204: nothing.
        """
        data = body
        if body is None or status == 204:
            data = b''
        elif not isinstance(body, bytes):
            data = json.dumps(body).encode()
            headers = {'Content-Type': 'application/json', **headers}
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


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

        class Anything(Handler):

            def do_GET(self):
                heard.append((self.command, self.path, self.body()))
                self.answer(200, {}, **{'X-Subject-Token': 'taken'})

            do_HEAD = do_POST = do_GET

        server = http.server.ThreadingHTTPServer(self._where, Anything)
        self.port = server.server_port
        serve(self, server)
