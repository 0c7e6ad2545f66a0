# SPDX-License-Identifier: Apache-2.0

"""Thin clients for Magnum's REST API, one class per resource.

They know URLs, bodies and success codes, and nothing about configuration,
waiting or cleanup. Refusals are raised as tempest.lib.exceptions.
"""

from magnum_capi_tempest.services.certificates_client import CertificatesClient
from magnum_capi_tempest.services.cluster_templates_client import (
    ClusterTemplatesClient)
from magnum_capi_tempest.services.clusters_client import ClustersClient
from magnum_capi_tempest.services.mservices_client import MservicesClient
from magnum_capi_tempest.services.nodegroups_client import NodegroupsClient

__all__ = (
    'CertificatesClient',
    'ClusterTemplatesClient',
    'ClustersClient',
    'MservicesClient',
    'NodegroupsClient',
)
