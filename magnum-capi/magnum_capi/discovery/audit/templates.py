# SPDX-License-Identifier: Apache-2.0
"""Findings about existing cluster templates."""

import collections.abc

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve

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
    for template in cloud.templates:
        decision = resolve.resolve_stored(
            template.cluster_type, template.driver, catalog)
        if decision.refusal:
            yield findings.Draft(
                _CODES[decision.refusal.kind], str(template),
                decision.refusal.text,
                f'{findings.cure(decision.refusal)}. {_RENEW}')
        yield from _of_image(template, decision, cloud, catalog)


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
