# SPDX-License-Identifier: Apache-2.0

"""The microversions that tests may use: known to them, and to Magnum."""

import re

from oslo_log import log
from tempest.lib.common import api_version_utils
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest import services
from magnum_capi_tempest.services import base_client

LOG = log.getLogger(__name__)

#: Magnum's first one, which requests have whose tests need no higher one.
LOWEST = '1.1'
#: Adds the rotation of credentials.
CREDENTIALS = '1.12'
#: Adds labels and taints of the nodes of a group.
NODE_LABELS = '1.14'

#: Highest microversion by endpoint, queried once in a process.
_HIGHEST: dict[str, str | None] = {}


def highest(templates: services.ClusterTemplatesClient) -> str | None:
    """Ask a Magnum for its highest microversion; None if it names none.

    :param templates: client of cluster templates.
    :raises tempest.lib.exceptions.TempestException: the request failed.
    """
    answer = templates.list_cluster_templates(microversion=LOWEST, limit=1)
    header = answer.response.get(base_client.MAX_MICROVERSION_HEADER, '')
    found = re.search(r'\d+\.\d+', header)
    return found and found.group()


def allowed(templates: services.ClusterTemplatesClient) -> str:
    """Return the highest microversion that tests may use.

    If Magnum cannot be asked, nothing is taken as missing: its tests are
    then supposed to fail.
    """
    return of(templates) or api_version_utils.LATEST_MICROVERSION


def of(templates: services.ClusterTemplatesClient) -> str | None:
    """Return the highest microversion of a Magnum; None if unknown."""
    try:
        url = templates.base_url
        if url not in _HIGHEST:
            _HIGHEST[url] = highest(templates)
    except lib_exc.TempestException as e:
        LOG.warning('The microversions of Magnum are not known: %s', e)
        return None
    return _HIGHEST[url]
