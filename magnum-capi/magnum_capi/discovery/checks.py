# SPDX-License-Identifier: Apache-2.0
"""Checks when a template is created or updated, or a cluster needs one."""

import collections.abc
import json
import logging
import re
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import images
from magnum_capi.discovery import magnum as magnum_
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import routes
from magnum_capi.discovery import stored as stored_

LOG = logging.getLogger(__name__)

#: Of WSGI.
Application = collections.abc.Callable[
    [dict[str, typing.Any], collections.abc.Callable[..., typing.Any]],
    collections.abc.Iterable[bytes]]
#: Of a JSON patch.
_Operation = dict[str, typing.Any]

#: Fields that a driver is chosen by.
_FIELDS = ('driver', 'image_id', 'cluster_distro', 'server_type', 'coe')
_REMOVE_DRIVER = '{"op": "remove", "path": "/driver"}'


class Exchange:
    """A request on its way through the filter; threads share nothing of it.

    :param request: its environment is changed when it is forwarded.
    :param body: its JSON, of the kind of its route. It is serialized again
        when forwarded, so that Magnum cannot read anything else into it.
    :param catalog: the current drivers.
    :param magnum: calls into Magnum as the user.
    :param app: Magnum's API behind the filter.
    :ivar decisions: texts for the log.
    :ivar by_name: a driver was chosen only because of its name.
    """

    def __init__(self, request: webob.Request, route: routes.Route,
                 body: typing.Any, catalog: model.Catalog,
                 magnum: magnum_.Magnum, app: Application) -> None:
        self.request = request
        self.route = route
        self.body = body
        self.catalog = catalog
        self.magnum = magnum
        self.decisions: list[str] = []
        self.by_name = False
        self._app = app

    @property
    def named(self) -> typing.Any:
        """The template, as the request names it."""
        if self.route.what == 'template update':
            return self.route.ident
        return self.body.get({
            'template create': 'name',
            'cluster create': 'cluster_template_id',
            'cluster upgrade': 'cluster_template'}[self.route.what])

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
        return self.request.get_response(self._app)


def create_cluster(exchange: Exchange) -> webob.Response:
    """POST /v1/clusters: the template's driver must be usable and selected.

    :returns: Magnum's response.
    :raises Refused: by the decision.
    """
    exchange.magnum.permit('cluster:create')
    ident = _named(exchange.body, 'cluster_template_id')
    try:
        template = exchange.magnum.template_to_create_with(ident)
    except answers.Refused as e:
        if e.status == 404 and model.is_uuid(ident):
            # No template can get this uuid in between, so Magnum may answer
            # itself, which depends on the microversion.
            return exchange.forward()
        raise
    _judge(exchange, stored_.check_create(template, exchange.catalog))
    exchange.body['cluster_template_id'] = template['uuid']
    return exchange.forward()


def upgrade_cluster(exchange: Exchange) -> webob.Response:
    """POST /v1/clusters/<ident>/actions/upgrade: the driver must stay.

    A driver that has been disabled continues to serve its clusters.

    :returns: Magnum's response.
    :raises Refused: the new template is for another driver.
    """
    cluster, current = exchange.magnum.cluster_to_upgrade(
        exchange.route.ident)
    new = exchange.magnum.template_to_upgrade_to(
        _named(exchange.body, 'cluster_template'))
    _judge(exchange, stored_.check_upgrade(current, new, exchange.catalog))
    exchange.body['cluster_template'] = new['uuid']
    return exchange.forward(cluster)


def _named(body: dict[str, typing.Any], field: str) -> str:
    """The template that a request names."""
    ident = routes.text(body.get(field))
    if ident is None:
        raise answers.Refused(
            400, f'Invalid input for field/attribute {field}. '
            'The uuid or name of a template is needed.')
    return ident


def _judge(exchange: Exchange, verdict: stored_.Verdict) -> None:
    for decision in verdict.decisions:
        exchange.noted(decision)
    if verdict.refusal:
        raise answers.Refused(400, f'{verdict.refusal} {verdict.remedy}')


