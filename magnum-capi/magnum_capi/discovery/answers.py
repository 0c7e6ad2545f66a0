# SPDX-License-Identifier: Apache-2.0
"""Responses of the filter, in the format of Magnum's own errors."""

import http
import json
import typing

import webob

from magnum_capi import errors

#: A user interface that forgets to escape must not render users' markup.
_MARKUP = str.maketrans({'<': r'\u003c', '>': r'\u003e', '&': r'\u0026'})


class Refused(errors.MagnumCapiError):
    """The filter responds instead of Magnum.

    :param status: HTTP status.
    :param detail: for the user: what is wrong and what to do.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def error(status: int, detail: str, request_id: str = '') -> webob.Response:
    """An error response like those of magnum.api.middleware.parsable_error.

    Magnum's title is the first sentence. Here it is all of the detail: the
    client prints nothing else (magnumclient/common/httpclient.py,
    _extract_error_json), and what to do comes last.
    """
    body: dict[str, list[dict[str, typing.Any]]] = {'errors': [{
        'request_id': request_id,
        'code': 'client' if status < 500 else 'server',
        'status': status,
        'title': detail.rstrip('.'),
        'detail': detail,
        'links': [],
    }]}
    return webob.Response(
        body=json.dumps(body).translate(_MARKUP).encode('ascii'),
        status=f'{status} {http.HTTPStatus(status).phrase}',
        content_type='application/json', charset=None)
