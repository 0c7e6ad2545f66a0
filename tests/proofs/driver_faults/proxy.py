# SPDX-License-Identifier: Apache-2.0

"""A proxy in front of the management cluster that injects faults.

It terminates TLS with its own certificate and requires a client certificate,
so that other users of the machine have no access; the API server behind it
sees the client of the sandbox's kubeconfig. It only listens on the sandbox's
own loopback address.
"""

import contextlib
import email.utils
import http.server
import socket
import ssl
import tempfile
import threading
import time

import trustme
import urllib3

from magnum_capi.kube import access
from magnum_capi_tempest import kubeconfig
from magnum_capi_tempest.management import pki
from tests.proofs.driver_faults import rules

#: Headers that belong to one connection (RFC 9110, 7.6.1), and the length,
#: which is written anew.
_OF_CONNECTION = frozenset((
    'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer',
    'transfer-encoding', 'upgrade', 'content-length', 'host'))

#: Seconds. A held request whose sender has gone is not kept forever.
LONGEST_HOLD = 120

_UPSTREAM = urllib3.Timeout(connect=5, read=60)


class Hold:
    """A request that is held on its way.

    :param rule: rules.Rule whose action is one of the HOLD ones.
    """

    def __init__(self, rule):
        self.rule = rule
        self._reached = threading.Event()
        self._since = 0.0
        self._released = threading.Event()
        self._passes = False

    @property
    def reached(self):
        """Whether the request has arrived."""
        return self._reached.is_set()

    @property
    def age(self):
        """Seconds since then."""
        return time.monotonic() - self._since if self.reached else 0.0

    def release(self, passes=True):
        """Release the request: pass it on, or drop it.

        Only the first call counts.
        """
        if not self._released.is_set():
            self._passes = passes
            self._released.set()

    def keep(self):
        """For the proxy: wait; returns whether the request may pass."""
        self._since = time.monotonic()
        self._reached.set()
        self._released.wait(LONGEST_HOLD)
        return self._passes


class Proxy:
    """The proxy of one sandbox.

    :param kubeconfig: path of the sandbox's kubeconfig.
    :param address: IP address to listen on.
    """

    def __init__(self, kubeconfig, address):
        self._access = access.load(kubeconfig)
        self._address = address
        self._port = 0
        self._authority = trustme.CA()
        self._ca = self._authority.cert_pem.bytes().decode()
        self._tls = self._server_context()
        self._upstream = urllib3.PoolManager(
            ssl_context=self._access.tls, maxsize=64, retries=False)
        self._server = None
        self._lock = threading.Lock()
        self._book = rules.Book()
        self._holds = {}
        #: Requests wait while it is not set.
        self._gate = threading.Event()
        self._gate.set()

    def close(self):
        """Refuse everything, and drop what is held."""
        for hold in list(self._holds.values()):
            hold.release(False)
        self._gate.set()
        self.refuse()

    def write_kubeconfig(self, path):
        """Write a kubeconfig that uses the proxy."""
        certificate, key = pki.pair(
            self._authority, 'magnum', organization='system:masters')
        kubeconfig.write(path, kubeconfig.document(
            f'https://{self._address}:{self._port}',
            self._ca, certificate.decode(), key.decode()))

    def listen(self):
        """Accept connections, on the same port as before."""
        if self._server is None:
            self._server = _Server((self._address, self._port), self)
            self._port = self._server.server_address[1]
            threading.Thread(target=self._server.serve_forever,
                             kwargs={'poll_interval': 0.05},
                             daemon=True).start()

    def refuse(self):
        """Refuse connections and cut existing ones."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.cut()

    @contextlib.contextmanager
    def disturbed(self, rule):
        """Apply a rule for a while."""
        with self._lock:
            self._book.add(rule)
        try:
            yield
        finally:
            with self._lock:
                self._book.remove(rule)

    def hold(self, rule) -> Hold:
        """Hold the first request that matches a rule."""
        hold = Hold(rule)
        with self._lock:
            self._holds[rule] = hold
            self._book.add(rule)
        return hold

    def forget(self, hold):
        """Remove the rule of a hold; a held request is dropped."""
        hold.release(False)
        with self._lock:
            self._book.remove(hold.rule)
            self._holds.pop(hold.rule, None)

    @contextlib.contextmanager
    def gate(self):
        """Keep all requests waiting, until rules for them are made."""
        self._gate.clear()
        try:
            yield
        finally:
            self._gate.set()

    def take(self, method, target, body):
        """For a connection: the line of a request, its rule and hold."""
        self._gate.wait(LONGEST_HOLD)
        line = rules.line(method, target, body)
        with self._lock:
            rule = self._book.take(line)
            return line, rule, self._holds.get(rule)

    def pass_on(self, method, target, headers, body):
        """For a connection: the answer of the API server."""
        return self._upstream.request(
            method, self._access.server + target, body=body or None,
            headers=headers, redirect=False, timeout=_UPSTREAM,
            decode_content=False)

    def accept(self, connection):
        """For a connection: its TLS."""
        return self._tls.wrap_socket(connection, server_side=True)

    def _server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate, key = pki.pair(
            self._authority, 'driver-faults', [self._address])
        # OpenSSL only reads keys from files; this one is private and removed.
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + key)
            file.flush()
            context.load_cert_chain(file.name)
        context.load_verify_locations(cadata=self._ca)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


class _Server(http.server.ThreadingHTTPServer):

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address, proxy):
        self.proxy = proxy
        self._connections = set()
        super().__init__(address, _Handler)

    def begin(self, connection):
        self._connections.add(connection)

    def end(self, connection):
        self._connections.discard(connection)
        with contextlib.suppress(OSError):
            connection.close()

    def cut(self):
        """Cut all connections."""
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        """Ignore killed clients and cut connections."""


class _Handler(http.server.BaseHTTPRequestHandler):

    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def setup(self):
        # In the thread of the connection, which may block.
        self.request = self.server.proxy.accept(self.request)
        self.server.begin(self.request)
        super().setup()

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        self.server.end(self.request)

    def _any(self):
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        line, rule, hold = proxy.take(self.command, self.path, body)
        action = rule and rule.action
        if action is rules.Action.ANSWER:
            self._write(*rules.answer(rule, line))
            return
        if action is rules.Action.DELAY:
            threading.Event().wait(rule.seconds)
        if action is rules.Action.HOLD_REQUEST and not hold.keep():
            self.close_connection = True
            return
        try:
            found = proxy.pass_on(self.command, self.path, {
                k: v for k, v in self.headers.items()
                if k.lower() not in _OF_CONNECTION}, body)
        except urllib3.exceptions.HTTPError:
            # As if the API server itself had not answered.
            self.close_connection = True
            return
        if action is rules.Action.HOLD_ANSWER and not hold.keep():
            self.close_connection = True
            return
        self._write(found.status, {
            k: v for k, v in found.headers.items()
            if k.lower() not in _OF_CONNECTION}, found.data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

    def _write(self, status, headers, body):
        self.send_response_only(status)
        if not any(name.lower() == 'date' for name in headers):
            self.send_header('Date', email.utils.formatdate(usegmt=True))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Log nothing: there are thousands."""
