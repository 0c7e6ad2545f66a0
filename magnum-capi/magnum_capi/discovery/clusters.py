# SPDX-License-Identifier: Apache-2.0
"""What is checked when a cluster is made, or gets another template."""

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import exchange as exchange_
from magnum_capi.discovery import guarded
from magnum_capi.discovery import inside
from magnum_capi.discovery import magnum23
from magnum_capi.discovery import model

_CURE = ('Use a template that names a driver. This one can be given one '
         '(update its field driver) as long as no cluster uses it.')


def create(exchange: exchange_.Exchange) -> webob.Response:
    """POST /v1/clusters: the template's driver must be usable, and its own.

    :returns: Magnum's answer.
    :raises Refused: by the decision.
    """
    ident = guarded.text(exchange.body.get('cluster_template_id'))
    if ident is None:
        raise answers.Refused(
            400, 'Invalid input for field/attribute cluster_template_id. '
            'The uuid or name of a template is needed.')
    try:
        template = exchange.stored(
            'clustertemplates', exchange_.path_part(ident))
    except exchange_.NotShown as e:
        if e.status == 404 and guarded.is_uuid(ident):
            # Nobody can make a template of this uuid between: Magnum's own
            # answer, which depends on the microversion.
            return exchange.forward()
        return e.answer
    _driver(exchange, template)
    exchange.body['cluster_template_id'] = template['uuid']
    return exchange.forward()


def upgrade(exchange: exchange_.Exchange) -> webob.Response:
    """POST /v1/clusters/<ident>/actions/upgrade: the driver must stay.

    A driver that was disabled meanwhile goes on serving its clusters.

    :returns: Magnum's answer.
    :raises Refused: the new template is another driver's.
    """
    ident = guarded.text(exchange.body.get('cluster_template'))
    if ident is None:
        raise answers.Refused(
            400, 'Invalid input for field/attribute cluster_template. '
            'The uuid or name of a template is needed.')
    cluster, current = exchange.served_cluster(exchange.route.ident)
    new = exchange.stored('clustertemplates', exchange_.path_part(ident))
    if new['uuid'] != current['uuid']:
        _check_same(exchange, current, new)
    exchange.body['cluster_template'] = new['uuid']
    return exchange.forward(cluster)


def _check_same(exchange: exchange_.Exchange, current: inside.Stored,
                new: inside.Stored) -> None:
    serving = _server(exchange, current)
    offered = guarded.text(new.get('driver'))
    if offered == serving:
        decision = exchange.resolved_stored(new)
        if (decision.refusal is None or decision.refusal.kind
                is not model.Kind.MISMATCH):
            return
        raise answers.Refused(400, str(decision.refusal))
    offered = _driver(exchange, new) if offered else _server(exchange, new)
    if offered != serving:
        raise answers.Refused(
            400, f'The cluster is served by the driver '
            f'{model.shown(serving)}, the template is for '
            f'{model.shown(offered)}. A living cluster cannot be given to '
            'another driver. Use a template with the driver of the cluster, '
            'or make a new cluster.')


def _server(exchange: exchange_.Exchange,
            template: inside.Stored) -> str | None:
    """The driver that serves a template's clusters, whatever is decided."""
    return (guarded.text(template.get('driver'))
            or _taken(exchange, template)
            or _driver(exchange, template))


def _taken(exchange: exchange_.Exchange,
           template: inside.Stored) -> str | None:
    """The driver that Magnum takes when a template names none.

    It looks at no default: the last provider that was loaded wins. None: it
    refuses.
    """
    return magnum23.get_driver(
        exchange.catalog, exchange_.cluster_type(template)).driver


def _driver(exchange: exchange_.Exchange,
            template: inside.Stored) -> str | None:
    """The one driver that a template's new clusters may have."""
    decision = exchange.resolved_stored(template)
    if decision.refusal:
        # What helps against ambiguity when a template is made is no help now.
        hint = ('' if decision.refusal.kind is model.Kind.AMBIGUOUS
                else f'{decision.refusal.hint} ')
        raise answers.Refused(
            400, f'{decision.refusal.text}, so that the template '
            f'{model.shown(template["uuid"])} cannot be used. {hint}{_CURE}')
    if guarded.text(template.get('driver')):
        return decision.driver
    taken = _taken(exchange, template)
    if taken not in (None, decision.driver):
        raise answers.Refused(
            400, f'The template {model.shown(template["uuid"])} names no '
            f'driver. By [drivers]default_driver it is for '
            f'{model.shown(decision.driver)}, but Magnum would take '
            f'{model.shown(taken)}, which was loaded last. {_CURE}')
    return decision.driver
