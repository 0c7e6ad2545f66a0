# SPDX-License-Identifier: Apache-2.0

"""A Magnum that answers what a test tells it to, over real HTTP."""

import collections
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

        class Handler(loopback.Handler):

            def do_GET(self):
                body = self.body()
                fixture.requests.append(Request(
                    self.command, self.path, self.headers, _parsed(body),
                    body))
                status, body = (fixture.answers.pop(0)
                                if len(fixture.answers) > 1
                                else fixture.answers[0])
                self.answer(status, body, **fixture.headers)

            do_POST = do_PATCH = do_DELETE = do_GET

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
