# SPDX-License-Identifier: Apache-2.0

"""The doors of a process: helm's standard input, and HTTP.

Whatever a driver is made of, it runs helm as a program, and requests
Kubernetes and OpenStack with urllib3, which ``requests`` uses, too. While a
thread has a :class:`Tap`, what passes there goes through it.
"""

import contextlib
import dataclasses
import io
import json
import pathlib
import subprocess
import threading
from urllib import parse

import urllib3

_running = threading.local()


@dataclasses.dataclass
class Request:
    """A request before it is sent; a hook may change it.

    :param url: path and query.
    :param body: bytes, text or None.
    """

    method: str
    url: str
    headers: dict
    body: object = None

    @property
    def path(self):
        return parse.urlsplit(self.url).path

    @property
    def json(self):
        """The decoded body, None if it is none."""
        return _decoded(self.body)

    @json.setter
    def json(self, value):
        self.body = json.dumps(value).encode()
        for name in self.headers:
            if name.lower() == 'content-length':
                self.headers[name] = str(len(self.body))


@dataclasses.dataclass
class Answer:
    """An answer; a hook may change it, or make one instead of sending."""

    status: int = 200
    content: bytes = b'{}'
    headers: dict = dataclasses.field(default_factory=dict)

    @property
    def json(self):
        return _decoded(self.content)

    @json.setter
    def json(self, value):
        self.content = json.dumps(value).encode()

    def response(self, preload):
        """As urllib3 returns it."""
        headers = {name: text for name, text in self.headers.items()
                   if name.lower() not in (
                       'content-length', 'content-encoding',
                       'transfer-encoding')}
        return urllib3.HTTPResponse(
            io.BytesIO(self.content), {
                **headers, 'Content-Length': str(len(self.content))},
            self.status, preload_content=preload)


def _decoded(text):
    try:
        return json.loads(text or b'')
    except ValueError:
        return None


class Tap:
    """Changes what passes; here nothing."""

    #: Whether it wants to know answers.
    listens = False

    def values(self, text):
        """Return other standard input for helm, JSON as well."""
        return text

    def sends(self, request):
        """Change a Request, or return an Answer instead of sending it."""

    def hears(self, request, answer):
        """Change the Answer to a Request; not that to a watch."""


@contextlib.contextmanager
def during(tap):
    """Have what this thread does go through a tap; None: through none."""
    before = current()
    _running.tap = tap
    try:
        yield tap
    finally:
        _running.tap = before


def current():
    """The Tap of this thread, or None."""
    return getattr(_running, 'tap', None)


#: By name of a release: the Tap for a thread without one.
of_release = {}


def _communicate(self, input=None, timeout=None):
    words = self.args if isinstance(self.args, (list, tuple)) else ()
    if input and any(pathlib.Path(str(word)).name == 'helm'
                     for word in words):
        tap = current() or next(
            (of_release[word] for word in words if word in of_release), None)
        if tap:
            with during(None):
                text = tap.values(input)
            input = text.encode() if isinstance(input, bytes) else text
    return _inherited_communicate(self, input, timeout)


_inherited_communicate = subprocess.Popen.communicate
subprocess.Popen.communicate = _communicate


def _urlopen(self, method, url, body=None, headers=None, *args, **kwargs):
    def send(request):
        return _inherited_urlopen(self, request.method, request.url,
                                  request.body, request.headers, *args,
                                  **kwargs)

    tap = current()
    request = Request(method, url, dict(headers or self.headers), body)
    if tap is None:
        return send(request)
    with during(None):
        return _exchange(tap, request, send,
                         kwargs.get('preload_content', True))


def _exchange(tap, request, send, preload):
    """Send a request through a tap, and return the response to it.

    :param send: function of a Request; returns the response.
    :param preload: whether its body is wanted at once.
    """
    answer = tap.sends(request)
    if answer is not None:
        return answer.response(preload)
    response = send(request)
    if not tap.listens or 'watch=' in request.url:
        return response
    content = response.data if preload else response.read(
        decode_content=True)
    response.release_conn()
    answer = Answer(response.status, content, dict(response.headers))
    tap.hears(request, answer)
    return answer.response(preload)


_inherited_urlopen = urllib3.HTTPConnectionPool.urlopen
urllib3.HTTPConnectionPool.urlopen = _urlopen
