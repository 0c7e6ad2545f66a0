# SPDX-License-Identifier: Apache-2.0
"""Checks when a cluster template is created or updated."""

import logging
import re
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import exchange as exchange_
from magnum_capi.discovery import guarded
from magnum_capi.discovery import images
from magnum_capi.discovery import inside
from magnum_capi.discovery import model
from magnum_capi.discovery import stored as stored_

LOG = logging.getLogger(__name__)

#: Fields that a driver is chosen by.
_FIELDS = ('driver', 'image_id', 'cluster_distro', 'server_type', 'coe')
#: Of a JSON patch.
_Operation = dict[str, typing.Any]
_REMOVE_DRIVER = '{"op": "remove", "path": "/driver"}'


def create(exchange: exchange_.Exchange) -> webob.Response:
    """POST /v1/clustertemplates: decide, and make sure that it is stored.

    :returns: Magnum's response.
    :raises Refused: by the decision, or the template could not be stored as
        decided and was deleted.
    """
    body: dict[str, typing.Any] = exchange.body
    server_type = body.get('server_type', 'vm')
    coe, driver = body.get('coe'), body.get('driver')
    ident = guarded.text(body.get('image_id'))
    if (ident is None or not isinstance(server_type, str)
            or not isinstance(coe, str)
            or not isinstance(driver, str | None) or driver == ''):
        return _undecided(exchange, 'The request is not complete')
    try:
        image = exchange.image(ident)
    except images.NotVisible as e:
        return _undecided(exchange, f'The image has just changed: {e.what}')
    decision = exchange.resolved(
        model.Request(image.says, server_type, coe, driver))
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


def update(exchange: exchange_.Exchange) -> webob.Response:
    """PATCH /v1/clustertemplates/<ident>: decide again if necessary.

    :returns: Magnum's response, possibly to the GET of the template.
    :raises Refused: by the decision, or the request is ambiguous.
    """
    operations: list[_Operation] = exchange.body
    touching = [op for op in operations if _touches(op)]
    if not touching:
        return exchange.forward()
    stored = exchange.template(exchange.route.ident)
    wanted = {name: stored.get(name) for name in _FIELDS}
    for op in touching:
        wanted[op['path'][1:]] = op.get('value')
    image = _new_image(exchange, stored, touching, wanted)
    decision = _decided_again(exchange, wanted, image)
    if decision.refusal:
        hint = ''
        if guarded.text(wanted['driver']) and not any(
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


def _undecided(exchange: exchange_.Exchange, why: str) -> webob.Response:
    """Let Magnum refuse a request without a decision, as it must."""
    answer = exchange.forward()
    if answer.status_int // 100 == 2:
        raise _undone(exchange, _template(answer), answers.Refused(
            409, f'{why}, so no driver could be chosen'))
    return answer


def _as_decided(exchange: exchange_.Exchange, answer: webob.Response,
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
    exchange.set_decided(
        made['uuid'], made['driver'], made['cluster_distro'])
    answer.json_body = made
    return answer


def _undone(exchange: exchange_.Exchange, template: inside.Stored,
            refused: answers.Refused) -> answers.Refused:
    """The refusal, with the fate of the new template."""
    uuid = template['uuid']
    try:
        exchange.delete_template(uuid)
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


def _is(template: inside.Stored, decision: model.Decision) -> bool:
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
    if usual and op.get('op') in ('add', 'replace') and guarded.text(value):
        return True
    if usual and op.get('op') == 'remove' and path == '/driver':
        op.pop('value', None)
        return True
    raise answers.Refused(
        400, f'The operation {model.shown(op.get("op"))} on '
        f'{model.shown(path)} is not possible like this. Only driver can be '
        'removed, and values are texts.')


def _new_image(exchange: exchange_.Exchange, stored: inside.Stored,
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


def _decided_again(exchange: exchange_.Exchange, wanted: inside.Stored,
                   image: images.Image | None) -> model.Decision:
    driver = guarded.text(wanted['driver'])
    if driver and image is None:
        return exchange.resolved_stored(wanted)
    image = image or _image(exchange, wanted)
    return exchange.resolved(model.Request(
        image.says, wanted['server_type'], wanted['coe'], driver))


def _compare_distro(exchange: exchange_.Exchange, stored: inside.Stored,
                    wanted: inside.Stored,
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


def _image(exchange: exchange_.Exchange,
           wanted: inside.Stored) -> images.Image:
    try:
        return exchange.image(wanted['image_id'])
    except images.NotVisible as e:
        raise answers.Refused(
            400, f'The image {model.shown(wanted["image_id"])} of the '
            f'template cannot be used. {e.what}.') from e
