# SPDX-License-Identifier: Apache-2.0
"""Everything about drivers that an operator should know before users do.

:func:`audit` is pure: it says what the specification decides
(:mod:`..resolve`), for the drivers of a host and, if there is one, for what
was seen of a cloud, and what a Magnum without the filter does with each type
(:mod:`..unmodified`).
"""

import collections.abc

from magnum_capi.discovery.audit import drivers
from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import images
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery.audit import templates
from magnum_capi.discovery import model
from magnum_capi.discovery import paste


def audit(catalog: model.Catalog, cloud: seen.Cloud | None = None,
          position: paste.Position | None = None,
          ) -> tuple[findings.Finding, ...]:
    """All findings, the worst first.

    :param cloud: None: only drivers and options are checked.
    :param position: of the paste filter; None: unknown.
    """
    return findings.judged(_drafts(catalog, cloud, position), position)


def without(driver: str, catalog: model.Catalog, cloud: seen.Cloud,
            ) -> tuple[findings.Finding, ...]:
    """What loses its driver if this one is disabled or uninstalled."""
    return findings.judged(
        templates.stranded(catalog, cloud, driver), None)


def _drafts(catalog: model.Catalog, cloud: seen.Cloud | None,
            position: paste.Position | None,
            ) -> collections.abc.Iterator[findings.Draft]:
    if position is paste.Position.BEFORE_AUTHTOKEN:
        yield findings.Draft(
            'filter-misplaced', 'paste pipeline',
            'The filter is not behind authtoken, so it does not know the user '
            'and decides nothing',
            'Put it directly behind authtoken in the pipeline, and restart '
            "Magnum's API")
    yield from drivers.audit(catalog)
    if cloud is not None:
        yield from images.audit(catalog, cloud.images)
        yield from templates.audit(catalog, cloud)
