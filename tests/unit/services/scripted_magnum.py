# SPDX-License-Identifier: Apache-2.0

"""A Magnum that answers what a test tells it to, over real HTTP."""

import collections
import http.server
import json

import fixtures

from magnum_capi_tempest import services
from tests.unit import loopback

Request = collections.namedtuple('Request', 'method path headers body raw')


class ScriptedMagnum(fixtures.Fixture):
    """Listens on loopback; ``answers`` are given in turn, the last for ever.

    ``answers``: list of (status, JSON body). ``requests``: list of Request.
    ``headers``: dict of more headers of all answers.
    """

    def _setUp(self):
        self.answers = []
        self.requests = []
        self.headers = {}
        self.url = loopback.start(self, self._handler()) + '/v1'

    def client(self, name, **kwargs):
        """Return one of our clients that talks to this Magnum."""
        return getattr(services, name)(
            auth_provider=_Auth(self.url), service='container-infra',
            region='here', **kwargs)

    def _handler(self):
        fixture = self

        class Handler(http.server.BaseHTTPRequestHandler):

            def answer(self):
                size = int(self.headers.get('Content-Length') or 0)
                body = self.rfile.read(size)
                fixture.requests.append(Request(
                    self.command, self.path, self.headers, _parsed(body),
                    body))
                status, body = (fixture.answers.pop(0)
                                if len(fixture.answers) > 1
                                else fixture.answers[0])
                data = b'' if status == 204 else json.dumps(body).encode()
                self.send_response(status)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(data)))
                for header in fixture.headers.items():
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *args):
                pass

        return Handler


def _parsed(body):
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


class _Auth:
    """The part of tempest's auth providers that a RestClient uses."""

    def __init__(self, url):
        self._url = url

    def base_url(self, filters, auth_data=None):
        return self._url

    def auth_request(self, method, url, headers=None, body=None,
                     filters=None):
        return f'{self._url}/{url}', dict(headers, **{
            'X-Auth-Token': 'token'}), body
