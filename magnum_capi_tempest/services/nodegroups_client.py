# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/clusters/{cluster}/nodegroups`` (microversion 1.9)."""

import typing

from magnum_capi_tempest.services import base_client


class NodegroupsClient(base_client.MagnumClient):
    """Node groups of a cluster: create, list, show, update, delete."""

    @staticmethod
    def _url(cluster: str, nodegroup: str | None = None) -> str:
        url = f'clusters/{base_client.quote(cluster)}/nodegroups'
        return url if nodegroup is None else (
            f'{url}/{base_client.quote(nodegroup)}')

    def create_nodegroup(self, cluster: str, microversion: str | None = None,
                         **nodegroup: typing.Any) -> base_client.Body:
        """Ask for a node group; name is needed."""
        return self.call('POST', self._url(cluster), 202, nodegroup,
                         microversion)

    def list_nodegroups(self, cluster: str, microversion: str | None = None,
                        **params: typing.Any) -> base_client.Body:
        """Return ``{'nodegroups': [...]}``, summaries without dates."""
        return self.call('GET', self._url(cluster), 200, None, microversion,
                         params)

    def show_nodegroup(self, cluster: str, nodegroup: str,
                       microversion: str | None = None) -> base_client.Body:
        """Return a node group by name or uuid."""
        return self.call('GET', self._url(cluster, nodegroup), 200, None,
                         microversion)

    def update_nodegroup(self, cluster: str, nodegroup: str,
                         patch: base_client.Patch,
                         microversion: str | None = None) -> base_client.Body:
        """Change bounds, labels or taints by a JSON patch."""
        return self.call('PATCH', self._url(cluster, nodegroup), 202, patch,
                         microversion)

    def delete_nodegroup(self, cluster: str, nodegroup: str,
                         microversion: str | None = None) -> base_client.Body:
        """Ask for the end of a node group that is not a default one."""
        return self.call('DELETE', self._url(cluster, nodegroup), 204, None,
                         microversion)
