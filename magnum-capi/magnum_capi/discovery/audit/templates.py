# SPDX-License-Identifier: Apache-2.0
"""Findings about existing cluster templates, and clusters of them."""

import collections.abc
import re

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import unmodified

_Drafts = collections.abc.Iterator[findings.Draft]

#: Magnum refuses to change templates that clusters use
#: (magnum/db/sqlalchemy/api.py).
_RENEW = ('Make a new template: this one cannot be changed while clusters use '
          'it')

# How the API and conductor of 23.0.0 treat what is left was measured in
# tests/system/discovery/test_stranded.py.
_CLUSTER = (
    'It stays in lists, in its last state. A resize is answered with 202 and '
    'a delete with 204, but neither is carried out; a new node group makes it '
    'UPDATE_FAILED. Nothing polls it, so its status and health no longer '
    'change')
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')

#: Drivers whose clusters another one adopts.
_HEIRS = {'k8s_capi_helm_v1': 'k8s_capi_v1'}

_TEMPLATE = ('It stays in lists, new clusters of it are refused, and it can '
             'be deleted when no cluster uses it')


def audit(catalog: model.Catalog, cloud: seen.Cloud) -> _Drafts:
    """Findings about templates."""
    for template in cloud.templates:
        refusal = resolve.resolve_stored(
            template.cluster_type, template.driver, catalog).refusal
        if refusal:
            yield findings.refused('template', str(template), refusal, _RENEW)
        image = cloud.image(template.image_id)
        if image is None:
            yield findings.Draft(
                'template-image-gone', str(template),
                f'Its image {model.shown(template.image_id)} is not there, or '
                + ('not the only one of this name' if cloud.everything
                   else 'not visible to this user'),
                'Make a new template, or delete it')
        elif image.says.magnum_distro not in (None, template.cluster_distro):
            yield findings.Draft(
                'template-distro', str(template),
                f'Its cluster_distro is '
                f'{model.shown(template.cluster_distro)}, but magnum_distro '
                f'of its image is {model.shown(image.says.magnum_distro)}',
                'Set cluster_distro of the template to magnum_distro. '
                + _RENEW)


def stranded(catalog: model.Catalog, cloud: seen.Cloud,
             driver: str) -> _Drafts:
    """What loses its driver if one is disabled or uninstalled.

    Magnum 22.0.0 ships the Heat driver k8s_fedora_coreos_v1, 23.0.0 ships
    none.

    :param driver: its name; it may be gone already.
    """
    before = unmodified.without_broken(catalog)
    after = model.Catalog(
        [offer for offer in before.offers if offer.name != driver],
        before.policy)
    lost = {}
    for template in cloud.templates:
        reason = _lost(template, driver, before, after)
        if reason:
            lost[template.uuid] = reason
            yield findings.Draft(
                'template-stranded', str(template), f'{reason}. {_TEMPLATE}',
                'Make a template for another driver, and delete this one '
                'after its last cluster')
    for cluster in cloud.clusters:
        reason = lost.get(cluster.template_id)
        if reason:
            yield findings.Draft(
                'cluster-stranded', str(cluster), f'{reason}. {_CLUSTER}',
                _adoption(driver, after)
                + 'Before that, move its workload to a cluster of another '
                'driver, and delete it. Afterwards, only what it is made of '
                f'can be deleted{_made_of(cluster.stack_id)}')


def _adoption(driver: str, after: model.Catalog) -> str:
    heir = _HEIRS.get(driver)
    return (f'Hand it over to {heir}: "magnum-capi driver adopt". Or: '
            if heir in _loaded(after) else '')


def _made_of(stack_id: str | None) -> str:
    """Where to look for it: Heat's drivers store the id of the stack."""
    if not stack_id:
        return ''
    where = ('its stack in Heat' if _UUID.fullmatch(stack_id)
             else 'its objects in the management cluster')
    return f', for example {where}: {model.listed([stack_id])}'


def _lost(template: seen.Template, driver: str, before: model.Catalog,
          after: model.Catalog) -> str | None:
    """Why its clusters lose their driver; None: they do not."""
    now, then = (unmodified.get_driver(
        each, template.cluster_type, template.driver)
        for each in (before, after))
    if not then.accepted:
        # Of a driver that is not loaded, nobody knows what it provided.
        if template.driver != driver and not now.accepted and (
                template.driver or driver in _loaded(before)):
            return None
        return f'Without {driver} it has no driver: {then.text}'
    if now.driver not in (None, then.driver):
        return (f'Without {driver}, Magnum selects {then.driver} for it, '
                f'which knows nothing about clusters of {now.driver}')
    return None


def _loaded(catalog: model.Catalog) -> set[str]:
    return {offer.name for offer in unmodified.enabled(catalog)}
