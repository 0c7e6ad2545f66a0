# SPDX-License-Identifier: Apache-2.0

"""The base of Magnum's clients: JSON, microversion, success codes."""

import collections.abc
import json
import typing
from urllib import parse

from tempest.lib.common import rest_client

from magnum_capi_tempest import json_types
from magnum_capi_tempest.services import journal as journals

#: A body as Magnum answers it: a dict that also has the HTTP response.
Body: typing.TypeAlias = rest_client.ResponseBody

#: A JSON patch: operations such as
#: ``{'op': 'replace', 'path': '/node_count', 'value': 2}``.
Patch: typing.TypeAlias = collections.abc.Sequence[json_types.Object]

_Headers: typing.TypeAlias = collections.abc.Mapping[str, str]

#: Header and service type of Magnum's microversions: magnum 23.0.0,
#: magnum/api/controllers/versions.py, class Version.
MICROVERSION_HEADER = 'OpenStack-API-Version'
MICROVERSION_SERVICE = 'container-infra'
MAX_MICROVERSION_HEADER = 'openstack-api-maximum-version'


def quote(ident: object) -> str:
    """Return a name or id as one segment of a URL path."""
    return parse.quote(str(ident), safe='')


#: Parameters of a list whose first page has what was made last. A list of all
#: projects, or with public templates, may be longer than a page, which is of
#: 1,000 things at most (magnum, conf/api.py, max_limit).
NEWEST_FIRST = {'sort_dir': 'desc'}


class MagnumClient(rest_client.RestClient):
    """One resource of Magnum's API v1.

    :param microversion: of all requests, for example "1.9"; None sends no
        header, which means Magnum's lowest one. Each method of the subclasses
        accepts another one for its request.
    """

    def __init__(self, auth_provider: typing.Any,
                 microversion: str | None = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(auth_provider, **kwargs)
        self.microversion = microversion
        #: Records the requests, if set.
        self.journal: journals.Journal | None = None

    def raw_request(
            self, url: str, method: str, headers: _Headers | None = None,
            body: str | bytes | None = None, **kwargs: typing.Any
    ) -> tuple[typing.Any, str | bytes]:
        response, text = super().raw_request(
            url, method, headers=headers, body=body, **kwargs)
        if self.journal is not None:
            self.journal.add(
                method, parse.urlsplit(url).path, response.status, response,
                body, text if method == 'POST' else '')
        return response, text

    def get_headers(self, accept_type: str | None = None,
                    send_type: str | None = None) -> dict[str, str]:
        headers: dict[str, str] = super().get_headers(accept_type, send_type)
        if self.microversion:
            headers.update(self._version(self.microversion))
        return headers

    @staticmethod
    def _version(microversion: str) -> dict[str, str]:
        return {MICROVERSION_HEADER: f'{MICROVERSION_SERVICE} {microversion}'}

    def call(self, method: str, url: str, expected: int, body: object = None,
             microversion: str | None = None,
             params: json_types.Object | None = None) -> Body:
        """Send a request and return what came back.

        :param expected: HTTP status code of success.
        :param body: what to send as JSON, if anything.
        :param params: of the query string; lists repeat their key.
        :raises tempest.lib.exceptions.RestClientException: it was refused.
        """
        answer = self.send_text(
            method, url, None if body is None else json.dumps(body),
            microversion=microversion, params=params)
        self.expected_success(expected, answer.response.status)
        return answer

    def send_text(self, method: str, url: str, text: str | bytes | None,
                  microversion: str | None = None,
                  params: json_types.Object | None = None,
                  headers: _Headers | None = None) -> Body:
        """Send a request with any body, for requests that must be refused.

        :param text: the body; None sends none.
        :param headers: additional or replaced headers.
        :returns: the answer, whatever the success status.
        :raises tempest.lib.exceptions.RestClientException: it was refused.
        """
        if params:
            url += '?' + parse.urlencode(params, doseq=True)
        sent = self.get_headers()
        if microversion:
            sent.update(self._version(microversion))
        sent.update(headers or {})
        response, answer = self.request(method, url, headers=sent, body=text)
        return rest_client.ResponseBody(
            response, json.loads(answer) if answer else {})
