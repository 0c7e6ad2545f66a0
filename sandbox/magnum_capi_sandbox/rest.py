# SPDX-License-Identifier: Apache-2.0
"""Plain requests to a sandbox's services, as one of its users.

For tests that need the raw behaviour: status codes, refusals, no answer. For
everything else use a client library.
"""

import typing

import requests

from magnum_capi_sandbox import layout as layouts


class User:
    """A user of a sandbox with a token for the project of the same name.

    :param layout: where the sandbox is.
    :param password: of the user.
    :param name: ``demo`` (role member) or ``admin``.
    :ivar id: of the user.
    :raises requests.RequestException: Keystone gave no token.
    """

    def __init__(self, layout: layouts.Layout, password: str,
                 name: str = 'demo', timeout: float = 60) -> None:
        self._layout = layout
        self._timeout = timeout
        self._session = requests.Session()
        # The user's proxies and certificates are not for loopback.
        self._session.trust_env = False
        if layout.authority:
            self._session.verify = str(layout.authority)
        # The service may close a kept connection while the next request is
        # on its way; requests here must not be sent twice.
        self._session.headers['Connection'] = 'close'
        who = {'name': name, 'domain': {'id': 'default'}}
        answer = self.request('identity', 'POST', 'auth/tokens', {'auth': {
            'identity': {'methods': ['password'], 'password': {
                'user': who | {'password': password}}},
            'scope': {'project': who}}})
        answer.raise_for_status()
        self._session.headers['X-Auth-Token'] = \
            answer.headers['X-Subject-Token']
        self.id = answer.json()['token']['user']['id']

    def request(
            self, kind: str, method: str, path: str, body: typing.Any = None,
            timeout: float | None = None) -> requests.Response:
        """Send one request.

        :param kind: service type, ``container-infra``.
        :param path: below the service's endpoint.
        :param body: sent as JSON.
        :returns: the ``requests.Response``, whatever its status.
        :raises requests.RequestException: there was no answer.
        """
        # Cinder answers 400 to another service's version.
        headers = {'OpenStack-API-Version': 'container-infra latest'} \
            if kind == 'container-infra' else {}
        return self._session.request(
            method, f'{self._layout.url(kind)}/{path}', json=body,
            headers=headers, timeout=timeout or self._timeout)