def create_template(exchange: Exchange) -> webob.Response:
    """POST /v1/clustertemplates: decide, and make sure that it is stored.

    :returns: Magnum's response.
    :raises Refused: by the decision, or the template could not be stored as
        decided and was deleted.
    """
    exchange.magnum.permit('clustertemplate:create')
    body: dict[str, typing.Any] = exchange.body
    server_type = body.get('server_type', 'vm')
    coe, driver = body.get('coe'), body.get('driver')
    ident = routes.text(body.get('image_id'))
    if (ident is None or not isinstance(server_type, str)
            or not isinstance(coe, str)
            or not isinstance(driver, str | None) or driver == ''):
        return _undecided(exchange, 'The request is not complete')
    try:
        image = exchange.magnum.image(ident)
    except images.NotVisible as e:
        return _undecided(exchange, f'The image has just changed: {e.what}')
    decision = exchange.noted(resolve.resolve(
        model.Request(image.says, server_type, coe, driver),
        exchange.catalog))
    if decision.refusal:
        raise answers.Refused(400, str(decision.refusal))
    # A name could refer to another image when Magnum looks it up.
    body.update(driver=decision.driver, image_id=image.id)
    # Before 23, Magnum judges requests without one by the image's driver.
    if body.get('cluster_distro') is None:
        body['cluster_distro'] = decision.os
    answer = exchange.forward()
    if answer.status_int != 201:
        return answer
    template = _template(answer)
    try:
        return _as_decided(exchange, answer, template, decision)
    except answers.Refused as e:
        raise _undone(exchange, template, e) from e
    # After any error the template must go: it does not match the decision.
    except Exception as e:
        LOG.exception('A new template could not be changed as decided')
        raise _undone(exchange, template, answers.Refused(
            500, 'The template could not be changed as decided')) from e


def update_template(exchange: Exchange) -> webob.Response:
    """PATCH /v1/clustertemplates/<ident>: decide again if necessary.

    :returns: Magnum's response.
    :raises Refused: by the decision, or the request is ambiguous.
    """
    operations: list[_Operation] = exchange.body
    touching = [op for op in operations if _touches(op)]
    if not touching:
        return exchange.forward()
    stored = exchange.magnum.template_to_update(exchange.route.ident)
    wanted = {name: stored.get(name) for name in _FIELDS}
    for op in touching:
        wanted[op['path'][1:]] = op.get('value')
    image = _new_image(exchange, stored, touching, wanted)
    decision = _decided_again(exchange, wanted, image)
    if decision.refusal:
        hint = ''
        if routes.text(wanted['driver']) and not any(
                op['path'] == '/driver' for op in touching):
            hint = (' To have a driver chosen again, send the operation '
                    f'{_REMOVE_DRIVER} too.')
        raise answers.Refused(400, f'{decision.refusal}{hint}')
    if wanted['image_id'] == stored.get('image_id'):
        _compare_distro(exchange, stored, wanted, image)
    # Magnum would refuse to add a field that existed before its removal.
    kept = [op for op in operations
            if (op.get('op'), op['path']) != ('remove', '/driver')]
    before = dict(stored)
    before.update({op['path'][1:]: op['value'] for op in kept
                   if op in touching})
    decided = {'driver': decision.driver,
               'cluster_distro': decision.os}
    exchange.body = kept + [
        {'op': 'replace', 'path': f'/{name}', 'value': value}
        for name, value in decided.items() if before.get(name) != value]
    answer = exchange.forward(stored['uuid'])
    if answer.status_int == 200:
        after = _template(answer)
        if not _is(after, decision):
            raise answers.Refused(
                409, 'The template was changed by another request at the same '
                'time. Check it and repeat what is missing.')
    return answer


def _undecided(exchange: Exchange, why: str) -> webob.Response:
    """Let Magnum refuse a request without a decision, as it must."""
    answer = exchange.forward()
    if answer.status_int // 100 == 2:
        raise _undone(exchange, _template(answer), answers.Refused(
            409, f'{why}, so no driver could be chosen'))
    return answer


def _as_decided(exchange: Exchange, answer: webob.Response,
                template: dict[str, typing.Any],
                decision: model.Decision) -> webob.Response:
    if _is(template, decision):
        return answer
    # Magnum stores the distro of os_distro, and before 23 only the driver of
    # the image.
    made = template | {'driver': decision.driver,
                       'cluster_distro': decision.os}
    if not _is(made, decision):
        raise answers.Refused(
            500, 'Magnum stored a template that differs from the decision')
    exchange.magnum.set_decided(
        made['uuid'], made['driver'], made['cluster_distro'])
    answer.json_body = made
    return answer


