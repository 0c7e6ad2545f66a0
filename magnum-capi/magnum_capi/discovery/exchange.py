# SPDX-License-Identifier: Apache-2.0
"""One request on its way through the filter, and the time that it takes.

An exchange lives as long as its request; threads share nothing of it.
"""

import collections.abc
import io
import json
import time
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import guarded
from magnum_capi.discovery import images
from magnum_capi.discovery import inside as inside_
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import stored

#: About the body, or set by libraries that read the first request.
_NOT_INHERITED = ('webob.', 'pecan.', 'HTTP_IF_', 'HTTP_ACCEPT_ENCODING',
                  'HTTP_TRANSFER_ENCODING', 'HTTP_CONTENT_', 'HTTP_RANGE')

#: Of WSGI.
Application = collections.abc.Callable[
    [dict[str, typing.Any], collections.abc.Callable[..., typing.Any]],
    collections.abc.Iterable[bytes]]
_Found = typing.TypeVar('_Found')
_Args = typing.ParamSpec('_Args')


class Exchange:
    """A request that the filter checks.

    :param request: its environment is changed when it is forwarded.
    :param body: its JSON, of the kind of its route. It is serialized again
        when forwarded, so that Magnum cannot read anything else into it.
    :param catalog: the current drivers.
    :param app: Magnum's API behind the filter.
    :ivar decisions: texts for the log.
    :ivar by_name: a driver was chosen only because of its name.
    """

    def __init__(self, request: webob.Request, route: guarded.Route,
                 body: typing.Any, catalog: model.Catalog, app: Application,
                 reader: images.Reader, inside: inside_.Inside) -> None:
        self.request = request
        self.route = route
        self.body = body
        self.catalog = catalog
        self.decisions: list[str] = []
        self.by_name = False
        self.glance = 0.0
        self._app = app
        self._reader = reader
        self._inside = inside
        self._magnum = 0.0
        self._start = time.perf_counter()

    @property
    def named(self) -> typing.Any:
        """The template, as the request names it."""
        if self.route.what == 'template update':
            return self.route.ident
        return self.body.get({
            'template create': 'name',
            'cluster create': 'cluster_template_id',
            'cluster upgrade': 'cluster_template'}[self.route.what])

    @property
    def filter_seconds(self) -> float:
        """Seconds that the filter itself has taken so far."""
        return (time.perf_counter() - self._start - self.glance
                - self._magnum)

    def image(self, ident: str) -> images.Image:
        """See :meth:`.images.Reader.read`."""
        start = time.perf_counter()
        try:
            return self._reader.read(ident, self.request.environ)
        finally:
            self.glance += time.perf_counter() - start

    def resolved(self, request: model.Request) -> model.Decision:
        """Decide with the image, and keep the decision for the log."""
        return self.noted(resolve.resolve(request, self.catalog))

    def resolved_stored(self, template: inside_.Stored) -> model.Decision:
        """Decide for a template as Magnum shows it, without its image."""
        return self.noted(stored.decided(template, self.catalog))

    def noted(self, decision: model.Decision) -> model.Decision:
        """Keep a decision for the log."""
        reasons = '; '.join(reason.text for reason in decision.reasons)
        result = (f'driver {model.shown(decision.driver)}'
                  if decision.refusal is None
                  else f'refused, {decision.refusal.kind.value}')
        self.decisions.append(f'{result} ({reasons})')
        self.by_name |= decision.by_name
        return decision

    def forward(self, ident: str | None = None) -> webob.Response:
        """Magnum's response to the request.

        :param ident: uuid that replaces a name in the path: the name may
            belong to another object by the time it is used.
        """
        environ = self.request.environ
        for key in ('HTTP_TRANSFER_ENCODING', 'wsgi.input_terminated'):
            environ.pop(key, None)
        if ident is not None:
            environ['PATH_INFO'] = {
                'template update': f'/v1/clustertemplates/{ident}',
                'cluster upgrade': f'/v1/clusters/{ident}/actions/upgrade',
            }[self.route.what]
        environ['CONTENT_TYPE'] = 'application/json'
        self.request.body = json.dumps(self.body).encode('ascii')
        return self._called(self.request)

    def _ask(self, path: str) -> webob.Response:
        """Magnum's response to a GET that the filter makes as the user."""
        environ = {
            key: value for key, value in self.request.environ.items()
            if not key.startswith(_NOT_INHERITED)}
        environ.update({
            'REQUEST_METHOD': 'GET', 'PATH_INFO': f'/v1/{path}',
            'QUERY_STRING': '', 'HTTP_ACCEPT': 'application/json',
            'CONTENT_TYPE': 'application/json',
            'CONTENT_LENGTH': '0', 'wsgi.input': io.BytesIO(),
        })
        environ.pop('wsgi.input_terminated', None)
        return self._called(webob.Request(environ))

    def template(self, ident: str) -> inside_.Stored:
        """A template as Magnum shows it.

        :param ident: as WSGI has it.
        :raises NotShown: Magnum refuses; has its response.
        """
        if '/' in ident:
            raise answers.Refused(
                400, f'{model.shown(ident)} cannot be looked up. Use the '
                'uuid instead of the name.')
        answer = self._ask(f'clustertemplates/{ident}')
        if answer.status_int != 200:
            raise NotShown(answer)
        found = answer.json
        # A name such as "detail" is another request to Magnum.
        if not isinstance(found, dict) or not isinstance(
                found.get('uuid'), str):
            raise answers.Refused(
                400, f'{model.shown(ident)} cannot be looked up. Use the '
                'uuid instead of the name.')
        return found

    def served_cluster(self, ident: str) -> tuple[str, inside_.Stored]:
        """See :meth:`.Inside.served_cluster`."""
        return self._in_magnum(
            self._inside.served_cluster, ident, self.request.environ)

    def set_decided(self, uuid: str, driver: str, distro: str) -> None:
        """See :meth:`.Inside.set_decided`."""
        self._in_magnum(self._inside.set_decided, uuid, driver, distro)

    def delete_template(self, uuid: str) -> None:
        """See :meth:`.Inside.delete_template`."""
        self._in_magnum(self._inside.delete_template, uuid)

    def _called(self, request: webob.Request) -> webob.Response:
        return self._in_magnum(request.get_response, self._app)

    def _in_magnum(self, function: collections.abc.Callable[_Args, _Found],
                   *args: _Args.args, **kwargs: _Args.kwargs) -> _Found:
        """Call Magnum's own code, and count its time as Magnum's."""
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            self._magnum += time.perf_counter() - start


class NotShown(answers.Refused):
    """Magnum does not show an object.

    :param answer: Magnum's response, which says why.
    """

    def __init__(self, answer: webob.Response) -> None:
        super().__init__(answer.status_int, answers.said(answer))
        self.answer = answer


def path_part(name: str) -> str:
    """A name from a body in the form that WSGI gives paths.

    :raises Refused: no path can contain it.
    """
    try:
        return name.encode('utf-8').decode('latin-1')
    except UnicodeEncodeError as e:
        raise answers.Refused(
            400, f'{model.shown(name)} is not a valid name.') from e
