# SPDX-License-Identifier: Apache-2.0
"""Checks when a cluster is created, or upgraded to another template."""

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import exchange as exchange_
from magnum_capi.discovery import guarded
from magnum_capi.discovery import model
from magnum_capi.discovery import stored


def create(exchange: exchange_.Exchange) -> webob.Response:
    """POST /v1/clusters: the template's driver must be usable and selected.

    :returns: Magnum's response.
    :raises Refused: by the decision.
    """
    ident = guarded.text(exchange.body.get('cluster_template_id'))
    if ident is None:
        raise answers.Refused(
            400, 'Invalid input for field/attribute cluster_template_id. '
            'The uuid or name of a template is needed.')
    try:
        template = exchange.template(exchange_.path_part(ident))
    except exchange_.NotShown as e:
        if e.status == 404 and model.is_uuid(ident):
            # No template can get this uuid in between, so Magnum may answer
            # itself, which depends on the microversion.
            return exchange.forward()
        return e.answer
    _judge(exchange, stored.check_create(template, exchange.catalog))
    exchange.body['cluster_template_id'] = template['uuid']
    return exchange.forward()


def upgrade(exchange: exchange_.Exchange) -> webob.Response:
    """POST /v1/clusters/<ident>/actions/upgrade: the driver must stay.

    A driver that has been disabled continues to serve its clusters.

    :returns: Magnum's response.
    :raises Refused: the new template is for another driver.
    """
    ident = guarded.text(exchange.body.get('cluster_template'))
    if ident is None:
        raise answers.Refused(
            400, 'Invalid input for field/attribute cluster_template. '
            'The uuid or name of a template is needed.')
    cluster, current = exchange.served_cluster(exchange.route.ident)
    new = exchange.template(exchange_.path_part(ident))
    _judge(exchange, stored.check_upgrade(current, new, exchange.catalog))
    exchange.body['cluster_template'] = new['uuid']
    return exchange.forward(cluster)


def _judge(exchange: exchange_.Exchange, verdict: stored.Verdict) -> None:
    for decision in verdict.decisions:
        exchange.noted(decision)
    if verdict.refusal:
        raise answers.Refused(400, verdict.refusal)
