# SPDX-License-Identifier: Apache-2.0
"""A TLS server with a CA of its own, also for client certificates."""

import base64
import datetime
import http.server
import ipaddress
import os
import ssl

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives import serialization
from cryptography import x509
from cryptography.x509.oid import NameOID
import fixtures

from tests.unit import loopback


class TlsServer(fixtures.Fixture):
    """Answers ``{}`` to a client with a certificate of its CA.

    ``ca`` and ``certificate`` are PEM text, ``key`` too: one key for all.

    :param name: what the server's certificate is for, an address by default.
    :param handler: what answers instead, and to anybody.
    :param signed: whether the CA has a certificate of its own, and neither has
        a key identifier.
    """

    def __init__(self, name=None, handler=None, signed=False):
        self._name, self._handler, self._signed = name, handler, signed

    def _setUp(self):
        key = ec.generate_private_key(ec.SECP256R1())
        self._key = key
        self.key = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()).decode()
        self.ca = self.certificate = self._certificate('ca', True)
        if self._signed:
            self.certificate = self._certificate('server', False)
        path = os.path.join(self.useFixture(fixtures.TempDir()).path, 'pem')
        with open(path, 'w') as f:
            f.write(self.key + self.certificate)
        server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), self._handler or _Answers)
        server.daemon_threads = True
        # A refused handshake is what tests want, not news for the terminal.
        server.handle_error = lambda *args: None
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cadata=self.ca)
        context.verify_mode = (
            ssl.CERT_NONE if self._handler else ssl.CERT_REQUIRED)
        # API servers are not as strict as Python 3.13.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.load_cert_chain(path)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f'https://127.0.0.1:{server.server_port}'
        loopback.serve(self, server)

    def _certificate(self, subject, is_ca):
        subject, issuer = (
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
            for name in (subject, 'ca'))
        now = datetime.datetime.now(datetime.timezone.utc)
        day = datetime.timedelta(days=1)
        alternative = (
            x509.DNSName(self._name) if self._name
            else x509.IPAddress(ipaddress.ip_address('127.0.0.1')))
        return x509.CertificateBuilder(
            issuer, subject, self._key.public_key(),
            x509.random_serial_number(), now - day, now + day,
        ).add_extension(
            x509.BasicConstraints(is_ca, None), True,
        ).add_extension(
            x509.SubjectAlternativeName([alternative]), False,
        ).sign(self._key, hashes.SHA256()).public_bytes(
            serialization.Encoding.PEM).decode()


class _Answers(loopback.Handler):

    def do_GET(self):
        self.answer(200, {})


def data(pem):
    """PEM as a kubeconfig embeds it."""
    return base64.b64encode(pem.encode()).decode()
