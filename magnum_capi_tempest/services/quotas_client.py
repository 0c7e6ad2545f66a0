# SPDX-License-Identifier: Apache-2.0

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