def _undone(exchange: Exchange, template: magnum_.Stored,
            refused: answers.Refused) -> answers.Refused:
    """The refusal, with the fate of the new template."""
    uuid = template['uuid']
    try:
        exchange.magnum.delete_template(uuid)
    # Any failure leaves a template behind: the user must know which.
    except Exception:
        LOG.exception('Template %s, not as decided, could not be deleted',
                      model.shown(uuid))
        return answers.Refused(
            500, f'{refused.what}. The new template {uuid} could not be '
            'deleted again: do not use it, delete it.')
    return answers.Refused(
        refused.status, f'{refused.what}. The new template is deleted again.')


def _template(answer: webob.Response) -> dict[str, typing.Any]:
    try:
        found = answer.json
        if isinstance(found, dict) and isinstance(found.get('uuid'), str):
            return found
    except ValueError:
        pass
    raise answers.Refused(
        500, 'Magnum accepted the template, but its answer is not usable. '
        'Look for the template and delete it.')


def _is(template: magnum_.Stored, decision: model.Decision) -> bool:
    return (stored_.cluster_type(template) == decision.cluster_type
            and template.get('driver') == decision.driver)


def _touches(op: typing.Any) -> bool:
    """Whether an operation concerns a field that the driver depends on.

    :raises Refused: this is unclear, or Magnum has no such operation.
    """
    path = op.get('path') if isinstance(op, dict) else None
    if not isinstance(path, str):
        raise answers.Refused(
            400, 'The request has an operation without a path.')
    first = path.strip().strip('/').split('/')[0]
    name = re.sub('[^a-z_]', '', first.casefold())
    if name and name not in _FIELDS:
        return False
    value = op.get('value')
    usual = (path[1:] in _FIELDS and path[:1] == '/'
             and set(op) <= {'op', 'path', 'value'})
    if usual and op.get('op') in ('add', 'replace') and routes.text(value):
        return True
    if usual and op.get('op') == 'remove' and path == '/driver':
        op.pop('value', None)
        return True
    raise answers.Refused(
        400, f'The operation {model.shown(op.get("op"))} on '
        f'{model.shown(path)} is not possible like this. Only driver can be '
        'removed, and values are texts.')


def _new_image(exchange: Exchange, stored: magnum_.Stored,
               touching: list[_Operation],
               wanted: dict[str, typing.Any]) -> images.Image | None:
    """The new image of a template, None: it keeps the one that it has.

    Magnum gets the id, because a name could refer to another image by then.
    """
    if wanted['image_id'] == stored.get('image_id'):
        return None
    image = _image(exchange, wanted)
    wanted['image_id'] = image.id
    for op in touching:
        if op['path'] == '/image_id':
            op['value'] = image.id
    return image


def _decided_again(exchange: Exchange, wanted: magnum_.Stored,
                   image: images.Image | None) -> model.Decision:
    driver = routes.text(wanted['driver'])
    if driver and image is None:
        return exchange.noted(stored_.decided(wanted, exchange.catalog))
    image = image or _image(exchange, wanted)
    return exchange.noted(resolve.resolve(
        model.Request(image.says, wanted['server_type'], wanted['coe'],
                      driver), exchange.catalog))


def _compare_distro(exchange: Exchange, stored: magnum_.Stored,
                    wanted: magnum_.Stored,
                    image: images.Image | None) -> None:
    """Refuse a new distro that is not the image's."""
    distro = wanted['cluster_distro']
    if distro == stored.get('cluster_distro'):
        return
    said = (image or _image(exchange, wanted)).says
    says = said.magnum_distro or said.os_distro
    if distro != says:
        raise answers.Refused(
            400, f'The image {model.shown(wanted["image_id"])} of the '
            f'template says {model.shown(says)}, not {model.shown(distro)}. '
            f'Choose an image with {model.shown(distro)}; the template gets '
            'the distro of its image.')


def _image(exchange: Exchange,
           wanted: magnum_.Stored) -> images.Image:
    try:
        return exchange.magnum.image(wanted['image_id'])
    except images.NotVisible as e:
        raise answers.Refused(
            400, f'The image {model.shown(wanted["image_id"])} of the '
            f'template cannot be used. {e.what}.') from e
