# SPDX-License-Identifier: Apache-2.0
"""Which requests the filter checks, and the form that they must have.

Magnum's API is more lenient than its documentation: pecan takes another
method from a parameter ``_method``, and tries any method name as the name of
a function; WSME reads objects from query, form, XML and ``__body__``; actions
are found with the cluster's name in another place. Checking only one spelling
would be useless, so requests that may change clusters or templates pass only
in the documented spellings.
"""

import dataclasses
import json
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import model

#: Bytes of a checked request; normal ones have a few kilobytes.
MAX_SIZE = 1 << 20

_TEMPLATES = 'clustertemplates'
_CLUSTERS = 'clusters'
_HARMLESS = ('GET', 'HEAD', 'OPTIONS', 'DELETE')
#: Resources that may be followed by the name of a cluster, any name.
_OTHERS = frozenset(('certificates', 'credentials', 'federations', 'quotas',
                     'stats', 'mservices'))
_FORMS = ('application/x-www-form-urlencoded', 'multipart/')
_JSON = 'application/json'

#: Type of the JSON of a request.
Kind = type[dict[str, typing.Any]] | type[list[typing.Any]]


@dataclasses.dataclass(frozen=True)
class Route:
    """A request that the filter checks.

    :param what: ``template create``, ``template update``, ``cluster create``
        or ``cluster upgrade``.
    :param ident: uuid or name of the template or cluster in the path; empty
        for a create.
    """

    what: str
    ident: str = ''
    kind: Kind = dict


def route(request: webob.Request) -> Route | None:
    """The route of a request; None: it passes unchecked.

    :raises Refused: it is not spelled as documented.
    """
    # Magnum defaults to v1, and ignores most empty parts.
    parts = [part for part in request.environ.get('PATH_INFO', '').split('/')
             if part]
    if parts[:1] == ['v1']:
        del parts[0]
    if _TEMPLATES not in parts and _CLUSTERS not in parts:
        return None
    _refuse_overrides(request)
    method = request.environ['REQUEST_METHOD']
    if method in _HARMLESS:
        return None
    if method not in ('POST', 'PATCH'):
        raise answers.Refused(
            405, f'The method {model.shown(method)} is not allowed here.')
    if len(parts) <= 3 and parts[0] in _OTHERS:
        return None
    found: Route | None
    match method, *parts:
        case 'POST', 'clustertemplates':
            found = Route('template create')
        case 'PATCH', 'clustertemplates', ident:
            found = Route('template update', _text(ident), list)
        case 'POST', 'clusters':
            found = Route('cluster create')
        case 'POST', 'clusters', ident, 'actions', 'upgrade':
            found = Route('cluster upgrade', _text(ident))
        case (
            ['POST', 'clusters', _, 'actions', 'resize']
            | ['POST', 'clusters', _, 'nodegroups']
            | ['PATCH', 'clusters', _]
            | ['PATCH', 'clusters', _, 'nodegroups', _]
        ):
            found = None
        case _:
            raise _unknown()
    if _content_type(request) != _JSON:
        raise answers.Refused(
            415, f'The Content-Type of the request must be {_JSON}.')
    return found


def body(request: webob.Request,
         kind: Kind) -> dict[str, typing.Any] | list[typing.Any]:
    """The JSON of a request.

    :raises Refused: it is not JSON, or not the object or list expected.
    """
    if request.query_string:
        raise answers.Refused(
            400, 'This request takes no query parameters.')
    try:
        raw = (request.body_file.read(MAX_SIZE + 1)
               if request.is_body_readable else b'')
        if len(raw) > MAX_SIZE:
            raise answers.Refused(
                413, f'The request is longer than {MAX_SIZE} bytes.')
        found = json.loads(raw.decode('utf-8'))
    except (OSError, RecursionError, ValueError) as e:
        raise answers.Refused(
            400, 'Request is not in valid JSON format.') from e
    if not isinstance(found, kind):
        raise answers.Refused(
            400, 'The request must be a JSON '
            f'{"object" if kind is dict else "list"}.')
    return found


def text(value: typing.Any) -> str | None:
    """A value if it is a text that is not blank, else None."""
    return value if isinstance(value, str) and value.strip() else None


def _text(ident: str) -> str:
    """An identifier in a path, which WSGI has as bytes in latin-1."""
    try:
        return ident.encode('latin-1').decode('utf-8')
    except UnicodeError as e:
        raise _unknown() from e


def _unknown() -> answers.Refused:
    return answers.Refused(404, 'The resource could not be found.')


def _refuse_overrides(request: webob.Request) -> None:
    try:
        override = '_method' in request.GET
    except ValueError as e:
        raise answers.Refused(
            400, 'The query of the request is not UTF-8.') from e
    if override:
        raise answers.Refused(
            400, 'The parameter _method is not allowed here.')
    if _content_type(request).startswith(_FORMS):
        raise answers.Refused(
            415, f'The Content-Type of the request must be {_JSON}.')


def _content_type(request: webob.Request) -> str:
    header: str = request.environ.get('CONTENT_TYPE', '')
    return header.split(';')[0].strip().lower()
