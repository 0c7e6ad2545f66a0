# SPDX-License-Identifier: Apache-2.0

"""What the tests of this room share: a release host and pins made small."""

import dataclasses
import hashlib
import http.server
import pathlib
import stat
import tempfile

import testtools

from magnum_capi import progress
from magnum_capi_tempest.toolchain import pins
from tests.unit.conformance import archives
from tests.unit import loopback


class Recorder(progress.Progress):
    """A progress that keeps its lines."""

    def __init__(self):
        super().__init__(patience=0.2)
        self.lines = []

    def info(self, text):
        self.lines.append(text)


class Host(http.server.ThreadingHTTPServer):
    """A release host on loopback.

    :ivar files: path -> content.
    :ivar status: answer every request with this code instead.
    :ivar break_after: close the connection after so many bytes, once per
        element.
    :ivar requests: path of each request.
    """

    def __init__(self):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.files = {}
        self.status = None
        self.break_after = []
        self.requests = []

    @property
    def url(self):
        return 'http://127.0.0.1:%d' % self.server_address[1]

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client that goes away is what some tests are about."""


class _Handler(loopback.Handler):

    def do_GET(self):
        host = self.server
        host.requests.append(self.path)
        body = host.files.get(self.path)
        status = host.status or (200 if body is not None else 404)
        if status != 200:
            body = b''
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if host.break_after:
            self.wfile.write(body[:host.break_after.pop(0)])
            self.close_connection = True
            return
        self.wfile.write(body)


class TestCase(testtools.TestCase):
    """Gives each test a folder, and no proxy from the environment."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.progress = Recorder()

    def host(self):
        host = Host()
        loopback.serve(self, host)
        return host


def script(path, text):
    """Write an executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{text}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


#: A program that prints its version: "tiny v1.2.3".
TINY = b'#!/bin/sh\necho tiny v1.2.3\n'


def archive(member, content):
    """A tar.gz with a member, and one more that nobody wants."""
    return archives.by_library({member: content, 'LICENSE': b'text'})


def release(url, content, member=None):
    """The pin of a release file."""
    return pins.Download(url, hashlib.sha256(content).hexdigest(), member)


def program(**ways):
    """The pin of "tiny"."""
    return pins.Program(
        'tiny', '1.2.3', pins.Statement((), r'^tiny v(\S+)$'), **ways)


def pinned(program):
    """Pins with that program only."""
    return dataclasses.replace(
        pins.load(), programs={program.name: program})
