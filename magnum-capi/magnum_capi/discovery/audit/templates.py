# SPDX-License-Identifier: Apache-2.0
"""Findings about existing cluster templates."""

import collections.abc

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import unmodified

_Drafts = collections.abc.Iterator[findings.Draft]

_CODES = {
    model.Kind.UNKNOWN: 'template-names-unknown',
    model.Kind.DISABLED: 'template-names-disabled',
    model.Kind.BETA: 'template-names-beta',
    model.Kind.BROKEN: 'template-names-broken',
    model.Kind.MISMATCH: 'template-names-mismatch',
    model.Kind.AMBIGUOUS: 'template-ambiguous',
    model.Kind.NOT_SUPPORTED: 'template-not-supported',
}
#: Magnum refuses to change templates that clusters use
#: (magnum/db/sqlalchemy/api.py).
_RENEW = ('Make a new template: this one cannot be changed while clusters use '
          'it')


def audit(catalog: model.Catalog, cloud: seen.Cloud) -> _Drafts:
    """Findings about templates."""
    magnum = unmodified.without_broken(catalog)
    for template in cloud.templates:
        decision = resolve.resolve_stored(
            template.cluster_type, template.driver, catalog)
        if decision.refusal:
            yield _refused(template, decision.refusal, magnum)
        if decision.driver:
            yield from _chosen(template, decision.driver, magnum)
        yield from _of_image(template, decision, cloud, catalog)


def _refused(template: seen.Template, refusal: model.Refusal,
             magnum: model.Catalog) -> findings.Draft:
    text = refusal.text
    answer = unmodified.create_cluster(magnum, template.cluster_type)
    if template.driver is None and answer.accepted:
        text += ('. The template names no driver, and an unmodified Magnum '
                 f'creates its clusters with {answer.driver}')
    elif not answer.accepted:
        text += ('. Clusters cannot be made, with or without the filter: '
                 f'{answer.text}')
    else:
        text += '. An unmodified Magnum accepts clusters of it all the same'
        if template.driver not in magnum.by_name:
            text += ', and they fail'
    return findings.Draft(_CODES[refusal.kind], str(template), text,
                          f'{findings.cure(refusal)}. {_RENEW}')


def _chosen(template: seen.Template, driver: str,
            magnum: model.Catalog) -> _Drafts:
    answer = unmodified.create_cluster(magnum, template.cluster_type)
    if not answer.accepted:
        yield findings.Draft(
            'template-blocked', str(template),
            f'Its driver {driver} provides {template.cluster_type}, but '
            f'Magnum refuses its clusters: {answer.text}',
            "See the finding 'beta-wins' about the type")
    stored = unmodified.get_driver(magnum, template.cluster_type,
                                   template.driver)
    if template.driver and stored.driver != driver:
        yield findings.Draft(
            'template-differs', str(template),
            f'Its driver is stored as {model.shown(template.driver)}, which '
            f'Magnum does not recognize as {driver}: {stored.text}', _RENEW)


def _of_image(template: seen.Template, decision: model.Decision,
              cloud: seen.Cloud, catalog: model.Catalog) -> _Drafts:
    image = cloud.image(template.image_id)
    if image is None:
        yield findings.Draft(
            'template-image-gone', str(template),
            f'Its image {model.shown(template.image_id)} is not there, or '
            + ('not the only one of this name' if cloud.everything
               else 'not visible to this user'),
            'Make a new template, or delete it')
        return
    if image.says.magnum_distro not in (None, template.cluster_distro):
        yield findings.Draft(
            'template-distro', str(template),
            f'Its cluster_distro is {model.shown(template.cluster_distro)}, '
            'but magnum_distro of its image is '
            f'{model.shown(image.says.magnum_distro)}',
            'Set cluster_distro of the template to magnum_distro. '
            + _RENEW)
        return
    wanted = resolve.resolve(
        model.Request(image.says, template.server_type, template.coe),
        catalog)
    if wanted.driver and decision.driver not in (None, wanted.driver):
        yield findings.Draft(
            'template-other-driver', str(template),
            f'It has the driver {decision.driver}; a new template of this '
            f'image would get {wanted.driver} unless it names one',
            'None needed if this was wanted')
