# SPDX-License-Identifier: Apache-2.0
"""Glance's image API over loopback HTTP, scripted."""

import json
import urllib.parse

import fixtures

from tests.unit import loopback


class Glance(fixtures.Fixture):
    """Images for everybody, over kept connections.

    :param tls: folder of its certificate, if any.
    :ivar images: what it has.
    :ivar requests: (path with query, headers) in their order.
    :ivar answer: (status, headers, body) instead of images; None: images. A
        callable is called with the path.
    """

    def __init__(self, tls=None):
        super().__init__()
        self._tls = tls

    def _setUp(self):
        self.images = []
        self.requests = []
        self.answer = None
        glance = self

        class Handler(loopback.Handler):
            protocol_version = 'HTTP/1.1'
            # Or each small answer waits for an acknowledgement.
            disable_nagle_algorithm = True

            def do_GET(self):
                glance.requests.append((self.path, dict(self.headers)))
                answer = glance.answer
                if callable(answer):
                    answer = answer(self.path)
                status, headers, body = answer or glance._found(self.path)
                if status is None:
                    self.close_connection = True
                    return
                self.answer(status, body, **headers)

        self.url = loopback.start(self, Handler, self._tls)

    def _found(self, path):
        url = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(url.query))
        ident = url.path.removeprefix('/v2/images').strip('/')
        if ident:
            found = [i for i in self.images if i['id'] == ident]
            return as_json(found[0]) if found else (404, {}, b'404 Not Found')
        hidden = query.get('os_hidden') == 'true'
        return as_json({'images': [
            i for i in self.images if i['name'] == query['name']
            and i.get('os_hidden', False) == hidden]})


def as_json(found, status=200):
    return status, {'Content-Type': 'application/json'}, json.dumps(
        found).encode()
