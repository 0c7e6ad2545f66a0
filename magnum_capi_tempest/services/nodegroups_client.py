# SPDX-License-Identifier: Apache-2.0

"""Client of ``/v1/clusters/{cluster}/nodegroups`` (microversion 1.9)."""

from magnum_capi_tempest.services import base_client


class NodegroupsClient(base_client.MagnumClient):
    """Node groups of a cluster: create, list, show, update, delete."""

    @staticmethod
    def _url(cluster, nodegroup=None):
        url = f'clusters/{base_client.quote(cluster)}/nodegroups'
        return url if nodegroup is None else (
            f'{url}/{base_client.quote(nodegroup)}')

    def create_nodegroup(self, cluster, microversion=None, **nodegroup):
        """Ask for a node group; name is needed."""
        return self.call('POST', self._url(cluster), 202, nodegroup,
                         microversion)

    def list_nodegroups(self, cluster, microversion=None, **params):
        """Return ``{'nodegroups': [...]}``, summaries without dates."""
        return self.call('GET', self._url(cluster), 200, None, microversion,
                         params)

    def show_nodegroup(self, cluster, nodegroup, microversion=None):
        """Return a node group by name or uuid."""
        return self.call('GET', self._url(cluster, nodegroup), 200, None,
                         microversion)

    def update_nodegroup(self, cluster, nodegroup, patch, microversion=None):
        """Change bounds, labels or taints by a JSON patch."""
        return self.call('PATCH', self._url(cluster, nodegroup), 202, patch,
                         microversion)

    def delete_nodegroup(self, cluster, nodegroup, microversion=None):
        """Ask for the end of a node group that is not a default one."""
        return self.call('DELETE', self._url(cluster, nodegroup), 204, None,
                         microversion)
