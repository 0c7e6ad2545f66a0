# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Thin clients of Magnum's REST API, one class a resource.

They know URLs, bodies and success codes, nothing else: no configuration, no
waiting, no clean-up. What is refused arrives as tempest.lib.exceptions.
"""

from magnum_capi_tempest.services.certificates_client import CertificatesClient
from magnum_capi_tempest.services.cluster_templates_client import (
    ClusterTemplatesClient)
from magnum_capi_tempest.services.clusters_client import ClustersClient
from magnum_capi_tempest.services.mservices_client import MservicesClient
from magnum_capi_tempest.services.nodegroups_client import NodegroupsClient
from magnum_capi_tempest.services.quotas_client import QuotasClient
from magnum_capi_tempest.services.stats_client import StatsClient
from magnum_capi_tempest.services.versions_client import VersionsClient

__all__ = (
    'CertificatesClient',
    'ClusterTemplatesClient',
    'ClustersClient',
    'MservicesClient',
    'NodegroupsClient',
    'QuotasClient',
    'StatsClient',
    'VersionsClient',
)
