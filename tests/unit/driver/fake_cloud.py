# SPDX-License-Identifier: Apache-2.0
"""A cloud on loopback, as far as the driver asks, for the real SDK."""

import json
from urllib import parse

import fixtures
from keystoneauth1 import session
from keystoneauth1 import token_endpoint

from magnum_capi.driver.cloud import services
from tests.unit import loopback


_VERSIONS = {
    'identity': 'v3', 'image': 'v2', 'compute': 'v2.1', 'network': 'v2.0',
    'block-storage': 'v3', 'load-balancer': 'v2',
}
_MICROVERSIONS = {'compute': ('2.1', '2.96'), 'block-storage': (
    '3.0', '3.71')}


class _Catalog(token_endpoint.Token):
    """Authentication without Keystone: a catalog, a token, no more."""

    def __init__(self, url, types):
        super().__init__(url, 'token')
        self._url = url
        self._types = types

    def get_endpoint(self, session, service_type=None, interface=None,
                     region_name=None, **kwargs):
        if service_type in self._types:
            return f'{self._url}/{service_type}/{interface}'
        return None


class FakeCloud(fixtures.Fixture):
    """``answers``: (status, body) by (method, path below the version).

    What is not scripted is 404. ``seen`` has (method, path, query, body);
    questions for versions are left out.
    """

    def __init__(self, types=('identity', 'image', 'compute', 'network',
                              'block-storage', 'load-balancer')):
        self.types = types
        self.answers = {}
        self.seen = []

    def _setUp(self):
        fixture = self

        class Handler(_Handler):
            cloud = fixture

        self.url = loopback.start(self, Handler)

    def session(self):
        return session.Session(auth=_Catalog(self.url, self.types))

    def services(self, timeout=60, **options):
        return services.Services(
            self.session, timeout=timeout, **options)

    def calls(self, *methods):
        return [(m, p) for m, p, *_ in self.seen if m in methods]


class _Handler(loopback.Handler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def _handle(self):
        url = parse.urlsplit(self.path)
        # /<service>/<interface>/<version>/...
        _, service, interface, *rest = url.path.rstrip('/').split('/')
        if not rest:
            return self.answer(200, {'versions': [{
                'id': _VERSIONS[service], 'status': 'CURRENT',
                'links': [{'rel': 'self', 'href':
                           f'{self.cloud.url}/{service}/{interface}/'
                           f'{_VERSIONS[service]}'}]}]})
        if service in _MICROVERSIONS and rest == [_VERSIONS[service]]:
            # They tell their microversions below their versions only.
            low, high = _MICROVERSIONS[service]
            return self.answer(200, {'versions': [{
                'id': _VERSIONS[service], 'status': 'CURRENT',
                'min_version': low, 'version': high, 'links': [{
                    'rel': 'self', 'href': f'{self.cloud.url}{url.path}'}]}]})
        path = '/' + '/'.join(rest[1:])
        body = json.loads(self.body() or 'null')
        self.cloud.seen.append(
            (self.command, path, dict(parse.parse_qsl(url.query)), body))
        status, answer = self.cloud.answers.get(
            (self.command, path), (404, {'error': {'message': 'no'}}))
        login = 'token' in (answer or {})
        self.answer(status, answer, **(
            {'X-Subject-Token': 'a-token'} if login else {}))

    do_GET = do_POST = do_DELETE = _handle
