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

"""Client of ``/v1/quotas`` (microversion 1.6)."""

from magnum_capi_tempest.services import base_client


class QuotasClient(base_client.MagnumClient):
    """How many clusters a project may have."""

    @staticmethod
    def _url(project_id, resource):
        return (f'quotas/{base_client.quote(project_id)}/'
                f'{base_client.quote(resource)}')

    def create_quota(self, microversion=None, **quota):
        """Set a quota: project_id, resource ("Cluster"), hard_limit."""
        return self.call('POST', 'quotas', 201, quota, microversion)

    def list_quotas(self, microversion=None, **params):
        """Return ``{'quotas': [...]}``."""
        return self.call('GET', 'quotas', 200, None, microversion, params)

    def show_quota(self, project_id, resource='Cluster', microversion=None):
        """Return the quota of a project, or the default."""
        return self.call('GET', self._url(project_id, resource), 200, None,
                         microversion)

    def update_quota(self, project_id, resource='Cluster', microversion=None,
                     **quota):
        """Change a quota: project_id, resource, hard_limit."""
        return self.call('PATCH', self._url(project_id, resource), 202, quota,
                         microversion)

    def delete_quota(self, project_id, resource='Cluster', microversion=None):
        """Go back to the default."""
        return self.call('DELETE', self._url(project_id, resource), 204, None,
                         microversion)
