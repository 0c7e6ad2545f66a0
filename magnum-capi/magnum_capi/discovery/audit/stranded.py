# SPDX-License-Identifier: Apache-2.0
"""Templates and clusters that lose their driver if one is disabled or gone.

Magnum 22.0.0 ships the Heat driver k8s_fedora_coreos_v1, 23.0.0 ships none.
How the API and conductor of 23.0.0 treat what is left was measured in
tests/system/discovery/test_stranded.py.
"""

import collections.abc

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import unmodified

_CLUSTER = (
    'It stays in lists, in its last state. A resize is answered with 202 and '
    'a delete with 204, but neither is carried out; a new node group makes it '
    'UPDATE_FAILED. Nothing polls it, so its status and health no longer '
    'change')
_TEMPLATE = ('It stays in lists, new clusters of it are refused, and it can '
             'be deleted when no cluster uses it')


def audit(catalog: model.Catalog, cloud: seen.Cloud, driver: str,
          ) -> tuple[findings.Finding, ...]:
    """What is stranded without a driver, clusters first.

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
    return (*_clusters(cloud, lost), *_templates(cloud, lost))


def _lost(template: seen.Template, driver: str, before: model.Catalog,
          after: model.Catalog) -> str | None:
    """Why its clusters lose their driver; None: they do not."""
    now, then = (unmodified.get_driver(
        each, template.cluster_type, template.driver)
        for each in (before, after))
    if not then.accepted:
        return f'Without {driver} it has no driver: {then.text}'
    if now.driver not in (None, then.driver):
        return (f'Without {driver}, Magnum selects {then.driver} for it, '
                f'which knows nothing about clusters of {now.driver}')
    return None


def _clusters(cloud: seen.Cloud, lost: collections.abc.Mapping[str, str],
              ) -> collections.abc.Iterator[findings.Finding]:
    for cluster in cloud.clusters:
        reason = lost.get(cluster.template_id)
        if reason:
            stack = model.listed([cluster.stack_id]) if (
                cluster.stack_id) else 'it has none'
            yield findings.Finding(
                findings.Severity.ERROR, 'cluster-stranded', str(cluster),
                f'{reason}. {_CLUSTER}',
                'Before that, move its workload to a cluster of another '
                'driver, and delete it. Afterwards, only what it is made of '
                f'can be deleted, for example its stack in Heat: {stack}')


def _templates(cloud: seen.Cloud, lost: collections.abc.Mapping[str, str],
               ) -> collections.abc.Iterator[findings.Finding]:
    for template in cloud.templates:
        if template.uuid in lost:
            yield findings.Finding(
                findings.Severity.ERROR, 'template-stranded', str(template),
                f'{lost[template.uuid]}. {_TEMPLATE}',
                'Make a template for another driver, and delete this one '
                'after its last cluster')
